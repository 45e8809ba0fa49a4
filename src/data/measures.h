/* The data model. A set of items consists of a support table and a CSR matrix with entries (row of
 * the table, weight); ddsc.h lists the guarantees. A set is immutable once created. */
#ifndef DDSC_DATA_MEASURES_H
#define DDSC_DATA_MEASURES_H

#include "base/base.h"

enum { GRID_MAX_DIM = 3, NUMBER_ID_SIZE = 21 };

/* Packed strings: text i is text + at[i]. Empty if n = 0. */
typedef struct measures_texts {
    int64_t n;
    char *text;
    int64_t *at; /* n + 1 */
} measures_texts;

/* The vocabulary of a set of documents, with all data needed to encode further documents in the
 * same way. It is empty if n = 0. */
typedef struct measures_words {
    int64_t n, d, n_documents;
    char *text;    /* packed words */
    int64_t *at;   /* n + 1 offsets into text */
    float *vector; /* n x d */
    int64_t *df;   /* per word: number of documents that contain it */
    double *mass;  /* per word: weight of one occurrence; NULL unless the weighting is automatic */
    /* as in ddsc_text_settings; lemmas: 1 if plurals were converted to singulars */
    int64_t tokens, weighting, idf, lemmas;
    measures_texts phrases; /* two words separated by a space; used only in explanations */
} measures_words;

ddsc_status measures_words_copy(ddsc_context *ctx, measures_words *to, const measures_words *from);
bool measures_words_equal(const measures_words *a, const measures_words *b);
void measures_words_free(ddsc_context *ctx, measures_words *words);

ddsc_status texts_copy(ddsc_context *ctx, measures_texts *to, const measures_texts *from);
ddsc_status texts_pack(ddsc_context *ctx, measures_texts *to, int64_t n,
                       const char *const *strings);
/* Appends the n_b texts of b to the n_a texts of a. If only a or b has texts, the texts of the
 * other are "". */
ddsc_status texts_append(ddsc_context *ctx, measures_texts *a, int64_t n_a, const measures_texts *b,
                         int64_t n_b);
/* Copies the `width` texts of each listed item i from row row[i]. If `items` is NULL, the items are
 * 0 .. n-1. */
ddsc_status texts_pick(ddsc_context *ctx, measures_texts *to, const measures_texts *from,
                       int64_t width, int64_t n, const int64_t *items, const int64_t *row);
bool texts_equal(const measures_texts *a, const measures_texts *b);
void texts_free(ddsc_context *ctx, measures_texts *t);
static inline const char *texts_get(const measures_texts *t, int64_t i)
{
    return t->n ? t->text + t->at[i] : "";
}

/* The number of occurrences of each word in each document, in CSR form with ascending words and
 * positive counts. Empty if n_words = 0. All words that occur in several documents are counted,
 * even if points were merged or a word has no vector. */
typedef struct measures_counts {
    int64_t n_words, n_rows;
    measures_texts words; /* n_words; none in a private set */
    int64_t *offset;      /* n_rows + 1 */
    int32_t *word, *count;
} measures_counts;

ddsc_status measures_counts_copy(ddsc_context *ctx, measures_counts *to,
                                 const measures_counts *from);
/* Copies the rows of n items, as texts_pick does. */
ddsc_status measures_counts_pick(ddsc_context *ctx, measures_counts *to,
                                 const measures_counts *from, int64_t n, const int64_t *items,
                                 const int64_t *row);
/* Appends the rows of b to those of a. If only a or b has counted words, the result has none. */
ddsc_status measures_counts_append(ddsc_context *ctx, measures_counts *a, const measures_counts *b);
/* Sorts every row by word. */
ddsc_status measures_counts_sort(ddsc_context *ctx, measures_counts *c);
void measures_counts_free(ddsc_context *ctx, measures_counts *c);

