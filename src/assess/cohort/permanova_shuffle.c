/* Creates permutations of items within blocks, or of whole blocks. The permutations are random, or
 * they list all distinct arrangements. Exchanging two units with the same values in all columns
 * does not change an arrangement, so the number of arrangements is a product of multinomial
 * coefficients, one per group. */
#include <math.h>
#include <string.h>

#include "assess/cohort/permanova.h"

/* In larger groups, units are not compared with each other, because these groups have too many
 * arrangements to list. */
enum { SHUFFLE_MOST_COMPARED = 4096 };

/* Sorts the items by block, in input order within a block. Sets *n_blocks and first (n + 1). */
static ddsc_status sort_blocks(ddsc_context *ctx, const shuffle_model *m, int64_t *item,
                               int64_t *first, int64_t *n_blocks)
{
    ddsc_status status = DDSC_OK;
    int32_t *order = NULL;
    double *key = NULL;
    TRY(MEM_NEW(ctx, order, m->n));
    TRY(MEM_NEW(ctx, key, m->n));
    for (int64_t i = 0; i < m->n; i++)
        key[i] = m->block ? m->block->x[m->item[i]] : 0;
    sort_order(order, key, m->n);
    *n_blocks = 0;
    for (int64_t t = 0; t < m->n; t++) {
        item[t] = order[t];
        if (t == 0 || key[order[t]] > key[order[t - 1]])
            first[(*n_blocks)++] = t;
    }
    first[*n_blocks] = m->n;
done:
    MEM_FREE(ctx, order, key);
    return status;
}

/* Makes every item a unit, and every block a group. */
static void units_of_items(shuffle *s, const int64_t *item, const int64_t *first, int64_t n_blocks)
{
    s->n_units = s->n;
    s->n_groups = n_blocks;
    for (int64_t i = 0; i < s->n; i++) {
        s->item[i] = item[i];
        s->unit_first[i] = i;
    }
    s->unit_first[s->n] = s->n;
    memcpy(s->group_first, first, (size_t)(n_blocks + 1) * sizeof *first);
}

/* Makes every block a unit, and all blocks of the same size a group. */
static void units_of_blocks(shuffle *s, const int64_t *item, const int64_t *first, int64_t n_blocks)
{
    int64_t filled = 0;
    for (int64_t size = 1; size <= s->n; size++) {
        int64_t before = s->n_units;
        for (int64_t b = 0; b < n_blocks; b++) {
            if (first[b + 1] - first[b] != size)
                continue;
            s->unit_first[s->n_units++] = filled;
            for (int64_t t = first[b]; t < first[b + 1]; t++)
                s->item[filled++] = item[t];
        }
        if (s->n_units > before)
            s->group_first[s->n_groups++] = before;
    }
    s->unit_first[s->n_units] = s->n;
    s->group_first[s->n_groups] = s->n_units;
}

static bool same_columns(const shuffle *s, const shuffle_model *m, int64_t a, int64_t b)
{
    int64_t n = s->unit_first[a + 1] - s->unit_first[a];
    const int64_t *x = s->item + s->unit_first[a], *y = s->item + s->unit_first[b];
    for (int64_t k = 0; k < m->n_variables; k++)
        for (int64_t t = 0; t < n; t++) {
            const double *value = m->variables[k]->x;
            double u = value[m->item[x[t]]], v = value[m->item[y[t]]];
            if (u < v || u > v)
                return false;
        }
    return true;
}

/* Finds the types of the units and counts the arrangements. After each step, the count is the
 * number of arrangements of the units up to u, so it is always an integer. */
static void find_types(shuffle *s, const shuffle_model *m)
{
    s->n_arrangements = 1;
    for (int64_t g = 0; g < s->n_groups; g++) {
        int64_t begin = s->group_first[g], end = s->group_first[g + 1];
        bool compared = end - begin <= SHUFFLE_MOST_COMPARED;
        for (int64_t u = begin; u < end; u++) {
            int64_t alike = 0;
            s->type[u] = u;
            for (int64_t v = begin; compared && v < u && s->type[u] == u; v++)
                if (s->type[v] == v && same_columns(s, m, v, u))
                    s->type[u] = v;
            for (int64_t v = begin; compared && v <= u; v++)
                alike += s->type[v] == s->type[u];
            s->n_arrangements *= (double)(u - begin + 1);
            s->n_arrangements /= (double)BASE_MAX(alike, 1);
        }
    }
    if (!(s->n_arrangements < 0x1p52))
        s->n_arrangements = INFINITY;
}

/* Sorts the types in each group, which gives the first arrangement in lexicographic order. */
static void start_list(shuffle *s)
{
    memcpy(s->now, s->type, (size_t)s->n_units * sizeof *s->now);
    for (int64_t g = 0; g < s->n_groups; g++)
        sort_i64(s->now + s->group_first[g], s->group_first[g + 1] - s->group_first[g]);
}

