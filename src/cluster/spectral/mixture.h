/* mixture: evaluates a mixture of multinomial distributions over words. The score of a document for
 * cluster k is log share_k + sum over its words w of count_w log theta_wk. */
#ifndef DDSC_CLUSTER_SPECTRAL_MIXTURE_H
#define DDSC_CLUSTER_SPECTRAL_MIXTURE_H

#include "data/model.h"

/* Logarithms of the mixture's parameters, and the words of a set of documents. */
typedef struct mixture_scorer {
    int64_t k;
    const measures_counts *counts;
    const int32_t *code; /* one per counted word of the set: index in the mixture, or -1 */
    double *log_share;   /* k */
    double *log_theta;   /* n_words x k */
} mixture_scorer;

/* Sets code[i] to the index of counted word i in the mixture, or to -1, for the n counted words of
 * the fitted set. */
ddsc_status mixture_own_code(ddsc_context *ctx, int32_t **code, const word_mixture *mix, int64_t n);
/* Does the same for another set, whose words are compared as text with `words`, the counted words
 * of the fitted set. */
ddsc_status mixture_code(ddsc_context *ctx, int32_t **code, const word_mixture *mix,
                         const measures_texts *words, const measures_counts *counts);
/* Computes the logarithms of the parameters. `code` must outlive the scorer. */
ddsc_status mixture_open(ddsc_context *ctx, mixture_scorer *s, const word_mixture *mix,
                         const measures_counts *counts, const int32_t *code);
void mixture_close(ddsc_context *ctx, mixture_scorer *s);
/* Computes the k scores of one document (a row of the counts). Returns how often words of the
 * mixture occur in the document; if they do not occur, the scores are the logarithms of the
 * shares. */
int64_t mixture_score(const mixture_scorer *s, double *score, int64_t row);

#endif
