/* Evaluates a mixture of multinomial distributions over words. The score of a document for cluster
 * k is log share_k + sum over its words w of count_w log theta_wk. */
#ifndef DDSC_CLUSTER_SPECTRAL_MIXTURE_H
#define DDSC_CLUSTER_SPECTRAL_MIXTURE_H

#include "data/model.h"

/* Logarithms of the parameters, and the words of a set of documents. */
typedef struct mixture_scorer {
    int64_t k;
    const measures_counts *counts;
    const int32_t *code; /* one per counted word of the set: index in the mixture, or -1 */
    double *log_share;   /* k */
    double *log_theta;   /* n_words x k */
} mixture_scorer;

/* Computes, for each of the n counted words of the fitted set, its index in the mixture or -1. */
ddsc_status mixture_own_code(ddsc_context *ctx, int32_t **code, const word_mixture *mix, int64_t n);
/* Computes the same for another set. Its words are compared as text with `words`, the counted words
 * of the fitted set. */
ddsc_status mixture_code(ddsc_context *ctx, int32_t **code, const word_mixture *mix,
                         const measures_texts *words, const measures_counts *counts);
/* Computes the logarithms. code must outlive the scorer. */
ddsc_status mixture_open(ddsc_context *ctx, mixture_scorer *s, const word_mixture *mix,
                         const measures_counts *counts, const int32_t *code);
void mixture_close(ddsc_context *ctx, mixture_scorer *s);
/* Computes the scores (k) of a row of the counts. Returns how often words of the mixture occur in
 * it. If this is 0, the scores are those of a document without words. */
int64_t mixture_score(const mixture_scorer *s, double *score, int64_t row);

#endif
