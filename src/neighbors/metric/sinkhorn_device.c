/* Computes entropic transport with squared distances on a device, for whole matrices. All values in
 * a range of columns are computed before its tiles are requested.
 *
 * The iterations and the stopping test are the same as on the CPU, but the last digits differ.
 * Graphs must be byte-identical on every machine, so they never use this code. The device setting
 * "auto" does not use it either. The CPU solves the pairs that the device could not solve. */
#include <math.h>
#include <string.h>

#include "base/device.h"
#include "base/team.h"
#include "neighbors/metric/sinkhorn.h"
#include "neighbors/metric/tuning.h"

struct metric_device {
    ddsc_context *ctx;
    device dev;
    device_rule rule;
    int64_t n, strip;
    bool grid;       /* the items are on a grid */
    double *moments; /* n x 2 means, n x 3 covariances */
    int64_t j0, j1;  /* range of the computed columns */
    pair_ij *pair;
    device_scaled *found; /* ordered by column, then row; only pairs i < j */
};

void metric_device_close(metric_device *r)
{
    if (!r)
        return;
    device_close(&r->dev);
    MEM_FREE(r->ctx, r->moments, r->pair, r->found, r);
}

/* Returns the number of pairs in the columns before j. */
static int64_t pairs_below(int64_t j)
{
    return j * (j - 1) / 2;
}

static bool hand_over_points(const metric_device *r, const measures *m, char *why)
{
    device_points points = {.n = m->n,
                            .d = m->d,
                            .n_support = m->v,
                            .support = m->support,
                            .offset = m->offset,
                            .index = m->index,
                            .weight = m->weight};
    return r->dev.table.load_points(r->dev.state, &points, why) == 0;
}

static bool hand_over_grid(metric_device *r, const sinkhorn_metric *s, char *why)
{
    const grid_items *items = sinkhorn_set_grid(s->set);
    double *mean = r->moments, *cov = r->moments + 2 * r->n;
    for (int64_t i = 0; i < r->n; i++) {
        memcpy(mean + 2 * i, items->item[i].mean, 2 * sizeof *mean);
        memcpy(cov + 3 * i, items->item[i].cov, 3 * sizeof *cov);
    }
    device_grid grid = {.n = r->n,
                        .side = SINKHORN_GRID_SIDE,
                        .offset = s->m->offset,
                        .weight = s->m->weight,
                        .cell = items->cell,
                        .mean = mean,
                        .cov = cov,
                        .step = {items->step[0], items->step[1]},
                        .unit = 1};
    return r->dev.table.load_grid(r->dev.state, &grid, why) == 0;
}

ddsc_status metric_device_open(metric_device **out, const sinkhorn_metric *s, int64_t side)
{
    ddsc_status status = DDSC_OK;
    metric_device *r = NULL;
    char why[DEVICE_WORDS] = "";
    *out = NULL;
    if (s->ground.kind != DDSC_COST_SQEUCLIDEAN || s->m->n < 2 || team_size(s->ctx) > 1)
        return DDSC_OK;
    TRY(MEM_ZERO(s->ctx, r, 1));
    *r = (metric_device){.ctx = s->ctx, .n = s->m->n, .grid = sinkhorn_set_grid(s->set) != NULL};
    r->rule =
        (device_rule){s->rule.epsilon, s->rule.tolerance, s->rule.max_iterations, s->rule.sharp};
    if (!device_open(s->ctx, &r->dev, 0) ||
        !(r->grid ? r->dev.table.load_grid && r->dev.table.scale
                  : r->dev.table.load_points && r->dev.table.scale_points))
        goto done;
    r->strip = BASE_MAX(1, SINKHORN_DEVICE_PAIRS / r->n / side) * side;
    int64_t most = BASE_MIN(r->strip, r->n) * r->n;
    TRY(MEM_NEW(s->ctx, r->moments, 5 * r->n));
    TRY(MEM_NEW(s->ctx, r->pair, most));
    TRY(MEM_NEW(s->ctx, r->found, most));
    if (!(r->grid ? hand_over_grid(r, s, why) : hand_over_points(r, s->m, why))) {
        device_fail(s->ctx, &r->dev, why);
        goto done;
    }
    ctx_device_used(s->ctx, r->dev.name);
    ctx_note(s->ctx, "device", ddsc_context_get_device(s->ctx), "%s: scalings in double precision",
             r->dev.about.name);
    *out = r;
    r = NULL;
done:
    metric_device_close(r);
    return status;
}

int64_t metric_device_strip(const metric_device *r)
{
    return r ? r->strip : 0;
}

/* Returns false if a value is not finite or violates the stopping test. Such values are treated as
 * a device failure. */
static bool values_plausible(const metric_device *r, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        if (r->found[k].iterations != 0 &&
            !(isfinite(r->found[k].regularized) && r->found[k].iterations > 0 &&
              (!r->rule.sharp || isfinite(r->found[k].sharp)) &&
              r->found[k].marginal_error <= r->rule.tolerance))
            return false;
    return true;
}

void metric_device_prepare(metric_device *r, int64_t j0, int64_t j1)
{
    char why[DEVICE_WORDS] = "the device returned invalid values";
    int64_t n = 0;
    const device_table *table = &r->dev.table;
    r->j0 = r->j1 = j1;
    if (!r->dev.state)
        return;
    for (int64_t j = j0; j < j1; j++)
        for (int64_t i = 0; i < j; i++)
            r->pair[n++] = (pair_ij){(int32_t)i, (int32_t)j};
    if (n > 0 && ((r->grid ? table->scale : table->scale_points)(r->dev.state, &r->rule, n,
                                                                 &r->pair->i, r->found, why) != 0 ||
                  !values_plausible(r, n))) {
        device_fail(r->ctx, &r->dev, why);
        device_close(&r->dev);
        return;
    }
    r->j0 = j0;
}

bool metric_device_find(const metric_device *r, sinkhorn_result *found, int64_t i, int64_t j)
{
    if (!r || j < r->j0 || j >= r->j1 || i >= j)
        return false;
    const device_scaled *at = &r->found[pairs_below(j) - pairs_below(r->j0) + i];
    *found = (sinkhorn_result){.regularized = at->regularized,
                               .sharp = r->rule.sharp ? at->sharp : NAN,
                               .marginal_error = at->marginal_error,
                               .iterations = at->iterations};
    return at->iterations > 0;
}
