/* data: the one data model. A set of items is a support table and a CSR of (row of the table,
 * weight); see DDSC's header for the promises. Immutable once made. */
#ifndef DDSC_DATA_MEASURES_H
#define DDSC_DATA_MEASURES_H

#include "base/base.h"

enum { GRID_MAX_DIM = 3, NUMBER_ID_SIZE = 21 };

/* The words of a set of documents, fitted to it: what it takes to encode further documents alike.
 * n = 0: there are none. */
typedef struct measures_words {
    int64_t n, d, n_documents;
    char *text;    /* packed words */
    int64_t *at;   /* n + 1 starts in text */
    float *vector; /* n x d */
    int64_t *df;   /* of each word: how many of the n_documents have it */
    /* as in ddsc_text_settings; lemmas: 1 when plurals were made singular */
    int64_t tokens, weighting, idf, lemmas;
} measures_words;

ddsc_status measures_words_copy(ddsc_context *ctx, measures_words *to, const measures_words *from);
bool measures_words_equal(const measures_words *a, const measures_words *b);
void measures_words_free(ddsc_context *ctx, measures_words *words);

/* Texts one after the other: text i is text + at[i]. n = 0: there are none. */
typedef struct measures_texts {
    int64_t n;
    char *text;
    int64_t *at; /* n + 1 */
} measures_texts;

ddsc_status texts_copy(ddsc_context *ctx, measures_texts *to, const measures_texts *from);
ddsc_status texts_pack(ddsc_context *ctx, measures_texts *to, int64_t n,
                       const char *const *strings);
/* The n_a texts of a, then the n_b of b; where one side has none, "" stands for each of its. */
ddsc_status texts_append(ddsc_context *ctx, measures_texts *a, int64_t n_a, const measures_texts *b,
                         int64_t n_b);
/* Of each of n items its `width` texts, those of the row it came from; items NULL: all in order. */
ddsc_status texts_pick(ddsc_context *ctx, measures_texts *to, const measures_texts *from,
                       int64_t width, int64_t n, const int64_t *items, const int64_t *row);
bool texts_equal(const measures_texts *a, const measures_texts *b);
void texts_free(ddsc_context *ctx, measures_texts *t);
static inline const char *texts_get(const measures_texts *t, int64_t i)
{
    return t->n ? t->text + t->at[i] : "";
}

/* Transforms that a set has gone through; n = 0: none. */
typedef struct measures_recipe {
    int64_t n, n_values;
    int64_t *step;          /* n x 3: recipe_kind, argument, number of values */
    double *value;          /* of all steps */
    measures_texts inputs;  /* names of the coordinates before, or none */
    measures_texts batches; /* of a step by batch: the column, then its values; or none */
} measures_recipe;

ddsc_status measures_recipe_copy(ddsc_context *ctx, measures_recipe *to,
                                 const measures_recipe *from);
bool measures_recipe_equal(const measures_recipe *a, const measures_recipe *b);
void measures_recipe_free(ddsc_context *ctx, measures_recipe *recipe);

typedef struct measures_grid {
    bool found;
    int64_t shape[GRID_MAX_DIM];
    double origin[GRID_MAX_DIM], step[GRID_MAX_DIM];
} measures_grid;

/* The names of a set and of its raw parts. A macro, since C has no unnamed member of a named struct: both structs hold `names` to
 * be copied as a whole, and its fields under their own names. */
#define MEASURES_NAMES                                                                     \
    int32_t *label;   /* n_rows or NULL */                                                 \
    char *id_text;    /* packed ids, or NULL: numbers */                                   \
    int64_t *id_at;   /* n_rows + 1 starts in id_text */                                   \
    char *name_text;  /* packed class names, or NULL */                                    \
    int64_t *name_at; /* n_names + 1 */                                                    \
    int64_t n_names;                                                                       \
    measures_texts coordinates, titles; /* d and n_rows of them, or none */                \
    measures_texts meta_names, meta;    /* columns about rows; their values, row by row */ \
    measures_words words;                                                                  \
    measures_recipe recipe;

typedef struct measures_names {
    MEASURES_NAMES
} measures_names;

#define MEASURES_EMBED_NAMES  \
    union {                   \
        measures_names names; \
        struct {              \
            MEASURES_NAMES    \
        };                    \
    };

