/* Writes the settings that must be equal for one run to reuse the pairs of another run, as lines of
 * text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "neighbors/planner/plan.h"

enum { MANIFEST_SIZE = 4096 };

static uint64_t hash_measures(const measures *m)
{
    uint64_t h = hash_bytes(m->offset, (size_t)(m->n + 1) * sizeof *m->offset, 0);
    h = hash_bytes(m->index, (size_t)m->nnz * sizeof *m->index, h);
    h = hash_bytes(m->weight, (size_t)m->nnz * sizeof *m->weight, h);
    return hash_bytes(m->support, (size_t)(m->v * m->d) * sizeof *m->support, h);
}

static uint64_t hash_matrix(const ddsc_metric_settings *set)
{
    return hash_bytes(set->cost_matrix,
                      (size_t)(set->cost_size * set->cost_size) * sizeof *set->cost_matrix, 0);
}

ddsc_status plan_manifest(ddsc_context *ctx, char **text, const measures *m,
                          const ddsc_metric_settings *set, const char *what)
{
    const char *line = ctx_resume_settings(ctx);
    int64_t size = MANIFEST_SIZE + (int64_t)strlen(line);
    CHECK(mem_get(ctx, text, size, 1));
    const measures *reference = set->reference_measures;
    snprintf(*text, (size_t)size,
             "version %s\n"
             "input %" PRId64 " items of %" PRId64 " points in %" PRId64
             " dimensions, xxh64 %016" PRIx64 "\n"
             "seed %" PRIu64 "\n"
             "metric %s\n"
             "epsilon %.17g%s, value %d, tolerance %.17g, iterations %" PRId64 "\n"
             "kernel %d, bandwidth rule %d %.17g, estimator %d, features %" PRId64 "\n"
             "reference rule %d, size %" PRId64 ", xxh64 %016" PRIx64 ", components %" PRId64 "\n"
             "pivots %" PRId64 "\n"
             "cost %s, xxh64 %016" PRIx64 "\n"
             "pairs %s\n"
             "settings %s\n",
             ddsc_version(), m->n, m->nnz, m->d, hash_measures(m), ctx_seed(ctx),
             metric_find(set->metric)->name, set->epsilon, set->epsilon_is_percent ? "%" : "",
             (int)set->sinkhorn_value, set->sinkhorn_tolerance, set->sinkhorn_max_iterations,
             (int)set->mmd_kernel, (int)set->bandwidth_rule, set->bandwidth,
             (int)set->mmd_estimator, set->mmd_features, (int)set->reference_rule,
             set->reference_size, reference ? hash_measures(reference) : 0, set->lot_components,
             set->w2_max_pivots, plan_cost_name(set->cost), hash_matrix(set), what, line);
    return DDSC_OK;
}
