/* Heap sort (Williams 1964) works in place and always in O(n log n). This heap sort is faster than
 * qsort, which calls a function for every comparison. Selection is Hoare's algorithm (1961), with
 * the middle element as pivot. */
#include "base/base.h"

/* First, every element from the middle down sinks to its position in the heap. Then the largest
 * element is repeatedly swapped with the last one, which then sinks. */
#define HEAP_SORT(name, type, LESS)                                       \
    static void heap_##name(type *x, const double *key, int64_t n)        \
    {                                                                     \
        (void)key;                                                        \
        for (int64_t start = n / 2, end = n; end > 1;) {                  \
            type moving = x[start > 0 ? start - 1 : end - 1];             \
            if (start > 0)                                                \
                start--;                                                  \
            else                                                          \
                x[--end] = x[0];                                          \
            int64_t at = start;                                           \
            for (int64_t child; (child = 2 * at + 1) < end; at = child) { \
                child += child + 1 < end && LESS(x[child], x[child + 1]); \
                if (!LESS(moving, x[child]))                              \
                    break;                                                \
                x[at] = x[child];                                         \
            }                                                             \
            x[at] = moving;                                               \
        }                                                                 \
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
    DDSC_ASSERT(invariant_permutation(order, n));
}

double select_smallest(double *x, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;
    DDSC_ASSERT(k >= 0 && k < n);
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
    DDSC_ASSERT(k == 0 || x[k - 1] <= x[k]);
    DDSC_ASSERT(k == n - 1 || x[k] <= x[k + 1]);
    return x[k];
}