struct ddsc_measures {
    ddsc_context *ctx; /* whose allocator made it */
    int64_t n, n_rows, v, nnz, d;
    double *support;       /* v x d */
    int64_t *offset;       /* n + 1 */
    int32_t *index;        /* nnz, ascending within an item */
    double *weight;        /* nnz, positive, each item sums to 1 */
    int64_t *row;          /* n: input row of item i */
    char *number_ids;      /* numbers as text when there are no ids */
    measures_texts points; /* names: v of them, or none */
    MEASURES_EMBED_NAMES
    measures_grid grid;
    int64_t n_zero_dropped, n_merged;
    void *block; /* all arrays lie in it, and other ranks read them too; NULL: they are its own */
};

typedef struct ddsc_measures measures;

/* Raw material for a set; everything in it is owned (made with mem_get on ctx) and taken over by
 * measures_build, which frees what it does not keep, also on error. */
typedef struct measures_parts {
    int64_t n, v, nnz, d;
    double *support;          /* v x d */
    int64_t *offset;          /* n + 1 */
    int32_t *index;           /* nnz, or NULL: entry p is point p (own points, v = nnz) */
    double *weight;           /* nnz, or NULL: uniform */
    measures_texts points;    /* names: v of them, or none */
    MEASURES_EMBED_NAMES      /* of n items */
        bool points_distinct; /* the support has no equal rows (a grid made by a reader): skip the
                             search */
} measures_parts;

void measures_parts_free(ddsc_context *ctx, measures_parts *parts);
/* What may be left out, made explicit where it was: uniform weights, an index of own points. */
ddsc_status measures_parts_weigh(ddsc_context *ctx, measures_parts *p);
ddsc_status measures_parts_index(ddsc_context *ctx, measures_parts *p);
/* Check (finite points, finite non-negative weights, offsets ascending, indices in range), drop
 * zero weights, merge equal points in place, normalise, recognise a grid. `where` prefixes every
 * message ("clouds.npz: ..."); items are named by id and number. Takes over `parts` in every case. */
ddsc_status measures_build(ddsc_context *ctx, measures **out, measures_parts *parts,
                           ddsc_on_empty on_empty, const char *where);

/* For assertions: the promises of struct ddsc_measures. */
bool measures_hold(const measures *m);

/* Kernel-side view of one item. */
typedef struct item_view {
    int64_t n;
    const int32_t *index;
    const double *weight;
} item_view;

static inline item_view measures_item(const measures *m, int64_t i)
{
    int64_t at = m->offset[i];
    return (item_view){m->offset[i + 1] - at, m->index + at, m->weight + at};
}
static inline const double *measures_point(const measures *m, int32_t row)
{
    return m->support + (int64_t)row * m->d;
}
/* The same points with the same weights? */
bool measures_equal_items(const measures *m, int64_t i, int64_t j);
/* Rows, ids, labels, titles, names of classes and coordinates, and words of `from` (whose items `to` has, in the same order). */
ddsc_status measures_copy_names(ddsc_context *ctx, measures *to, const measures *from);
void measures_swap_names(measures *a, measures *b);
void measures_free_names(ddsc_context *ctx, measures *m);
/* The listed items, in that order; items NULL: all of them. */
ddsc_status measures_subset(ddsc_context *ctx, measures **out, const measures *m, int64_t n,
                            const int64_t *items);
/* Item i becomes n_i draws with replacement from its n_i points by weight; names as they were. */
ddsc_status measures_resample(ddsc_context *ctx, measures **out, const measures *m, uint64_t round);
/* The items of a, then those of b (of the same dimension), over one table; ids and labels are left
 * behind. */
ddsc_status measures_join(ddsc_context *ctx, measures **out, const measures *a, const measures *b);
/* A copy with these labels, one per item; rows of dropped items are left behind. */
ddsc_status measures_copy_items(ddsc_context *ctx, measures **copy, const measures *m,
                                const int32_t *item_labels);
/* The set of the first rank, given to all; its arrays are once on each machine. Collective. */
ddsc_status measures_move(ddsc_context *ctx, measures **set);
int64_t measures_largest_item(const measures *m);
/* A table is shared when items use common rows: fewer rows than half the entries. */
bool measures_is_shared(const measures *m);

#endif
