/* Finds connected components with union-find. The root of a set is its lowest item. */
#include "numeric/graph/graph.h"

static int32_t find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

ddsc_status components_find(ddsc_context *ctx, int32_t *component, int64_t *n_components, int64_t n,
                            const int64_t *offset, const int32_t *column)
{
    int32_t *parent = NULL;
    CHECK(MEM_NEW(ctx, parent, n));
    for (int64_t i = 0; i < n; i++)
        parent[i] = (int32_t)i;
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = offset[i]; p < offset[i + 1]; p++) {
            int32_t x = find_root(parent, (int32_t)i), y = find_root(parent, column[p]);
            if (x < y)
                parent[y] = x;
            else
                parent[x] = y;
        }
    int32_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t root = find_root(parent, (int32_t)i);
        component[i] = root == i ? count++ : component[root];
    }
    *n_components = count;
    DDSC_ASSERT(invariant_range(component, n, 0, count));
    mem_free(ctx, parent);
    return DDSC_OK;
}
