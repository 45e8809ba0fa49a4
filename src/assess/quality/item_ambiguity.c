/* Compares the rows of the embedding with the centers of the clusters. Items near the center of
 * their cluster are typical, and items between two centers are ambiguous. */
#include <math.h>

#include "base/sized.h"
#include "cluster/spectral/cluster.h"
#include "numeric/linalg/linalg.h"

enum { COLUMNS_GRAIN = 8 };    /* columns in one cache line */
enum { PIECE_WORK = 1 << 18 }; /* minimum number of operations per thread */

typedef struct standing {
    int64_t n, dim, k;
    const double *rows;
    const int32_t *labels;
    int64_t *size;  /* k */
    double *center; /* k x dim */
    double *distance, *ambiguity;
    int32_t *next; /* n; distance, ambiguity and next may be NULL */
} standing;

/* Computes some columns of the cluster means. Each sum adds the rows in order, so the result does
 * not depend on the number of threads. */
static ddsc_status sum_columns(void *arg, int64_t begin, int64_t end, int worker)
{
    const standing *s = arg;
    (void)worker;
    for (int64_t i = 0; i < s->n; i++) {
        const double *row = s->rows + i * s->dim;
        double *center = s->center + s->labels[i] * s->dim, size = (double)s->size[s->labels[i]];
        for (int64_t a = begin; a < end; a++)
            center[a] += row[a] / size;
    }
    return DDSC_OK;
}

static double distance_to(const double *x, const double *y, int64_t dim)
{
    double sum = 0;
    for (int64_t a = 0; a < dim; a++)
        sum += (x[a] - y[a]) * (x[a] - y[a]);
    return sqrt(sum);
}

static ddsc_status stand_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const standing *s = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const double *row = s->rows + i * s->dim;
        int32_t own = s->labels[i], next = -1;
        double distance = distance_to(row, s->center + own * s->dim, s->dim), nearest = INFINITY;
        for (int32_t c = 0; c < s->k; c++) {
            if (c == own || s->size[c] == 0)
                continue;
            double d = distance_to(row, s->center + c * s->dim, s->dim);
            next = d < nearest ? c : next;
            nearest = fmin(nearest, d);
        }
        double sum = distance + nearest;
        if (s->distance)
            s->distance[i] = distance;
        if (s->ambiguity)
            s->ambiguity[i] = sum > 0 ? distance / sum : 0; /* also 0 if `nearest` is infinite */
        if (s->next)
            s->next[i] = next;
    }
    return DDSC_OK;
}

static ddsc_status count_sizes(ddsc_context *ctx, standing *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        if (s->labels[i] < 0 || s->labels[i] >= s->k)
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                            "standing: label %lld is %lld, but must be from 0 to %lld",
                            (long long)i, (long long)s->labels[i], (long long)s->k - 1);
        s->size[s->labels[i]]++;
    }
    return DDSC_OK;
}

SIZED_INIT(standing_struct, ddsc_standing, next, NULL);

ddsc_status ddsc_standing_run(ddsc_context *context, ddsc_standing *given, int64_t n, int64_t dim,
                              const double *rows, const int32_t *labels, int64_t k)
{
    ddsc_status status = DDSC_OK;
    standing s = {.n = n, .dim = dim, .k = k, .rows = rows, .labels = labels};
    ddsc_standing wanted;
    int64_t size;
    CHECK(ctx_enter(context));
    if (!given || !rows || !labels)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT,
                        "standing: standing, rows and labels must not be NULL");
    TRY(sized_take(context, &standing_struct, &wanted, given));
    s.distance = wanted.distance;
    s.ambiguity = wanted.ambiguity;
    s.next = wanted.next;
    TRY(la_check_rows(context, "standing", 1, n, dim, rows));
    if (k < 1 || k > INT32_MAX || !mul_ok(k, dim, &size))
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "standing: k = %lld is out of range",
                        (long long)k);
    TRY(MEM_ZERO(context, s.size, k));
    TRY(MEM_ZERO(context, s.center, size));
    TRY(count_sizes(context, &s));
    TRY(parallel_for(context, dim, COLUMNS_GRAIN, sum_columns, &s));
    TRY(parallel_for(context, n, 1 + PIECE_WORK / size, stand_rows, &s));
done:
    MEM_FREE(context, s.center, s.size);
    return status;
}
