/* Reads and writes the arrays of an npz file that describe a set of documents or were fitted to a
 * set.
 *
 * Vocabulary: text_words, text_vectors, text_df and text_rules, for the items of a set or of a
 * model. Either all four arrays exist or none of them. With automatic weighting, text_masses
 * contains the weight of one occurrence of each word. text_phrases lists phrases of two words, if
 * there are any.
 *
 * Counts of the words in each document, in CSR form: count_words, count_offsets, count_indices and
 * count_values. Either all four arrays exist or none of them.
 *
 * Memberships, in models only: softness (for distances, for words) and, if word counts refined the
 * labels, mixture_words, mixture_theta and mixture_share. Models of version 0.2.0 have none of
 * these arrays.
 *
 * Transforms: transform_steps (n, 3) and transform_values. transform_inputs contains the original
 * names of the coordinates, if they had names. If a step depends on a batch column,
 * transform_batches contains the name and the values of this column. */
#include <math.h>
#include <string.h>

#include "data/model.h"
#include "data/recipe.h"
#include "io/format/archive.h"

enum {
    N_RULES = 5
}; /* the number of documents and the settings tokens, weighting, idf and
                       * lemmas */
static const char *const names[] = {"text_words", "text_vectors", "text_df",
                                    "text_rules", "text_masses",  "text_phrases"};

/* ---- writing ---- */

static const char *get_word(const void *arg, int64_t i)
{
    const measures_words *w = arg;
    return w->text + w->at[i];
}

static const char *get_phrase(const void *arg, int64_t i)
{
    return texts_get(arg, i);
}

ddsc_status npz_add_words(npz_writer *z, const measures_words *w)
{
    int64_t shape[2] = {w->n, w->d}, n_rules = N_RULES;
    int64_t rules[N_RULES] = {w->n_documents, w->tokens, w->weighting, w->idf, w->lemmas};
    if (w->n == 0)
        return DDSC_OK;
    CHECK(npz_add_strings(z, names[0], get_word, w, w->n));
    CHECK(npz_writer_add(z, names[1], NPY_FLOAT4, 2, shape, 4, NULL, w->vector));
    CHECK(npz_writer_add(z, names[2], NPY_INT8, 1, &w->n, 8, NULL, w->df));
    CHECK(npz_writer_add(z, names[3], NPY_INT8, 1, &n_rules, 8, NULL, rules));
    if (w->mass)
        CHECK(npz_writer_add(z, names[4], NPY_FLOAT8, 1, &w->n, 8, NULL, w->mass));
    if (w->phrases.n > 0)
        CHECK(npz_add_strings(z, names[5], get_phrase, &w->phrases, w->phrases.n));
    return DDSC_OK;
}

/* ---- reading ---- */

static ddsc_status read_texts(archive *z, measures_words *w)
{
    CHECK(archive_open_array(z, names[0], 1));
    if (z->array.count < 1)
        return stream_fail(z->member, "is empty");
    w->n = z->array.count;
    return archive_read_strings(z, &w->text, &w->at);
}

static ddsc_status read_word_vectors(archive *z, measures_words *w)
{
    ddsc_status status = DDSC_OK;
    double *table = NULL;
    int64_t rows;
    TRY(archive_read_table(z, names[1], &table, &rows, &w->d));
    if (rows != w->n || w->d < 1)
        TRY(stream_fail(z->s, "has %lld words, but the word vectors have shape (%lld, %lld)",
                        (long long)w->n, (long long)rows, (long long)w->d));
    TRY(MEM_NEW(z->ctx, w->vector, rows * w->d));
    for (int64_t k = 0; k < rows * w->d; k++) {
        w->vector[k] = (float)table[k];
        if (!isfinite(w->vector[k]))
            TRY(stream_fail(z->s, "the vector of word %lld contains a value that is not finite",
                            (long long)(k / w->d)));
    }
done:
    mem_free(z->ctx, table);
    return status;
}

/* Reads n integers, each between low and high. */
static ddsc_status read_counts(archive *z, int64_t **out, const char *name, int64_t n, int64_t low,
                               int64_t high)
{
    CHECK(archive_open_array(z, name, 1));
    if (z->array.count != n)
        return stream_fail(z->member, "has %lld elements instead of %lld",
                           (long long)z->array.count, (long long)n);
    CHECK(npy_read_integers(z->ctx, out, z->member, &z->array));
    for (int64_t k = 0; k < n; k++)
        if ((*out)[k] < low || (*out)[k] > high)
            return stream_fail(z->member, "element %lld is %lld, which is out of range",
                               (long long)k, (long long)(*out)[k]);
    return archive_close_array(z);
}

