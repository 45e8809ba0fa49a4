/* Compresses every item in a set to a limited number of points, and measures the exact W2 error for
 * each item.
 *
 * Points of an item are merged by compress_item until at most `limit` remain. Exact transport then
 * compares each merged item with the original, so the report contains exact errors and not bounds.
 * Both passes run in parallel over the items. If the points have names, a merged point gets the
 * names of its heaviest points. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "base/workspace.h"
#include "data/compress.h"
#include "distance/exact/exact.h"

typedef struct job {
    ddsc_context *ctx;
    const measures *m;
    /* Numbers of points per item: the limit after merging, the largest number that is not merged,
     * and the maximum in the set. */
    int64_t limit, keep, largest;
    int64_t *n_left;       /* remaining points of each item */
    double *points, *mass; /* item i starts at m->offset[i] */
    /* For each entry, the merged point that contains it; NULL if points have no names. */
    int64_t *into;
    scratch work; /* per worker: costs, followed by merge partners */
} job;

static ddsc_status merge_range(void *arg, int64_t begin, int64_t end, int worker)
{
    job *j = arg;
    for (int64_t i = begin; i < end; i++) {
        item_view item = measures_item(j->m, i);
        double *x = j->points + j->m->offset[i] * j->m->d, *a = j->mass + j->m->offset[i];
        for (int64_t p = 0; p < item.n; p++)
            memcpy(x + p * j->m->d, measures_point(j->m, item.index[p]),
                   (size_t)j->m->d * sizeof *x);
        memcpy(a, item.weight, (size_t)item.n * sizeof *a);
        merge_work work = {.ctx = j->ctx, .cost = scratch_of(&j->work, worker)};
        work.partner = (int64_t *)(work.cost + j->largest);
        work.into = j->into ? j->into + j->m->offset[i] : NULL;
        CHECK(compress_item(&work, x, a, item.n, j->m->d, item.n > j->keep ? j->limit : item.n,
                            &j->n_left[i]));
        progress_add(j->ctx, 1);
    }
    return DDSC_OK;
}

/* Removes the gaps between the points and masses of consecutive items. */
static ddsc_status pack(ddsc_context *ctx, measures_parts *p, job *j)
{
    const measures *m = j->m;
    p->n = m->n;
    p->d = m->d;
    CHECK(MEM_NEW(ctx, p->offset, m->n + 1));
    p->offset[0] = 0;
    for (int64_t i = 0; i < m->n; i++) {
        int64_t to = p->offset[i], from = m->offset[i], n = j->n_left[i];
        memmove(j->points + to * m->d, j->points + from * m->d,
                (size_t)(n * m->d) * sizeof *j->points);
        memmove(j->mass + to, j->mass + from, (size_t)n * sizeof *j->mass);
        p->offset[i + 1] = to + n;
    }
    p->v = p->nnz = p->offset[m->n];
    p->support = j->points;
    p->weight = j->mass;
    j->points = j->mass = NULL;
    return DDSC_OK;
}

/* ---- names ---- */

enum { NAMES_JOINED = 6 };

/* Finds the heaviest entries of item i that were merged into point `left`. Returns their number. */
static int find_heaviest(const job *j, int64_t i, int64_t left, int64_t best[NAMES_JOINED])
{
    item_view item = measures_item(j->m, i);
    const int64_t *into = j->into + j->m->offset[i];
    int n = 0;
    for (int64_t p = 0; p < item.n; p++) {
        if (into[p] != left)
            continue;
        int at = n < NAMES_JOINED ? n++ : NAMES_JOINED;
        for (; at > 0 && item.weight[p] > item.weight[best[at - 1]]; at--)
            if (at < NAMES_JOINED)
                best[at] = best[at - 1];
        if (at < NAMES_JOINED)
            best[at] = p;
    }
    return n;
}

/* Names each merged point after its heaviest points, for example "oil + prices". */
static ddsc_status name_merged(ddsc_context *ctx, measures_parts *p, const job *j)
{
    ddsc_status status = DDSC_OK;
    measures_texts t = {.n = p->v};
    int64_t best[NAMES_JOINED], length = 0, space = 0;
    TRY(MEM_NEW(ctx, t.at, t.n + 1));
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t left = 0; left < j->n_left[i]; left++) {
            int n = find_heaviest(j, i, left, best);
            t.at[p->offset[i] + left] = length;
            for (int k = 0; k < n; k++) {
                const char *name = texts_get(&j->m->points, measures_item(j->m, i).index[best[k]]);
                int64_t more = (int64_t)strlen(name) + 4;
                TRY(MEM_RESERVE(ctx, t.text, &space, length + more));
                length += sprintf(t.text + length, "%s%s", k ? " + " : "", name);
            }
            length++;
        }
    t.at[t.n] = length;
    p->points = t;
    t = (measures_texts){0};
