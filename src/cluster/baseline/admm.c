/* Computes free-support barycenters with Bregman ADMM (Ye, Wu, Wang, Li 2017). Each plan has two
 * copies: P satisfies the item's weights, and Q satisfies the center's weights. The multipliers L =
 * rho dual drive the copies towards each other. If the mean does not minimize the cost, ADMM
 * computes only the weights, and exact passes move the points. The plans are stored between runs,
 * so that a later run continues from the last state. */
#include <math.h>
#include <string.h>

#include "cluster/baseline/baseline.h"
#include "cluster/baseline/plan_kernels.h"

enum { MOVE_ROUNDS = 10 };             /* number of rounds between two moves of the points */
static const double settled_at = 1e-4; /* L1 change of a plan of mass 1 below which both copies have
                                        * converged */

typedef struct admm {
    fit *f;
    double factor; /* rho, in units of the mean cost */
    double *rho;   /* rho of each cluster */
    int64_t *at;   /* start index of each item's plans */
    double *q, *dual, *kernel;
    bool *fresh;        /* the item has no plans yet */
    bool renew, moving; /* tasks of this round: recompute the costs; compute moments and
                         * residuals */
} admm;

static void admm_close(void *state)
{
    admm *a = state;
    if (!a)
        return;
    ddsc_context *ctx = a->f->ctx;
    MEM_FREE(ctx, a->fresh, a->kernel, a->dual, a->q, a->at, a->rho, a);
}

static ddsc_status admm_open(void **state, fit *f, const method_settings *set)
{
    ddsc_status status = DDSC_OK;
    admm *a = NULL;
    const measures *m = f->m;
    TRY(MEM_ZERO(f->ctx, a, 1));
    a->f = f;
    a->factor = set->rho;
    TRY(MEM_NEW(f->ctx, a->rho, f->c.k));
    TRY(fit_plan_starts(f, &a->at));
    TRY(MEM_NEW(f->ctx, a->q, a->at[m->n]));
    TRY(MEM_NEW(f->ctx, a->dual, a->at[m->n]));
    TRY(MEM_NEW(f->ctx, a->kernel, a->at[m->n]));
    TRY(MEM_NEW(f->ctx, a->fresh, m->n));
    memset(a->fresh, 1, (size_t)m->n * sizeof *a->fresh);
    *state = a;
    a = NULL;
done:
    admm_close(a);
    return status;
}

static void admm_forget(void *state, int64_t item)
{
    ((admm *)state)->fresh[item] = true;
}

/* Initializes an item with independent plans and zero multipliers. */
static void begin_plan(admm *a, int64_t cluster, int64_t item, const double *b)
{
    const centers *c = &a->f->c;
    int64_t stride = transport_stride(measures_item(a->f->m, item).n);
    double *q = a->q + a->at[item];
    for (int64_t i = 0; i < c->n; i++)
        for (int64_t j = 0; j < stride; j++)
            q[i * stride + j] = c->w[cluster * c->n + i] * b[j];
    memset(a->dual + a->at[item], 0, (size_t)(c->n * stride) * sizeof *a->dual);
    a->fresh[item] = false;
}

static void renew_kernel(admm *a, int64_t cluster, int64_t item, int worker)
{
    int64_t size = a->at[item + 1] - a->at[item];
    fit_load_cost(a->f, cluster, item, worker);
    transport_gibbs(a->kernel + a->at[item], fit_work(a->f, worker).cost, size,
                    fit_weight(a->f, item) / a->rho[cluster]);
}

static void admm_item(admm *a, int64_t cluster, int64_t item, double *slot, int worker)
{
    fit *f = a->f;
    plan_work w = fit_work(f, worker);
    int64_t at = a->at[item], size = a->at[item + 1] - at, n = f->c.n;
    double *rows = sum_rows(f, slot), *extra = sum_extra(f, slot);
    fit_load_weights(f, item, worker);
    if (a->renew)
        renew_kernel(a, cluster, item, worker);
    if (a->fresh[item])
        begin_plan(a, cluster, item, w.b);
    admm_block block = {.n = n,
                        .stride = size / n,
                        .kernel = a->kernel + at,
                        .b = w.b,
                        .q = a->q + at,
                        .dual = a->dual + at,
                        .p = w.p,
                        .column = w.column};
    if (a->moving)
        memcpy(w.cost, block.q, (size_t)size * sizeof *block.q);
    transport_admm_round(&block, f->c.w + cluster * n, w.row);
    for (int64_t i = 0; i < n; i++)
        rows[i] += w.row[i];
    if (!a->moving)
        return;
    extra[0] += transport_change(block.p, block.q, size);
    extra[1] += transport_change(block.q, w.cost, size);
    if (fit_means(f))
        fit_add_plan(f, slot, item, block.p);
}

static ddsc_status admm_piece(void *state, const piece *p, double *slot, int worker)
{
    admm *a = state;
    for (int64_t at = p->begin; at < p->end; at++)
        admm_item(a, p->cluster, a->f->g.item[at], slot, worker);
    return DDSC_OK;
}

static void take_row_sums(fit *f)
{
    int64_t n = f->c.n;
    for (int64_t c = 0; c < f->c.k; c++)
        if (f->g.begin[c] < f->g.begin[c + 1]) {
            memcpy(f->c.w + c * n, sum_rows(f, f->sum + c * f->slot), (size_t)n * sizeof *f->c.w);
            center_normalize(f->c.w + c * n, n);
        }
}

static ddsc_status admm_run(void *state, int64_t rounds, int64_t *done, bool *settled)
{
    admm *a = state;
    fit *f = a->f;
    *settled = false;
    for (int64_t c = 0; c < f->c.k; c++)
        a->rho[c] = fmax(a->factor * fit_mean_cost(f, c), 1e-300);
    for (*done = 0; *done < rounds && !*settled;) {
        a->renew = *done % MOVE_ROUNDS == 0;
        a->moving = *done % MOVE_ROUNDS == MOVE_ROUNDS - 1 || *done + 1 == rounds;
        CHECK(fit_sweep(f, admm_piece, a));
        take_row_sums(f);
        ++*done;
        if (!a->moving)
            continue;
        double primal = 0, dual = 0;
        for (int64_t c = 0; c < f->c.k; c++) {
            if (fit_means(f))
                fit_move_to_means(f, c);
            primal += sum_extra(f, f->sum + c * f->slot)[0];
            dual += sum_extra(f, f->sum + c * f->slot)[1];
        }
        *settled = fmax(primal, dual) <= settled_at * (double)f->g.n;
    }
    return DDSC_OK;
}

const center_method method_admm = {.name = "admm",
                                   .open = admm_open,
                                   .run = admm_run,
                                   .forget = admm_forget,
                                   .close = admm_close,
                                   .judged = true};