static ddsc_status read_rules(archive *z, measures_words *w)
{
    ddsc_status status = DDSC_OK;
    int64_t *rule = NULL;
    TRY(read_counts(z, &rule, names[3], N_RULES, 0, INT64_MAX));
    w->n_documents = rule[0];
    w->tokens = rule[1];
    w->weighting = rule[2];
    w->idf = rule[3];
    w->lemmas = rule[4];
    if (w->n_documents < 1 || w->tokens > 2 || w->weighting > 2 || w->idf > 1 || w->lemmas > 1)
        TRY(stream_fail(z->s, "the array '%s' contains invalid settings", names[3]));
done:
    mem_free(z->ctx, rule);
    return status;
}

static ddsc_status read_masses(archive *z, measures_words *w)
{
    CHECK(archive_open_array(z, names[4], 1));
    if (z->array.count != w->n)
        return stream_fail(z->member, "has %lld elements instead of %lld",
                           (long long)z->array.count, (long long)w->n);
    CHECK(npy_read_doubles(z->ctx, &w->mass, z->member, &z->array));
    for (int64_t k = 0; k < w->n; k++)
        if (!(w->mass[k] >= 0 && isfinite(w->mass[k])))
            return stream_fail(z->member, "element %lld is negative or not finite", (long long)k);
    return archive_close_array(z);
}

static ddsc_status read_phrases(archive *z, measures_words *w)
{
    if (!archive_has(z, names[5]))
        return DDSC_OK;
    CHECK(archive_open_array(z, names[5], 1));
    if (z->array.count < 1)
        return stream_fail(z->member, "is empty");
    w->phrases.n = z->array.count;
    return archive_read_strings(z, &w->phrases.text, &w->phrases.at);
}

ddsc_status archive_read_words(archive *z, measures_words *out)
{
    int n_there = 0;
    for (int k = 0; k < 4; k++)
        n_there += archive_has(z, names[k]);
    if (n_there == 0)
        return DDSC_OK;
    if (n_there < 4)
        return stream_fail(z->s, "has some of the arrays %s, %s, %s and %s, but not all", names[0],
                           names[1], names[2], names[3]);
    CHECK(read_texts(z, out));
    CHECK(read_word_vectors(z, out));
    CHECK(read_rules(z, out));
    CHECK(read_counts(z, &out->df, names[2], out->n, 1, out->n_documents));
    if (out->weighting == DDSC_WEIGHTING_AUTO)
        CHECK(read_masses(z, out));
    return read_phrases(z, out);
}

ddsc_status npz_read_words(ddsc_context *ctx, measures_words *out, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    archive z;
    TRY(archive_open(ctx, &z, s));
    TRY(archive_read_words(&z, out));
done:
    archive_close(&z);
    return status;
}

static const char *const count_names[] = {"count_words", "count_offsets", "count_indices",
                                          "count_values"};

/* ---- writing counts, without the rows of dropped items ---- */

static const char *counted_word(const void *arg, int64_t i)
{
    const measures_counts *c = arg;
    return texts_get(&c->words, i);
}

ddsc_status npz_add_counts(npz_writer *z, const measures *m)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = npz_writer_context(z);
    measures_counts c = {0};
    int64_t n_offsets = m->n + 1;
    if (m->counts.words.n == 0)
        return DDSC_OK;
    TRY(measures_counts_pick(ctx, &c, &m->counts, m->n, NULL, m->row));
    TRY(npz_add_strings(z, count_names[0], counted_word, &c, c.n_words));
    TRY(npz_writer_add(z, count_names[1], NPY_INT8, 1, &n_offsets, 8, NULL, c.offset));
    TRY(npz_writer_add(z, count_names[2], NPY_INT4, 1, &c.offset[m->n], 4, NULL, c.word));
    TRY(npz_writer_add(z, count_names[3], NPY_INT4, 1, &c.offset[m->n], 4, NULL, c.count));
done:
    measures_counts_free(ctx, &c);
    return status;
}

/* ---- reading counts ---- */

static ddsc_status check_distinct(archive *z, const measures_texts *words)
{
    ddsc_status status = DDSC_OK;
    text_table table = {0};
    for (int64_t w = 0; w < words->n; w++) {
        const char *text = texts_get(words, w);
        int64_t number;
        bool is_new;
        TRY(text_table_add(z->ctx, &table, text, strlen(text), &number, &is_new));
        if (!is_new)
            TRY(stream_fail(z->s, "%s lists \"%s\" twice", count_names[0], QUOTE(text)));
    }
done:
    text_table_free(z->ctx, &table);
    return status;
}