ddsc_status shuffle_open(ddsc_context *ctx, shuffle *s, const shuffle_model *m, int64_t wanted,
                         uint64_t part)
{
    ddsc_status status = DDSC_OK;
    int64_t *item = NULL, *first = NULL, n_blocks;
    *s = (shuffle){.ctx = ctx, .n = m->n, .part = part};
    TRY(MEM_NEW(ctx, item, m->n));
    TRY(MEM_NEW(ctx, first, m->n + 1));
    TRY(MEM_NEW(ctx, s->item, m->n));
    TRY(MEM_NEW(ctx, s->unit_first, m->n + 1));
    TRY(MEM_NEW(ctx, s->group_first, m->n + 1));
    TRY(MEM_NEW(ctx, s->type, m->n));
    TRY(MEM_NEW(ctx, s->now, m->n));
    TRY(sort_blocks(ctx, m, item, first, &n_blocks));
    if (m->whole_blocks)
        units_of_blocks(s, item, first, n_blocks);
    else
        units_of_items(s, item, first, n_blocks);
    find_types(s, m);
    s->exhaustive = s->n_arrangements <= (double)wanted;
    s->n_draws = s->exhaustive ? (int64_t)s->n_arrangements : wanted;
    if (s->exhaustive)
        start_list(s);
done:
    MEM_FREE(ctx, item, first);
    return status;
}

/* Advances one group to its next arrangement. After the last one, returns to the first arrangement
 * and returns false. */
static bool advance(int64_t *x, int64_t n)
{
    int64_t i = n - 1, j = n - 1;
    while (i > 0 && x[i - 1] >= x[i])
        i--;
    bool more = i > 0;
    if (more) {
        while (x[j] <= x[i - 1])
            j--;
        int64_t kept = x[j];
        x[j] = x[i - 1];
        x[i - 1] = kept;
    }
    for (int64_t a = i, b = n - 1; a < b; a++, b--) {
        int64_t kept = x[a];
        x[a] = x[b];
        x[b] = kept;
    }
    return more;
}

static void draw_arrangement(shuffle *s, int64_t number)
{
    rng random = rng_make(ctx_seed(s->ctx), RNG_PERMANOVA, s->part << 32 | (uint64_t)number);
    for (int64_t g = 0; g < s->n_groups; g++) {
        int64_t begin = s->group_first[g], end = s->group_first[g + 1];
        for (int64_t u = begin; u < end; u++)
            s->now[u] = u;
        for (int64_t u = end - 1; u > begin; u--) {
            int64_t v = begin + rng_below(&random, u - begin + 1), kept = s->now[u];
            s->now[u] = s->now[v];
            s->now[v] = kept;
        }
    }
}

void shuffle_fill(shuffle *s, int32_t *source, int64_t begin, int64_t count)
{
    for (int64_t b = 0; b < count; b++) {
        int32_t *row = source + b * s->n;
        if (s->given) {
            for (int64_t i = 0; i < s->n; i++)
                row[s->given[(begin + b) * s->n + i]] = (int32_t)i;
            DDSC_ASSERT(invariant_permutation(row, s->n));
            continue;
        }
        if (!s->exhaustive)
            draw_arrangement(s, begin + b);
        for (int64_t u = 0; u < s->n_units; u++) {
            const int64_t *to = s->item + s->unit_first[u],
                          *from = s->item + s->unit_first[s->now[u]];
            for (int64_t t = 0; t < s->unit_first[u + 1] - s->unit_first[u]; t++)
                row[to[t]] = (int32_t)from[t];
        }
        /* An arrangement of types contains only the first unit of each type, repeated. */
        DDSC_ASSERT(s->exhaustive ? invariant_range(row, s->n, 0, s->n)
                                  : invariant_permutation(row, s->n));
        for (int64_t g = 0; s->exhaustive && g < s->n_groups; g++)
            if (advance(s->now + s->group_first[g], s->group_first[g + 1] - s->group_first[g]))
                break;
    }
}

void shuffle_close(shuffle *s)
{
    if (s->ctx)
        MEM_FREE(s->ctx, s->item, s->unit_first, s->group_first, s->type, s->now);
    *s = (shuffle){0};
}

ddsc_status shuffle_check(ddsc_context *ctx, const int32_t *given, int64_t n_given, int64_t n)
{
    ddsc_status status = DDSC_OK;
    int64_t *seen = NULL;
    TRY(MEM_ZERO(ctx, seen, n));
    for (int64_t b = 0; b < n_given; b++)
        for (int64_t i = 0; i < n; i++) {
            int32_t at = given[b * n + i];
            if (at < 0 || at >= n || seen[at] == b + 1) {
                status = ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                                  "row %lld of the permutations is not a permutation of 0 .. %lld",
                                  (long long)b, (long long)n - 1);
                goto done;
            }
            seen[at] = b + 1;
        }
done:
    mem_free(ctx, seen);
    return status;
}
