/* Merges the points of one item to m points by Ward's method, which repeatedly replaces the pair
 * with the smallest cost a_i a_j / (a_i + a_j) |x_i - x_j|^2 with its weighted mean. */
#include "data/compress.h"

#include <math.h>
#include <string.h>

#include "numeric/linalg/linalg.h"

static double merge_cost(const double *x, const double *a, int64_t d, int64_t i, int64_t j)
{
    return a[i] * a[j] / (a[i] + a[j]) * la_distance2(d, x + i * d, x + j * d);
}

/* Finds the cheapest partner of i among the remaining points with a higher index. Among equal
 * costs, the lowest index wins. */
static ddsc_status find_partner(merge_work *w, const double *x, const double *a, int64_t n,
                                int64_t d, int64_t i)
{
    if (ctx_canceled(w->ctx))
        return DDSC_ERROR_CANCELED;
    w->cost[i] = INFINITY;
    w->partner[i] = -1;
    for (int64_t j = i + 1; j < n; j++) {
        if (a[j] <= 0)
            continue;
        double c = merge_cost(x, a, d, i, j);
        if (c < w->cost[i] || w->partner[i] < 0) {
            w->cost[i] = c;
            w->partner[i] = j;
        }
    }
    return DDSC_OK;
}

/* Updates the partners of all remaining points after point i has moved and point j has been
 * removed. */
static ddsc_status mend_partners(merge_work *w, const double *x, const double *a, int64_t n,
                                 int64_t d, int64_t i, int64_t j)
{
    for (int64_t k = 0; k < n; k++) {
        if (a[k] <= 0)
            continue;
        if (k == i || w->partner[k] == i || w->partner[k] == j) {
            CHECK(find_partner(w, x, a, n, d, k));
        } else if (k < i) {
            double c = merge_cost(x, a, d, k, i);
            if (c < w->cost[k] || (c == w->cost[k] && i < w->partner[k])) {
                w->cost[k] = c;
                w->partner[k] = i;
            }
        }
    }
    return DDSC_OK;
}

ddsc_status compress_item(merge_work *w, double *x, double *a, int64_t n, int64_t d, int64_t m,
                          int64_t *left)
{
    int64_t alive = n;
    for (int64_t k = 0; w->into && k < n; k++)
        w->into[k] = k;
    for (int64_t i = 0; i < n && n > m; i++)
        CHECK(find_partner(w, x, a, n, d, i));
    for (; alive > m; alive--) {
        int64_t i = -1;
        for (int64_t k = 0; k < n; k++)
            if (a[k] > 0 && w->partner[k] >= 0 && (i < 0 || w->cost[k] < w->cost[i]))
                i = k;
        int64_t j = w->partner[i];
        double sum = a[i] + a[j];
        for (int64_t c = 0; c < d; c++)
            x[i * d + c] = (a[i] * x[i * d + c] + a[j] * x[j * d + c]) / sum;
        a[i] = sum;
        a[j] = 0;
        if (w->into)
            w->into[j] = i;
        CHECK(mend_partners(w, x, a, n, d, i, j));
    }
    int64_t kept = 0;
    for (int64_t k = 0; w->into && k < n; k++) /* a point is always merged into an earlier one */
        w->into[k] = w->into[k] == k ? kept++ : w->into[w->into[k]];
    kept = 0;
    for (int64_t k = 0; k < n; k++)
        if (a[k] > 0) {
            memmove(x + kept * d, x + k * d, (size_t)d * sizeof *x);
            a[kept++] = a[k];
        }
    *left = kept;
    return DDSC_OK;
}
