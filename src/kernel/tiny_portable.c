/* Small problems in plain C. */
#include "kernel/kernels.h"

#define TARGET

static int32_t tile_best(const int32_t *cost, const int32_t *sink, const int32_t *source,
                         int64_t rows, int64_t *row, int64_t *column)
{
    int32_t best[LANES];
    int64_t where[LANES];
    for (int j = 0; j < LANES; j++)
        best[j] = INT32_MAX;
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < LANES; j++) {
            int32_t value = cost[i * LANES + j] + sink[j] - source[i];
            where[j] = value < best[j] ? i : where[j];
            best[j] = value < best[j] ? value : best[j];
        }
    *column = 0;
    for (int j = 1; j < LANES; j++)
        *column = best[j] < best[*column] ? j : *column;
    *row = where[*column];
    return best[*column];
}

static int64_t open_best(const int32_t *cost, const int32_t *sink, uint32_t open)
{
    int64_t best = __builtin_ctz(open);
    for (; open; open &= open - 1) {
        int64_t j = __builtin_ctz(open);
        best = cost[j] + sink[j] < cost[best] + sink[best] ? j : best;
    }
    return best;
}

/* The nodes from x up to where the subtree holds `other`; those of `losing` give flow away. */
static uint32_t climb(const small_tree *t, int32_t x, uint32_t other, uint32_t losing,
                      int32_t *blocking, int64_t *theta)
{
    uint32_t way = 0;
    for (; !(t->mask[x] & other); x = t->parent[x]) {
        way |= (uint32_t)1 << x;
        if (losing >> x & 1 && t->flow[x] < *theta) {
            *theta = t->flow[x];
            *blocking = x;
        }
    }
    return way;
}

static int32_t push(small_tree *t, int64_t row, int64_t column, uint32_t side[2], int64_t *theta)
{
    const uint32_t sources = ((uint32_t)1 << LANES) - 1;
    int32_t sink = (int32_t)(LANES + column), blocking = -1;
    *theta = INT64_MAX;
    side[0] = climb(t, (int32_t)row, (uint32_t)1 << sink, sources, &blocking, theta);
    side[1] = climb(t, sink, (uint32_t)1 << row, ~sources, &blocking, theta);
    uint32_t losing = (side[0] & sources) | (side[1] & ~sources);
    for (uint32_t way = side[0] | side[1]; way; way &= way - 1) {
        int x = __builtin_ctz(way);
        t->flow[x] += losing >> x & 1 ? -*theta : *theta;
    }
    return blocking;
}

static void regraft(small_tree *t, uint32_t from, uint32_t to, uint32_t cut)
{
    for (; from; from &= from - 1)
        t->mask[__builtin_ctz(from)] &= ~cut;
    for (; to; to &= to - 1)
        t->mask[__builtin_ctz(to)] |= cut;
}

static void shift(small_tree *t, uint32_t cut, int32_t by)
{
    for (; cut; cut &= cut - 1)
        t->potential[__builtin_ctz(cut)] += by;
}

#include "kernel/tiny_steps.h"

void small_portable(small_tree *t, const small_problem *p, int count)
{
    if (count == 2)
        solve_two(t, p);
    else
        solve_one(t, p);
}