done:
    texts_free(ctx, &t);
    return status;
}

typedef struct error_job {
    const measures *before, *after;
    exact_solver **solver;
    double *w2; /* n */
    ddsc_context *ctx;
} error_job;

static ddsc_status error_range(void *arg, int64_t begin, int64_t end, int worker)
{
    error_job *j = arg;
    ddsc_status status = DDSC_OK;
    for (int64_t i = begin; i < end; i++) {
        exact_result r;
        TRY(exact_solve_items(j->solver[worker], &r, j->before, i, j->after, i, 0));
        j->w2[i] = sqrt(fmax(r.primal, 0));
        progress_add(j->ctx, 1);
    }
done:
    return status;
}

static ddsc_status measure_error(ddsc_context *ctx, ddsc_compress_report *report,
                                 const measures *before, const measures *after)
{
    ddsc_status status = DDSC_OK;
    error_job j = {.before = before, .after = after, .ctx = ctx};
    TRY(MEM_NEW(ctx, j.w2, before->n));
    TRY(exact_create_team(ctx, &j.solver, &ground_sqeuclidean));
    progress_begin(ctx, "merging error", before->n);
    TRY(parallel_for(ctx, before->n, 8, error_range, &j));
    progress_end(ctx);
    *report = (ddsc_compress_report){.n_before = before->nnz, .n_after = after->nnz};
    for (int64_t i = 0; i < before->n; i++) {
        report->mean_w2 += j.w2[i] / (double)before->n;
        report->max_w2 = fmax(report->max_w2, j.w2[i]);
    }
done:
    exact_destroy_team(ctx, j.solver);
    mem_free(ctx, j.w2);
    return status;
}

ddsc_status exact_compress_items(ddsc_context *ctx, ddsc_measures **merged,
                                 ddsc_compress_report *report, const measures *m, int64_t limit,
                                 int64_t keep)
{
    ddsc_status status = DDSC_OK;
    job j = {.ctx = ctx, .m = m, .limit = limit, .keep = keep, .largest = measures_largest_item(m)};
    measures_parts p = {0};
    measures *made = NULL;
    TRY(MEM_NEW(ctx, j.n_left, m->n));
    TRY(MEM_NEW(ctx, j.points, m->nnz * m->d));
    TRY(MEM_NEW(ctx, j.mass, m->nnz));
    if (m->points.n > 0)
        TRY(MEM_NEW(ctx, j.into, m->nnz));
    TRY(scratch_create(ctx, &j.work, j.largest, sizeof(double) + sizeof(int64_t)));
    progress_begin(ctx, "merging points", m->n);
    TRY(parallel_for(ctx, m->n, 8, merge_range, &j));
    progress_end(ctx);
    TRY(pack(ctx, &p, &j));
    if (j.into)
        TRY(name_merged(ctx, &p, &j));
    TRY(measures_build(ctx, &made, &p, DDSC_EMPTY_ERROR, "compress"));
    TRY(measure_error(ctx, report, m, made));
    TRY(measures_copy_names(ctx, made, m));
    *merged = made;
    made = NULL;
done:
    ddsc_measures_destroy(made);
    measures_parts_free(ctx, &p);
    scratch_free(ctx, &j.work);
    MEM_FREE(ctx, j.n_left, j.points, j.mass, j.into);
    return status;
}

SIZED_INIT(report_struct, ddsc_compress_report, max_w2, NULL);

ddsc_status exact_take_compress_report(ddsc_context *ctx, ddsc_compress_report *own,
                                       const ddsc_compress_report *given)
{
    return sized_take(ctx, &report_struct, own, given);
}

void exact_give_compress_report(ddsc_compress_report *given, const ddsc_compress_report *own)
{
    sized_give(&report_struct, given, own);
}

ddsc_status ddsc_measures_compress(ddsc_context *ctx, ddsc_measures **merged,
                                   ddsc_compress_report *report, const ddsc_measures *m,
                                   int64_t limit)
{
    ddsc_compress_report measured;
    CHECK(ctx_enter_new(ctx, merged));
    if (!m || limit < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "cannot compress to %lld points; the limit must be at least 1",
                        (long long)limit);
    CHECK(exact_take_compress_report(ctx, &measured, report));
    CHECK(exact_compress_items(ctx, merged, &measured, m, limit, limit));
    measured.n_points = limit;
    exact_give_compress_report(report, &measured);
    return DDSC_OK;
}
