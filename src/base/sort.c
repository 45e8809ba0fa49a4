/* Heap sort (Williams 1964): in place, no worst case, no memory of its own, and faster than qsort,
 * which calls a function per comparison. Hoare's selection (1961) with middle pivots. */
#include "base/base.h"

/* Let the element at `root` sink to its place in the heap; the largest comes out first. */
#define HEAP_SORT(function, type, LESS)                                                \
    static void sift_##function(type *x, const double *key, int64_t root, int64_t end) \
    {                                                                                  \
        (void)key;                                                                     \
        type moving = x[root];                                                         \
        for (int64_t child; (child = 2 * root + 1) < end; root = child) {              \
            child += child + 1 < end && LESS(x[child], x[child + 1]);                  \
            if (!LESS(moving, x[child]))                                               \
                break;                                                                 \
            x[root] = x[child];                                                        \
        }                                                                              \
        x[root] = moving;                                                              \
    }                                                                                  \
    static void heap_##function(type *x, const double *key, int64_t n)                 \
    {                                                                                  \
        for (int64_t root = n / 2 - 1; root >= 0; root--)                              \
            sift_##function(x, key, root, n);                                          \
        for (int64_t end = n - 1; end > 0; end--) {                                    \
            type largest = x[0];                                                       \
            x[0] = x[end];                                                             \
            x[end] = largest;                                                          \
            sift_##function(x, key, 0, end);                                           \
        }                                                                              \
    }

#define VALUE_LESS(a, b) ((a) < (b))
#define KEY_LESS(a, b) (key[a] < key[b] || (key[a] == key[b] && (a) < (b)))

HEAP_SORT(double, double, VALUE_LESS)
HEAP_SORT(i32, int32_t, VALUE_LESS)
HEAP_SORT(i64, int64_t, VALUE_LESS)
HEAP_SORT(u64, uint64_t, VALUE_LESS)
HEAP_SORT(order, int32_t, KEY_LESS)

void sort_doubles(double *x, int64_t n)
{
    heap_double(x, NULL, n);
}

void sort_i32(int32_t *x, int64_t n)
{
    heap_i32(x, NULL, n);
}

int64_t sort_find_i32(const int32_t *sorted, int64_t n, int32_t value)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && sorted[low] == value ? low : -1;
}

void sort_i64(int64_t *x, int64_t n)
{
    heap_i64(x, NULL, n);
}

void sort_u64(uint64_t *x, int64_t n)
{
    heap_u64(x, NULL, n);
}

void sort_order(int32_t *order, const double *key, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        order[i] = (int32_t)i;
    heap_order(order, key, n);
}

double select_smallest(double *x, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        double pivot = x[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i <= j) {
                double t = x[i];
                x[i++] = x[j];
                x[j--] = t;
            }
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return x[k];
}
