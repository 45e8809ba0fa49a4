/* Word vectors learned from the documents alone: words with similar contexts get similar vectors.
 *
 * Only words in two or more documents are used. Let c_uv be the number of documents with both u and
 * v, c_u = sum_v c_uv, and c the sum of all c_uv. The positive pointwise mutual information is M_uv
 * = max(0, log(c_uv c / (c_u c_v))) (Bullinaria and Levy 2007). The vectors are the leading
 * eigenvectors of M times sqrt|lambda| (Levy and Goldberg 2014), with rows scaled to length 1. */
#include <math.h>
#include <string.h>

#include "numeric/eigen/eigen.h"
#include "numeric/linalg/linalg.h"
#include "text/text.h"

/* OWN_MOST limits the number of words, because the matrix may be dense for the most common
 * words. */
enum { OWN_MOST = 10000, OWN_DIM = 100, OWN_ROUNDS = 6 };

typedef struct own_job {
    ddsc_context *ctx;
    const corpus *c;
    own_vectors *out;
    int64_t *at;       /* per word: start of its documents */
    int32_t *document; /* documents of each word, ascending */
    double total;
    int32_t **count; /* per worker: number of documents that a word shares with each other word */
    int64_t *offset; /* number of entries in each row; later the start of each row */
    sparse m;
} own_job;

/* ---- selecting words ---- */

/* Selects the most common words and assigns their indices. */
static ddsc_status own_choose(own_job *j)
{
    ddsc_status status = DDSC_OK;
    const corpus *c = j->c;
    own_vectors *o = j->out;
    double *key = NULL;
    int32_t *order = NULL;
    int64_t n = 0;
    TRY(MEM_NEW(j->ctx, o->slot, c->words.n));
    TRY(MEM_NEW(j->ctx, key, c->words.n));
    TRY(MEM_NEW(j->ctx, order, c->words.n));
    for (int64_t w = 0; w < c->words.n; w++) {
        o->slot[w] = -1;
        key[w] = words_fits(c, w) && c->df[w] >= WORDS_DF_LEAST ? -(double)c->df[w] : 0;
    }
    sort_order(order, key, c->words.n);
    for (; n < c->words.n && n < OWN_MOST && key[order[n]] < 0; n++)
        o->slot[order[n]] = 0;
    for (int64_t w = 0, s = 0; w < c->words.n; w++)
        if (o->slot[w] == 0)
            o->slot[w] = (int32_t)s++;
    o->n = n;
done:
    MEM_FREE(j->ctx, key, order);
    return status;
}

/* Computes the documents of each word u, and c_u, the number of other words in these documents. */
static ddsc_status own_index(own_job *j)
{
    const corpus *c = j->c;
    own_vectors *o = j->out;
    CHECK(MEM_ZERO(j->ctx, o->company, o->n));
    CHECK(MEM_ZERO(j->ctx, j->at, o->n + 1));
    for (int64_t w = 0; w < c->words.n; w++)
        if (o->slot[w] >= 0)
            j->at[o->slot[w] + 1] = c->df[w];
    for (int64_t s = 0; s < o->n; s++)
        j->at[s + 1] += j->at[s];
    CHECK(MEM_NEW(j->ctx, j->document, j->at[o->n]));
    for (int64_t i = 0; i < c->n; i++) {
        int64_t n = 0;
        for (int64_t e = c->offset[i]; e < c->offset[i + 1]; e++)
            n += o->slot[c->word[e]] >= 0;
        for (int64_t e = c->offset[i]; e < c->offset[i + 1]; e++) {
            int32_t s = o->slot[c->word[e]];
            if (s < 0)
                continue;
            o->company[s] += (double)(n - 1);
            j->document[j->at[s]++] = (int32_t)i;
        }
        j->total += (double)n * (double)(n - 1);
    }
    for (int64_t s = o->n; s > 0; s--)
        j->at[s] = j->at[s - 1];
    j->at[0] = 0;
    return DDSC_OK;
}

/* ---- the matrix ---- */

