/* Evaluates mixtures of words. */
#include "cluster/spectral/mixture.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

ddsc_status mixture_own_code(ddsc_context *ctx, int32_t **code, const word_mixture *mix, int64_t n)
{
    CHECK(MEM_NEW(ctx, *code, n));
    for (int64_t w = 0; w < n; w++)
        (*code)[w] = -1;
    for (int64_t w = 0; w < mix->n_words; w++)
        (*code)[mix->word[w]] = (int32_t)w;
    return DDSC_OK;
}

ddsc_status mixture_code(ddsc_context *ctx, int32_t **code, const word_mixture *mix,
                         const measures_texts *words, const measures_counts *counts)
{
    ddsc_status status = DDSC_OK;
    text_table table = {0};
    int64_t number;
    bool is_new;
    for (int64_t w = 0; w < mix->n_words; w++) {
        const char *text = texts_get(words, mix->word[w]);
        TRY(text_table_add(ctx, &table, text, strlen(text), &number, &is_new));
    }
    TRY(MEM_NEW(ctx, *code, counts->n_words));
    for (int64_t w = 0; w < counts->n_words; w++) {
        const char *text = texts_get(&counts->words, w);
        (*code)[w] = (int32_t)text_table_find(&table, text, strlen(text));
    }
done:
    text_table_free(ctx, &table);
    return status;
}

static ddsc_status log_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    mixture_scorer *s = arg;
    (void)worker;
    for (int64_t p = begin * s->k; p < end * s->k; p++)
        s->log_theta[p] = log(s->log_theta[p]);
    return DDSC_OK;
}

ddsc_status mixture_open(ddsc_context *ctx, mixture_scorer *s, const word_mixture *mix,
                         const measures_counts *counts, const int32_t *code)
{
    *s = (mixture_scorer){.k = mix->k, .counts = counts, .code = code};
    CHECK(MEM_NEW(ctx, s->log_share, mix->k));
    CHECK(MEM_COPY(ctx, s->log_theta, mix->theta, mix->n_words * mix->k));
    for (int64_t c = 0; c < mix->k; c++)
        s->log_share[c] = log(mix->share[c]);
    return parallel_for(ctx, mix->n_words, 256, log_rows, s);
}

void mixture_close(ddsc_context *ctx, mixture_scorer *s)
{
    MEM_FREE(ctx, s->log_theta, s->log_share);
}

int64_t mixture_score(const mixture_scorer *s, double *score, int64_t row)
{
    int64_t n_occurrences = 0;
    memcpy(score, s->log_share, (size_t)s->k * sizeof *score);
    for (int64_t e = s->counts->offset[row]; e < s->counts->offset[row + 1]; e++) {
        int32_t word = s->code[s->counts->word[e]];
        if (word < 0)
            continue;
        const double *log_theta = s->log_theta + word * s->k;
        double count = s->counts->count[e];
        for (int64_t c = 0; c < s->k; c++)
            score[c] += count * log_theta[c];
        n_occurrences += s->counts->count[e];
    }
    return n_occurrences;
}