/* Transforms that were applied to a set. There are none if n = 0. */
typedef struct measures_recipe {
    int64_t n, n_values;
    int64_t *step;          /* n x 3: recipe_kind, argument, number of values */
    double *value;          /* values of all steps */
    measures_texts inputs;  /* names of the coordinates before the transforms; may be empty */
    measures_texts batches; /* for a batch step: the column name, then its values */
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

/* A frame is the method that computes the values of pairs, with its unit and starting point. A
 * frame is chosen using the whole set. A value depends only on the two items, the settings and the
 * frame, so a later set with the same frame has bit-identical values for the same items. */
typedef enum frame_kind {
    FRAME_NONE,         /* not chosen yet */
    FRAME_PLAIN,        /* the method for point clouds, without a starting point */
    FRAME_GRID,         /* w2, sinkhorn, mmd: along the axes of a grid */
    FRAME_DENSE,        /* w2: the solver starts from dense kernels */
    FRAME_FIELD,        /* mmd: a field on the support, for all items at once */
    FRAME_FIELD_STRIPS, /* mmd: a field on the support, for one block of items at a time */
    FRAME_GRID_STRIPS,  /* mmd: along the axes of a grid, for one block of items at a time */
    FRAME_KINDS
} frame_kind;

typedef struct pair_frame {
    int64_t kind;
    double unit, spread, step[2]; /* unit of length, mean trace of the covariances, grid steps */
} pair_frame;

/* The names in a set and in its raw parts. Both structs contain the names as the member `names`,
 * which can be copied as a whole, and as separate members. MEASURES_NAMES is a macro because in C a
 * named struct type cannot be an unnamed member. */
#define MEASURES_NAMES                                                                           \
    int32_t *label;   /* n_rows or NULL */                                                       \
    char *id_text;    /* packed ids, or NULL: row numbers */                                     \
    int64_t *id_at;   /* n_rows + 1 offsets into id_text */                                      \
    char *name_text;  /* packed class names, or NULL */                                          \
    int64_t *name_at; /* n_names + 1 */                                                          \
    int64_t n_names;                                                                             \
    measures_texts coordinates, titles; /* d coordinate names and n_rows titles; may be empty */ \
    measures_texts meta_names, meta;    /* names of the metadata columns; values, row by row */  \
    measures_words words;                                                                        \
    measures_counts counts;                                                                      \
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
    ddsc_context *ctx; /* provides the allocator */
    int64_t n, n_rows, v, nnz, d;
    double *support;       /* v x d */
    int64_t *offset;       /* n + 1 */
    int32_t *index;        /* nnz, ascending within an item */
    double *weight;        /* nnz, positive; the sum over each item is 1 */
    int64_t *row;          /* n: input row of item i */
    char *number_ids;      /* row numbers as text; used if there are no ids */
    measures_texts points; /* v names; may be empty */
    MEASURES_EMBED_NAMES
    measures_grid grid;
    int64_t n_zero_dropped, n_merged;
    void *block; /* shared memory with all arrays, if there are several ranks; else NULL */
    /* Capacity in items, entries and rows, and in points of one item; 0 unless the set can grow
     * (growing.h). */
    int64_t n_capacity, nnz_capacity, v_capacity, largest_capacity;
};

typedef struct ddsc_measures measures;

/* Input of measures_build. All arrays are allocated with mem_get on ctx. measures_build takes
 * ownership of them and frees those that the set does not need, even on error. */
typedef struct measures_parts {
    int64_t n, v, nnz, d;
    double *support;          /* v x d */
    int64_t *offset;          /* n + 1 */
    int32_t *index;           /* nnz, or NULL: entry p is point p (no points are shared, v = nnz) */
    double *weight;           /* nnz, or NULL: uniform */
    measures_texts points;    /* v names; may be empty */
    MEASURES_EMBED_NAMES      /* names of n items */
        bool points_distinct; /* the rows are known to be distinct (a grid) */
} measures_parts;

void measures_parts_free(ddsc_context *ctx, measures_parts *parts);
/* Creates missing weights or a missing index: uniform weights, and an index without shared
 * points. */
ddsc_status measures_parts_weigh(ddsc_context *ctx, measures_parts *p);
ddsc_status measures_parts_index(ddsc_context *ctx, measures_parts *p);
/* Creates a set. Checks the parts (finite points, finite non-negative weights, ascending offsets,
 * indices in range), drops zero weights, merges equal points in place, normalizes the weights, and
 * detects a grid. `where` prefixes every message ("clouds.npz: ..."); messages identify items by id
 * and number. Always takes ownership of `parts`. */
