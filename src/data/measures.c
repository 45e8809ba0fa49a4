/* Constructs and inspects sets. Every set is created by measures_build, regardless of its
 * source. measures_build ensures that points are finite, that weights are positive and sum to 1,
 * and that support rows are distinct and used. */
#include "data/measures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "base/team.h"
#include "data/parts.h"

static void names_free(ddsc_context *ctx, measures_names *names)
{
    MEM_FREE(ctx, names->label, names->id_text, names->id_at, names->name_text, names->name_at);
    texts_free(ctx, &names->coordinates);
    texts_free(ctx, &names->titles);
    texts_free(ctx, &names->meta_names);
    texts_free(ctx, &names->meta);
    measures_words_free(ctx, &names->words);
    measures_counts_free(ctx, &names->counts);
    measures_recipe_free(ctx, &names->recipe);
}

void measures_parts_free(ddsc_context *ctx, measures_parts *parts)
{
    MEM_FREE(ctx, parts->support, parts->offset, parts->index, parts->weight);
    texts_free(ctx, &parts->points);
    names_free(ctx, &parts->names);
    *parts = (measures_parts){0};
}

void ddsc_measures_destroy(ddsc_measures *m)
{
    if (!m)
        return;
    ddsc_context *ctx = m->ctx;
    if (m->block) {
        team_unshare(ctx, m->block);
        mem_free(ctx, m);
        return;
    }
    MEM_FREE(ctx, m->support, m->offset, m->index, m->weight);
    texts_free(ctx, &m->points);
    measures_free_names(ctx, m);
    mem_free(ctx, m);
}

void measures_free_names(ddsc_context *ctx, measures *m)
{
    MEM_FREE(ctx, m->row, m->number_ids);
    names_free(ctx, &m->names);
}

#define SWAP(type, x, y)  \
    do {                  \
        type swap_ = (x); \
        (x) = (y);        \
        (y) = swap_;      \
    } while (0)

void measures_swap_names(measures *a, measures *b)
{
    SWAP(int64_t, a->n_rows, b->n_rows);
    SWAP(int64_t *, a->row, b->row);
    SWAP(char *, a->number_ids, b->number_ids);
    SWAP(measures_names, a->names, b->names);
}

/* Moves the arrays that the set owns from the parts into the set. */
static void move_from_parts(measures *m, measures_parts *p)
{
    m->n_rows = p->n;
    m->d = p->d;
    m->v = p->v;
    m->support = p->support;
    m->offset = p->offset;
    m->index = p->index;
    m->weight = p->weight;
    m->points = p->points;
    m->names = p->names;
    *p = (measures_parts){0};
}

/* Removes items without entries from the CSR arrays. `row` receives the input rows of the
 * remaining items. */
static ddsc_status keep_items(ddsc_context *ctx, measures *m)
{
    int64_t n = 0;
    CHECK(MEM_NEW(ctx, m->row, m->n_rows));
    for (int64_t i = 0; i < m->n_rows; i++) {
        if (m->offset[i + 1] == m->offset[i])
            continue;
        m->row[n++] = i;
        m->offset[n] = m->offset[i + 1];
    }
    m->n = n;
    m->nnz = m->offset[n];
    return DDSC_OK;
}

static ddsc_status number_ids_make(ddsc_context *ctx, measures *m)
{
    if (m->id_text)
        return DDSC_OK;
    CHECK(mem_get(ctx, &m->number_ids, m->n_rows, NUMBER_ID_SIZE));
    for (int64_t i = 0; i < m->n_rows; i++)
        snprintf(m->number_ids + i * NUMBER_ID_SIZE, NUMBER_ID_SIZE, "%" PRId64, i);
    return DDSC_OK;
}

