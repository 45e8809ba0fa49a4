/* Construction and inspection of sets. Every set is created with measures_build, whatever its
 * source. It ensures that points are finite, weights are positive and sum to 1, and support rows
 * are distinct and used. */
#include "data/measures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "base/team.h"
#include "data/parts.h"

void measures_parts_free(ddsc_context *ctx, measures_parts *parts)
{
    MEM_FREE(ctx, parts->support, parts->offset, parts->index, parts->weight, parts->label,
             parts->id_text, parts->id_at, parts->name_text, parts->name_at);
    texts_free(ctx, &parts->coordinates);
    texts_free(ctx, &parts->points);
    texts_free(ctx, &parts->titles);
    texts_free(ctx, &parts->meta_names);
    texts_free(ctx, &parts->meta);
    measures_words_free(ctx, &parts->words);
    measures_recipe_free(ctx, &parts->recipe);
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
    MEM_FREE(ctx, m->row, m->label, m->id_text, m->id_at, m->number_ids, m->name_text, m->name_at);
    texts_free(ctx, &m->coordinates);
    texts_free(ctx, &m->titles);
    texts_free(ctx, &m->meta_names);
    texts_free(ctx, &m->meta);
    measures_words_free(ctx, &m->words);
    measures_recipe_free(ctx, &m->recipe);
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
    SWAP(int64_t, a->n_names, b->n_names);
    SWAP(int64_t *, a->row, b->row);
    SWAP(int32_t *, a->label, b->label);
    SWAP(char *, a->id_text, b->id_text);
    SWAP(int64_t *, a->id_at, b->id_at);
    SWAP(char *, a->number_ids, b->number_ids);
    SWAP(char *, a->name_text, b->name_text);
    SWAP(int64_t *, a->name_at, b->name_at);
    SWAP(measures_texts, a->coordinates, b->coordinates);
    SWAP(measures_texts, a->titles, b->titles);
    SWAP(measures_texts, a->meta_names, b->meta_names);
    SWAP(measures_texts, a->meta, b->meta);
    SWAP(measures_words, a->words, b->words);
    SWAP(measures_recipe, a->recipe, b->recipe);
}

/* Moves the parts that the set keeps into the set. */
static void take_over(measures *m, measures_parts *p)
{
    m->n_rows = p->n;
    m->d = p->d;
    m->v = p->v;
    m->support = p->support;
    m->offset = p->offset;
    m->index = p->index;
    m->weight = p->weight;
    m->label = p->label;
    m->id_text = p->id_text;
    m->id_at = p->id_at;
    m->name_text = p->name_text;
    m->name_at = p->name_at;
    m->n_names = p->n_names;
    m->coordinates = p->coordinates;
    m->points = p->points;
    m->titles = p->titles;
    m->meta_names = p->meta_names;
    m->meta = p->meta;
    m->words = p->words;
    m->recipe = p->recipe;
    *p = (measures_parts){0};
}

/* Removes items without entries from the CSR arrays. `row` stores the input rows of the remaining
 * items. */
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
    TRY(parts_normalise(ctx, parts));
    take_over(m, parts);
    TRY(keep_items(ctx, m));
    TRY(number_ids_make(ctx, m));
    TRY(parts_find_grid(ctx, &m->grid, m->v, m->d, m->support));
    *out = m;
    m = NULL;
done:
    measures_parts_free(ctx, parts);
    ddsc_measures_destroy(m);
    stage_leave(ctx, before);
    return status;
}

int64_t measures_largest_item(const measures *m)
{
    int64_t largest = 0;
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
