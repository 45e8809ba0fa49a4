/* Computes the eigenpairs of small graphs with LAPACK on the dense matrix.
 *
 * The solver needs the largest eigenpairs of M outside the space spanned by the exact vectors E of
 * the components. The exact vectors have eigenvalue 1, so the matrix M + (EXCLUDED_VALUE - 1) E E^T has the
 * same eigenpairs as M, except that the eigenvalue of these vectors is EXCLUDED_VALUE = -3. Excluded items
 * get EXCLUDED_VALUE on the diagonal and no other entry. All other eigenvalues are in [-1, 1], so the wanted
 * eigenvalues are the largest.
 *
 * The result is verified like that of the block iteration. The solve takes O(n^3) time and n^2
 * doubles of memory. */
#include "numeric/eigen/solver.h"
#include "numeric/linalg/linalg.h"

/* Maximum number of filters in the verification. The limit is high because hundreds of equal
 * eigenvalues, which identical items cause, separate slowly from the others, and no later step can
 * verify the result. */
enum { ROUNDS = 60 };

/* Stores M in `a`, with the eigenvalues of the exact vectors and of excluded items replaced by
 * EXCLUDED_VALUE. */
static void fill_matrix(const solver *s, double *a)
{
    int64_t n = s->m->n;
    for (int64_t i = 0; i < n; i++) {
        double *row = a + i * n;
        if (s->component[i] < 0) {
            row[i] = EXCLUDED_VALUE;
            continue;
        }
        for (int64_t p = s->m->offset[i]; p < s->m->offset[i + 1]; p++)
            row[s->m->column[p]] += s->m->value[p];
    }
    la_gemm(false, true, n, n, s->exact.width, EXCLUDED_VALUE - 1, s->exact.x, s->exact.stride,
            s->exact.x, s->exact.stride, 1, a, n);
}

ddsc_status dense_solve(solver *s, bool *verified)
{
    ddsc_status status = DDSC_OK;
    panel fresh = {0};
    fresh_verdict verdict = FRESH_UNCLEAR;
    double *a = NULL;
    int64_t n = s->m->n, width = BASE_MIN(s->wanted + guard_width(s->wanted), s->dimension);
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
