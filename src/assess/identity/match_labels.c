/* Renumbers the clusters of one labeling to match another. */
#include "assess/identity/identity.h"
#include "distance/exact/exact.h"

/* The assignment is solved as a transport problem with unit weights. A basic optimal plan moves
 * only whole units, so it is a matching. */
ddsc_status identity_match(ddsc_context *ctx, int32_t *into, const double *cost, int64_t k)
{
    ddsc_status status = DDSC_OK;
    exact_solver *solver = NULL;
    exact_result result;
    double *ones = NULL;
    const int32_t *row, *column;
    const double *mass;
    TRY(MEM_NEW(ctx, ones, k));
    for (int64_t c = 0; c < k; c++)
        ones[c] = 1;
    TRY(exact_create(ctx, &solver));
    TRY(exact_solve(solver, &result, &(exact_problem){k, k, ones, ones, cost}, 0));
    exact_plan(solver, &row, &column, &mass);
    for (int64_t p = 0; p < result.n_plan; p++)
        if (mass[p] > 0.5)
            into[row[p]] = column[p];
    DDSC_ASSERT(invariant_permutation(into, k));
done:
    exact_destroy(solver);
    mem_free(ctx, ones);
    return status;
}

ddsc_status identity_match_labels(ddsc_context *ctx, int32_t *labels, int64_t *n_changed,
                                  const int32_t *first, int64_t n, int64_t k)
{
    ddsc_status status = DDSC_OK;
    double *cost = NULL;
    int32_t *into = NULL;
    TRY(MEM_ZERO(ctx, cost, k * k));
    TRY(MEM_NEW(ctx, into, k));
    for (int64_t c = 0; c < k; c++)
        into[c] = (int32_t)c;
    for (int64_t i = 0; i < n; i++)
        cost[labels[i] * k + first[i]]--;
    TRY(identity_match(ctx, into, cost, k));
    *n_changed = 0;
    for (int64_t i = 0; i < n; i++) {
        labels[i] = into[labels[i]];
        *n_changed += labels[i] != first[i];
    }
done:
    MEM_FREE(ctx, into, cost);
    return status;
}