static ddsc_status read_counted_words(archive *z, measures_counts *c)
{
    CHECK(archive_open_array(z, count_names[0], 1));
    if (z->array.count < 1 || z->array.count > INT32_MAX)
        return stream_fail(z->member, "has %lld elements", (long long)z->array.count);
    c->n_words = c->words.n = z->array.count;
    CHECK(archive_read_strings(z, &c->words.text, &c->words.at));
    return check_distinct(z, &c->words);
}

static ddsc_status read_count_offsets(archive *z, measures_counts *c, int64_t n)
{
    CHECK(archive_open_array(z, count_names[1], 1));
    if (z->array.count != n + 1)
        return stream_fail(z->member, "has %lld elements for %lld items", (long long)z->array.count,
                           (long long)n);
    CHECK(npy_read_integers(z->ctx, &c->offset, z->member, &z->array));
    c->n_rows = n;
    for (int64_t i = 0; i <= n; i++)
        if (c->offset[i] < (i ? c->offset[i - 1] : 0) || c->offset[0] != 0)
            return stream_fail(
                z->member,
                "element %lld is %lld, but offsets must begin with 0 and must not decrease",
                (long long)i, (long long)c->offset[i]);
    return archive_close_array(z);
}

/* Reads the array `name`, which has one integer per entry, and checks that each integer is at least
 * `low` and less than `most`. */
static ddsc_status read_entries(archive *z, int32_t **out, const char *name, int64_t n_entries,
                                int64_t low, int64_t most)
{
    CHECK(archive_open_array(z, name, 1));
    if (z->array.count != n_entries)
        return stream_fail(z->member, "has %lld elements instead of %lld",
                           (long long)z->array.count, (long long)n_entries);
    CHECK(npy_read_indices(z->ctx, out, z->member, &z->array));
    for (int64_t e = 0; e < n_entries; e++)
        if ((*out)[e] < low || (*out)[e] >= most)
            return stream_fail(z->member, "element %lld is %lld, which is out of range",
                               (long long)e, (long long)(*out)[e]);
    return archive_close_array(z);
}

static ddsc_status check_ascending(const archive *z, const measures_counts *c)
{
    for (int64_t i = 0; i < c->n_rows; i++)
        for (int64_t e = c->offset[i] + 1; e < c->offset[i + 1]; e++)
            if (c->word[e] <= c->word[e - 1])
                return stream_fail(z->s, "the words of item %lld in %s are not ascending",
                                   (long long)i, count_names[2]);
    return DDSC_OK;
}

ddsc_status archive_read_counts(archive *z, measures_counts *out, int64_t n)
{
    int n_there = 0;
    for (int k = 0; k < 4; k++)
        n_there += archive_has(z, count_names[k]);
    if (n_there == 0)
        return DDSC_OK;
    if (n_there < 4)
        return stream_fail(z->s, "has some of the arrays %s, %s, %s and %s, but not all",
                           count_names[0], count_names[1], count_names[2], count_names[3]);
    CHECK(read_counted_words(z, out));
    CHECK(read_count_offsets(z, out, n));
    CHECK(read_entries(z, &out->word, count_names[2], out->offset[n], 0, out->n_words));
    CHECK(read_entries(z, &out->count, count_names[3], out->offset[n], 1, INT32_MAX));
    return check_ascending(z, out);
}

/* ---- memberships ---- */

ddsc_status npz_add_memberships(npz_writer *z, const ddsc_model *m)
{
    const word_mixture *mix = &m->mixture;
    const double softness[2] = {m->softness, mix->softness};
    int64_t two = 2, shape[2] = {mix->n_words, mix->k};
    if (m->softness > 0)
        CHECK(npz_writer_add(z, "softness", NPY_FLOAT8, 1, &two, 8, NULL, softness));
    /* The words of a private set are not stored, so its mixture could not be applied to new
     * documents. */
    if (mix->n_words == 0 || m->items->counts.words.n == 0)
        return DDSC_OK;
    CHECK(npz_writer_add(z, "mixture_words", NPY_INT4, 1, &mix->n_words, 4, NULL, mix->word));
    CHECK(npz_writer_add(z, "mixture_theta", NPY_FLOAT8, 2, shape, 8, NULL, mix->theta));
    return npz_writer_add(z, "mixture_share", NPY_FLOAT8, 1, &mix->k, 8, NULL, mix->share);
}

static ddsc_status read_exactly(archive *z, double **out, const char *name, int64_t n)
{
    CHECK(archive_open_array(z, name, 1));
    if (z->array.count != n)
        return stream_fail(z->member, "has %lld elements instead of %lld",
                           (long long)z->array.count, (long long)n);
    CHECK(npy_read_doubles(z->ctx, out, z->member, &z->array));
    return archive_close_array(z);
}

