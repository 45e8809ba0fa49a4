/* Computes coordinates of all items from their distances to m landmarks, using the Nystrom method
 * for the Gram matrix (Williams and Seeger 2001; for distances: Platt 2005, based on de Silva and
 * Tenenbaum 2004).
 *
 * The m x m matrix of squared distances between the landmarks is double-centered to obtain the Gram
 * matrix G = U Lambda U^T, and the leading eigenvectors are kept. Let d_i be the vector of squared
 * distances from item i to the landmarks, and let mean be the average of this vector over all
 * landmarks. Then
 *
 *     x_i = -1/2 Lambda^-1/2 U^T (d_i - mean)
 *
 * is the projection of the item onto the span of the landmarks. The squared length of the component
 * outside the span is one number per item, rest_i. The squared distance is approximated by |x_i -
 * x_j|^2 + rest_i + rest_j, which is exact if the components of i and j outside the span are
 * orthogonal to each other. The cost is O(m^3) for the eigenvectors and O(n m dim) for the
 * projection. */
#include <math.h>
#include <string.h>

#include "neighbors/search/search.h"
#include "numeric/linalg/linalg.h"

enum { FIT_GRAIN = 256 };

/* Smallest eigenvalue that is used, relative to the largest. Smaller eigenvalues are noise, which
 * dividing by their square root would amplify. Their contribution to the distances is included in
 * rest_i. */
static const double DIRECTION_LEAST = 0.01;

typedef struct fit_job {
    landmark_map *l;
    int64_t m;
    const double *d2;
    double mean;       /* mean distance between landmarks */
    double *direction; /* m x dim: U / sqrt(eigenvalue) / -2 */
    double *origin;    /* dim: projection of the mean column of the landmarks */
} fit_job;

void search_landmarks_free(ddsc_context *ctx, landmark_map *l)
{
    MEM_FREE(ctx, l->rest, l->x);
    *l = (landmark_map){0};
}

/* Computes the leading directions. Sets *dim, which is at least 1. If all distances are zero, the
 * only direction is the zero vector. */
static ddsc_status find_directions(ddsc_context *ctx, double **direction, int64_t *dim,
                                   double *gram, int64_t m)
{
    ddsc_status status = DDSC_OK;
    double *value = NULL, *vector = NULL;
    int64_t kept = 0;
    TRY(MEM_NEW(ctx, value, m));
    TRY(MEM_NEW(ctx, vector, m * m));
    TRY(la_eigen_symmetric(ctx, m, gram, value, vector));
    double largest = value[m - 1];
    while (kept < m && value[m - 1 - kept] > DIRECTION_LEAST * largest)
        kept++;
    *dim = BASE_MAX(kept, 1);
    TRY(MEM_ZERO(ctx, *direction, m * *dim));
    for (int64_t k = 0; k < kept; k++)
        for (int64_t a = 0; a < m; a++)
            (*direction)[a * *dim + k] =
                -0.5 * vector[(m - 1 - k) * m + a] / sqrt(value[m - 1 - k]);
done:
    MEM_FREE(ctx, vector, value);
    return status;
}

/* Computes x_i = -1/2 Lambda^-1/2 U^T (d_i - mean) and rest_i. The squared distance from item i to
 * the mean of the landmarks is mean_l d_il - mean/2. rest_i is the part of this squared distance
 * that x_i does not explain. It can be negative, because unbiased estimates subtract a term per
 * item, and because most metrics are not exactly Euclidean. */
static ddsc_status fit_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    fit_job *job = arg;
    landmark_map *l = job->l;
    int64_t m = job->m, dim = l->dim;
    double *x = l->x + begin * dim;
    (void)worker;
    la_gemm(false, false, end - begin, dim, m, 1, job->d2 + begin * m, m, job->direction, dim, 0, x,
            dim);
    for (int64_t i = begin; i < end; i++) {
        double mean = 0;
        for (int64_t a = 0; a < m; a++)
            mean += job->d2[i * m + a] / (double)m;
        for (int64_t k = 0; k < dim; k++)
            l->x[i * dim + k] -= job->origin[k];
        l->rest[i] = mean - job->mean / 2 - la_dot(dim, l->x + i * dim, l->x + i * dim);
    }
    return DDSC_OK;
}

ddsc_status search_landmarks_fit(ddsc_context *ctx, landmark_map *l, int64_t n, int64_t m,
                                 const double *d2, const double *between)
{
    ddsc_status status = DDSC_OK;
    double *gram = NULL, *mean = NULL;
    fit_job job = {.l = l, .m = m, .d2 = d2};
    *l = (landmark_map){.n = n};
    TRY(MEM_NEW(ctx, gram, m * m));
    TRY(MEM_NEW(ctx, mean, m));
    job.mean = la_center_distances(m, between, mean, gram);
    TRY(find_directions(ctx, &job.direction, &l->dim, gram, m));
    TRY(MEM_NEW(ctx, job.origin, l->dim));
    la_gemm(false, false, 1, l->dim, m, 1, mean, m, job.direction, l->dim, 0, job.origin, l->dim);
    TRY(MEM_NEW(ctx, l->x, n * l->dim));
    TRY(MEM_NEW(ctx, l->rest, n));
    TRY(parallel_for(ctx, n, FIT_GRAIN, fit_rows, &job));
done:
    MEM_FREE(ctx, job.origin, job.direction, mean, gram);
    if (status < 0)
        search_landmarks_free(ctx, l);
    return status;
}