ddsc_status measures_build(ddsc_context *ctx, measures **out, measures_parts *parts,
                           ddsc_on_empty on_empty, const char *where);

/* Returns true if the guarantees of struct ddsc_measures hold. Used in assertions. */
bool measures_hold(const measures *m);

/* Read-only view of one item. */
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
/* Return the number of items, and of entries, for which a backend allocates its arrays. */
static inline int64_t measures_item_capacity(const measures *m)
{
    return BASE_MAX(m->n, m->n_capacity);
}
static inline int64_t measures_entry_capacity(const measures *m)
{
    return BASE_MAX(m->nnz, m->nnz_capacity);
}
/* Returns true if two items have the same points and weights. */
bool measures_equal_items(const measures *m, int64_t i, int64_t j);
/* Copies the rows, ids, labels, titles, class names, coordinate names and words of `from`. `to`
 * must have the same items in the same order. */
ddsc_status measures_copy_names(ddsc_context *ctx, measures *to, const measures *from);
/* Creates a copy of all items and names. */
ddsc_status measures_copy(ddsc_context *ctx, measures **out, const measures *m);
void measures_swap_names(measures *a, measures *b);
void measures_free_names(ddsc_context *ctx, measures *m);
/* Copies the listed items with their names to empty parts. Items must be in range. */
ddsc_status measures_take_parts(ddsc_context *ctx, measures_parts *parts, const measures *m,
                                int64_t n, const int64_t *items);
/* Creates a set of the listed items, in that order. If `items` is NULL, all items are included. */
ddsc_status measures_subset(ddsc_context *ctx, measures **out, const measures *m, int64_t n,
                            const int64_t *items);
/* Creates a copy without names, in which the support rows are sorted by their coordinates. If the
 * rows of m are already sorted, sets *out to NULL. */
ddsc_status measures_ordered(ddsc_context *ctx, measures **out, const measures *m);
/* Memory for sorting the points of one item. Except for `offset`, each array has as many elements
 * as the largest item. */
typedef struct item_sort {
    int64_t *offset; /* 2 */
    int32_t *row, *part, *copy;
    double *weight, *key;
} item_sort;

typedef struct arena arena; /* base/workspace.h */
void measures_sort_take(item_sort *s, int64_t largest, arena *a);
/* Returns item i as a set of one item, whose points are in the order that they have in an ordered
 * set. The set borrows the points of m and the arrays of s. Unlike in other sets, the rows of the
 * item need not ascend. */
measures measures_sort_item(const measures *m, int64_t i, const item_sort *s);
/* Compares two items of an ordered set by size, then by points, then by weights, then by index.
 * Returns true if i comes before j. */
bool measures_precedes(const measures *m, int64_t i, int64_t j);
/* Computes the position of each item in the order of measures_precedes. */
ddsc_status measures_rank(ddsc_context *ctx, int32_t **rank, const measures *m);
/* Resamples every item: item i becomes n_i draws with replacement from its n_i points, with
 * their weights as probabilities. Names are preserved. */
ddsc_status measures_resample(ddsc_context *ctx, measures **out, const measures *m, uint64_t round);
/* Joins the items of a and b, which must have the same dimension, into one set. Ids and labels are
 * not copied. */
ddsc_status measures_join(ddsc_context *ctx, measures **out, const measures *a, const measures *b);
/* Creates a copy with new labels, one per item. Rows of dropped items are not copied. */
ddsc_status measures_copy_items(ddsc_context *ctx, measures **copy, const measures *m,
                                const int32_t *item_labels);
/* Sends the set of the first rank to all ranks. Each machine stores the arrays once. Must be called
 * by all ranks. */
ddsc_status measures_move(ddsc_context *ctx, measures **set);
/* Returns true if many points have the same name, such as the type of a cell. Words have different
 * names. */
bool measures_has_types(const measures *m);
int64_t measures_largest_item(const measures *m);
/* Returns true if items share rows of the table, that is, if there are fewer than half as many rows
 * as entries. */
bool measures_is_shared(const measures *m);

#endif