static ddsc_status read_mixture(archive *z, word_mixture *mix, int64_t k)
{
    int64_t rows;
    if (!archive_has(z, "mixture_theta") || !archive_has(z, "mixture_share"))
        return stream_fail(z->s, "has mixture_words, but not both mixture_theta and mixture_share");
    CHECK(archive_open_array(z, "mixture_words", 1));
    if (z->array.count < 1)
        return stream_fail(z->member, "is empty");
    mix->n_words = z->array.count;
    CHECK(npy_read_indices(z->ctx, &mix->word, z->member, &z->array));
    CHECK(archive_close_array(z));
    CHECK(archive_read_table(z, "mixture_theta", &mix->theta, &rows, &mix->k));
    if (rows != mix->n_words || mix->k != k)
        return stream_fail(z->s, "mixture_theta has the shape (%lld, %lld) instead of (%lld, %lld)",
                           (long long)rows, (long long)mix->k, (long long)mix->n_words,
                           (long long)k);
    return read_exactly(z, &mix->share, "mixture_share", k);
}

ddsc_status archive_read_memberships(archive *z, ddsc_model *m)
{
    ddsc_status status = DDSC_OK;
    double *softness = NULL;
    if (!archive_has(z, "softness"))
        return DDSC_OK;
    TRY(read_exactly(z, &softness, "softness", 2));
    m->softness = softness[0];
    if (archive_has(z, "mixture_words")) {
        m->mixture.softness = softness[1];
        TRY(read_mixture(z, &m->mixture, m->k));
    }
done:
    mem_free(z->ctx, softness);
    return status;
}

/* ---- transforms ---- */

static const char *nth_text(const void *arg, int64_t k)
{
    return texts_get(arg, k);
}

ddsc_status npz_add_recipe(npz_writer *z, const measures_recipe *r)
{
    int64_t shape[2] = {r->n, 3};
    if (r->n == 0)
        return DDSC_OK;
    CHECK(npz_writer_add(z, "transform_steps", NPY_INT8, 2, shape, 8, NULL, r->step));
    CHECK(npz_writer_add(z, "transform_values", NPY_FLOAT8, 1, &r->n_values, 8, NULL, r->value));
    if (r->inputs.n > 0)
        CHECK(npz_add_strings(z, "transform_inputs", nth_text, &r->inputs, r->inputs.n));
    if (r->batches.n > 0)
        CHECK(npz_add_strings(z, "transform_batches", nth_text, &r->batches, r->batches.n));
    return DDSC_OK;
}

static ddsc_status read_steps(archive *z, measures_recipe *r)
{
    CHECK(archive_open_array(z, "transform_steps", 2));
    if (z->array.shape[1] != 3 || z->array.shape[0] < 1 || z->array.shape[0] > 64)
        return stream_fail(z->member, "has the shape %s", NPY_SHAPE(&z->array));
    r->n = z->array.shape[0];
    CHECK(npy_read_integers(z->ctx, &r->step, z->member, &z->array));
    return archive_close_array(z);
}

static ddsc_status read_values(archive *z, measures_recipe *r)
{
    CHECK(archive_open_array(z, "transform_values", 1));
    r->n_values = z->array.count;
    CHECK(npy_read_doubles(z->ctx, &r->value, z->member, &z->array));
    CHECK(archive_close_array(z));
    for (int64_t k = 0; k < r->n_values; k++)
        if (!isfinite(r->value[k]))
            return stream_fail(z->s, "element %lld of transform_values is not finite",
                               (long long)k);
    return DDSC_OK;
}

ddsc_status archive_read_recipe(archive *z, measures_recipe *r, int64_t d)
{
    int64_t n_batches = 0;
    if (!archive_has(z, "transform_steps"))
        return DDSC_OK;
    if (!archive_has(z, "transform_values"))
        return stream_fail(z->s, "has transform_steps but no transform_values");
    CHECK(read_steps(z, r));
    CHECK(read_values(z, r));
    int64_t before = recipe_dimension(r, d);
    if (before < 1)
        return stream_fail(z->s, "its transforms do not match points with %lld coordinates",
                           (long long)d);
    CHECK(archive_read_names(z, &r->inputs, "transform_inputs", before, "coordinates"));
    for (int64_t k = 0; k < r->n; k++)
        if (r->step[3 * k] == RECIPE_BATCH) {
            if (n_batches > 0)
                return stream_fail(z->s, "its transforms contain more than one batch step");
            n_batches = r->step[3 * k + 1];
        }
    return n_batches == 0 ? DDSC_OK
                          : archive_read_names(z, &r->batches, "transform_batches", n_batches + 1,
                                               "batches and their column");
}