ddsc_status measures_build(ddsc_context *ctx, measures **out, measures_parts *parts,
                           ddsc_on_empty on_empty, const char *where)
{
    ddsc_status status = DDSC_OK;
    measures *m = NULL;
    const char *before = stage_enter(ctx, "merge");
    *out = NULL;
    TRY(MEM_ZERO(ctx, m, 1));
    m->ctx = ctx;
    TRY(parts_check(ctx, parts, where));
    TRY(parts_drop_zeros(ctx, parts, on_empty, where, &m->n_zero_dropped));
    TRY(parts_merge_points(ctx, parts));
    TRY(parts_merge_entries(ctx, parts, &m->n_merged));
    TRY(parts_normalize(ctx, parts));
    move_from_parts(m, parts);
    TRY(keep_items(ctx, m));
    TRY(number_ids_make(ctx, m));
    TRY(parts_find_grid(ctx, &m->grid, m->v, m->d, m->support));
    DDSC_ASSERT(measures_hold(m));
    *out = m;
    m = NULL;
done:
    measures_parts_free(ctx, parts);
    ddsc_measures_destroy(m);
    stage_leave(ctx, before);
    return status;
}

#ifdef DDSC_DEBUG_CHECKS
bool measures_hold(const measures *m)
{
    bool holds = invariant_offsets(m->offset, m->n) && m->offset[m->n] == m->nnz;
    for (int64_t i = 0; holds && i < m->n; i++) {
        item_view item = measures_item(m, i);
        holds = item.n > 0 && invariant_ascending(item.index, item.n) &&
                invariant_range(item.index, item.n, 0, m->v) &&
                invariant_distribution(item.weight, item.n) && m->row[i] >= 0 &&
                m->row[i] < m->n_rows && (i == 0 || m->row[i - 1] < m->row[i]);
    }
    return holds;
}
#endif

int64_t measures_largest_item(const measures *m)
{
    int64_t largest = m->largest_capacity;
    for (int64_t i = 0; i < m->n; i++)
        largest = BASE_MAX(largest, m->offset[i + 1] - m->offset[i]);
    return largest;
}

bool measures_equal_items(const measures *m, int64_t i, int64_t j)
{
    item_view x = measures_item(m, i), y = measures_item(m, j);
    return x.n == y.n && memcmp(x.index, y.index, (size_t)x.n * sizeof *x.index) == 0 &&
           memcmp(x.weight, y.weight, (size_t)x.n * sizeof *x.weight) == 0;
}

bool measures_is_shared(const measures *m)
{
    return 2 * m->v < m->nnz;
}

static void fill_view(const measures *m, ddsc_measures_view *view)
{
    view->n_items = m->n;
    view->n_rows = m->n_rows;
    view->n_support = m->v;
    view->n_entries = m->nnz;
    view->dim = m->d;
    view->support = m->support;
    view->offset = m->offset;
    view->index = m->index;
    view->weight = m->weight;
    view->row = m->row;
    view->label = m->label;
    view->n_label_names = m->n_names;
    view->is_grid = m->grid.found;
    for (int64_t k = 0; m->grid.found && k < m->d; k++) {
        view->grid_shape[k] = m->grid.shape[k];
        view->grid_origin[k] = m->grid.origin[k];
        view->grid_step[k] = m->grid.step[k];
    }
    view->n_zero_dropped = m->n_zero_dropped;
    view->n_merged = m->n_merged;
    view->n_words = m->words.n;
    view->n_counted_words = m->counts.n_words;
}

void ddsc_measures_get_view_sized(const ddsc_measures *m, ddsc_measures_view *view, size_t size)
{
    ddsc_measures_view own = {0};
    if (m)
        fill_view(m, &own);
    sized_view(view, size, &own, sizeof own);
}

const char *ddsc_measures_get_id(const ddsc_measures *m, int64_t row)
{
    if (!m || row < 0 || row >= m->n_rows)
        return "";
    return m->id_text ? m->id_text + m->id_at[row] : m->number_ids + row * NUMBER_ID_SIZE;
}

const char *ddsc_measures_get_label_name(const ddsc_measures *m, int32_t label)
{
    if (!m || !m->name_text || label < 0 || label >= m->n_names)
        return NULL;
    return m->name_text + m->name_at[label];
}
