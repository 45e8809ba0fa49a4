/* Small graphs: LAPACK on the dense matrix, the exact vectors moved out of the way. */
#include "numeric/eigen/solver.h"
#include "numeric/linalg/linalg.h"

/* Filters of the check: hundreds of equal eigenvalues (items that are copies) are told from others slowly, and here
 * nothing else is left to do. */
enum { ROUNDS = 60 };

/* M with the eigenvalue 1 of the exact vectors turned into AWAY, and items left out likewise. */
static void fill_matrix(const solver *s, double *a)
{
    int64_t n = s->m->n;
    for (int64_t i = 0; i < n; i++) {
        double *row = a + i * n;
        if (s->component[i] < 0) {
            row[i] = AWAY;
            continue;
        }
        for (int64_t p = s->m->offset[i]; p < s->m->offset[i + 1]; p++)
            row[s->m->column[p]] += s->m->value[p];
    }
    la_gemm(false, true, n, n, s->exact.width, AWAY - 1, s->exact.x, s->exact.stride, s->exact.x,
            s->exact.stride, 1, a, n);
}

ddsc_status dense_solve(solver *s, bool *verified)
{
    ddsc_status status = DDSC_OK;
    panel fresh = {0};
    fresh_verdict verdict = FRESH_UNCLEAR;
    double *a = NULL;
    int64_t n = s->m->n, width = BASE_MIN(s->wanted + guard_width(s->wanted), s->room);
    TRY(MEM_ZERO(s->ctx, a, n * n));
    TRY(panel_new(s->ctx, &s->v, n, width));
    TRY(MEM_NEW(s->ctx, s->theta, width));
    fill_matrix(s, a);
    TRY(la_eigen_largest(s->ctx, n, a, width, s->theta, s->v.x));
    TRY(fresh_search(s, ROUNDS, &verdict, &fresh));
    *verified = verdict == FRESH_CLEAN;
    if (!*verified)
        status = DDSC_NOT_CONVERGED;
done:
    panel_free(s->ctx, &fresh);
    mem_free(s->ctx, a);
    return status;
}