/* Processes row s: counts its entries, or writes them if the matrix is allocated. */
static int64_t own_row(const own_job *j, int64_t s, int32_t *count)
{
    const corpus *c = j->c;
    const own_vectors *o = j->out;
    int64_t n = 0, at = j->m.offset ? j->m.offset[s] : 0;
    for (int64_t p = j->at[s]; p < j->at[s + 1]; p++)
        for (int64_t e = c->offset[j->document[p]]; e < c->offset[j->document[p] + 1]; e++)
            if (o->slot[c->word[e]] >= 0)
                count[o->slot[c->word[e]]]++;
    count[s] = 0;
    for (int64_t t = 0; t < o->n; t++) {
        double together = count[t] * j->total, chance = o->company[s] * o->company[t];
        count[t] = 0;
        if (!(together > chance))
            continue;
        if (j->m.offset) {
            j->m.column[at + n] = (int32_t)t;
            j->m.value[at + n] = log(together / chance);
        }
        n++;
    }
    return n;
}

static ddsc_status own_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    own_job *j = arg;
    for (int64_t s = begin; s < end; s++) {
        int64_t n = own_row(j, s, j->count[worker]);
        if (!j->m.offset)
            j->offset[s + 1] = n;
    }
    progress_add(j->ctx, end - begin);
    return DDSC_OK;
}

/* Processes the rows twice. The first pass determines their lengths. */
static ddsc_status own_matrix(own_job *j)
{
    int64_t n = j->out->n;
    CHECK(MEM_ZERO(j->ctx, j->count, parallel_width(j->ctx)));
    for (int w = 0; w < parallel_width(j->ctx); w++)
        CHECK(MEM_ZERO(j->ctx, j->count[w], n));
    CHECK(MEM_ZERO(j->ctx, j->offset, n + 1));
    progress_begin(j->ctx, "word co-occurrences", 2 * n);
    CHECK(parallel_for(j->ctx, n, 16, own_rows, j));
    for (int64_t s = 0; s < n; s++)
        j->offset[s + 1] += j->offset[s];
    CHECK(sparse_new(j->ctx, &j->m, n, j->offset[n]));
    memcpy(j->m.offset, j->offset, (size_t)(n + 1) * sizeof *j->offset);
    CHECK(parallel_for(j->ctx, n, 16, own_rows, j));
    progress_end(j->ctx);
    return DDSC_OK;
}

/* ---- the vectors ---- */

static double row_square(const sparse *m, int64_t row)
{
    double sum = 0;
    for (int64_t p = m->offset[row]; p < m->offset[row + 1]; p++)
        sum += m->value[p] * m->value[p];
    return sum;
}

static ddsc_status own_solve(own_job *j)
{
    ddsc_status status = DDSC_OK;
    own_vectors *o = j->out;
    eigen_result found = {0};
    if (j->m.nnz == 0)
        return DDSC_OK;
    TRY(eigen_leading(j->ctx, &found, &j->m, BASE_MIN(OWN_DIM, o->n), OWN_ROUNDS));
    o->dim = found.k;
    o->point = found.vector;
    found.vector = NULL;
    TRY(MEM_ZERO(j->ctx, o->common, o->n));
    for (int64_t s = 0; s < o->n; s++) {
        double *x = o->point + s * o->dim;
        for (int64_t k = 0; k < o->dim; k++)
            x[k] *= sqrt(fabs(found.value[k]));
        for (int64_t k = 0; k < o->dim; k++)
            o->common[s] += fabs(found.value[k]) * x[k] * x[k];
        double length = la_norm(o->dim, x), whole = row_square(&j->m, s);
        o->common[s] = whole > 0 ? fmin(o->common[s] / whole, 1) : 0;
        bool alone = j->m.offset[s + 1] == j->m.offset[s] || !(length > 0);
        o->n_placed += !alone;
        for (int64_t k = 0; k < o->dim; k++)
            x[k] = alone ? 0 : x[k] / length;
    }
done:
    eigen_free(j->ctx, &found);
    return status;
}

ddsc_status words_own(ddsc_context *ctx, own_vectors *out, const corpus *c)
{
    ddsc_status status = DDSC_OK;
    own_job j = {.ctx = ctx, .c = c, .out = out};
    TRY(own_choose(&j));
    TRY(own_index(&j));
    TRY(own_matrix(&j));
    TRY(own_solve(&j));
done:
    for (int w = 0; j.count && w < parallel_width(ctx); w++)
        mem_free(ctx, j.count[w]);
    MEM_FREE(ctx, j.count, j.at, j.document, j.offset);
    sparse_free(ctx, &j.m);
    return status;
}

void words_free_own(ddsc_context *ctx, own_vectors *o)
{
    MEM_FREE(ctx, o->slot, o->company, o->common, o->point);
    *o = (own_vectors){0};
}
