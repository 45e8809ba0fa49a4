/* explain: code shared by the explanations of clusters by words and by coordinates. */
#ifndef DDSC_REPORT_TRAITS_EXPLAIN_H
#define DDSC_REPORT_TRAITS_EXPLAIN_H

#include "report/traits/traits.h"

typedef struct finding {
    int64_t which;
    double value, here, elsewhere; /* value used for ranking; mean in the cluster and in the
                                    * other items */
} finding;

/* Inserts f into the list of the `most` findings with the largest |value|. Ties keep their
 * order. *n is the current length of the list. */
void traits_keep_finding(finding *best, int *n, int most, finding f);
ddsc_status traits_explain_words(ddsc_report *r);

/* ---- words of clusters ---- */

typedef struct result_word {
    const char *text;
    size_t length;
} result_word;

typedef struct result_phrase {
    int64_t a, b; /* its words */
    const char *text;
} result_phrase;

/* Words are numbered from 0 to n_words - 1, and phrases from n_words to n - 1. */
typedef struct word_counts {
    int64_t n, n_words, n_phrases, n_items;
    result_word *word;     /* n */
    result_phrase *phrase; /* n_phrases; sorted by the first word */
    int64_t *first;        /* n_words + 1: first phrase that begins with each word */
    double *mass;          /* k x n: sum of the shares over the items of a cluster */
    double *all;           /* n: sum over all items */
    int32_t *items;        /* k x n: number of items of the cluster that contain the word */
    bool *skipped;         /* n: function words */
    const int64_t *size;   /* k: items of each cluster */
    int64_t *seen;         /* n: last item that was counted, plus 1 */
    double *own;           /* n_words: mass in that item */
} word_counts;

/* The arguments for choosing words whose share is larger in a cluster than in all other items, or
 * than in one other cluster. */
typedef struct word_contrast {
    int64_t cluster, other; /* other: the nearest cluster, or -1 */
    bool only_other;
} word_contrast;

/* Chooses at most `most` words and phrases, the best one first. Returns their number. */
int traits_choose_words(finding *best, int most, const word_counts *w, word_contrast contrast);
/* Returns true for English function words. */
bool traits_is_function_word(const char *word, size_t length);

#endif
