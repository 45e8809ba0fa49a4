/* On a line the sorted plan is optimal: no pivots, only the certificate. */
#include "exact/solver.h"

/* Heap sort of positions by (coordinate, position): in place, no worst case. */
static void sift(int32_t *order, const double *x, int64_t root, int64_t end)
{
    for (int64_t child; (child = 2 * root + 1) < end; root = child) {
        if (child + 1 < end && x[order[child]] < x[order[child + 1]])
            child++;
        if (x[order[root]] >= x[order[child]])
            return;
        int32_t swap = order[root];
        order[root] = order[child];
        order[child] = swap;
    }
}

static void sort_line(int32_t *order, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        order[i] = (int32_t)i;
    for (int64_t root = n / 2 - 1; root >= 0; root--)
        sift(order, x, root, n);
    for (int64_t end = n - 1; end > 0; end--) {
        int32_t swap = order[0];
        order[0] = order[end];
        order[end] = swap;
        sift(order, x, 0, end);
    }
}

void start_on_line(simplex *net)
{
    sort_line(net->path[0], net->cost.x, net->n);
    sort_line(net->path[1], net->cost.y, net->m);
    start_line(net, net->path[0], net->path[1]);
}
