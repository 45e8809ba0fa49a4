/* Chooses the words that describe a cluster.
 *
 * Words are ranked by their term p log(p / q) in the Kullback-Leibler divergence of the cluster's
 * mean from a mixture: one half of the mixture is the mean of all other items, and the other half
 * is the mean of the nearest cluster, so that the words also distinguish the cluster from its
 * neighbor. p and q are smoothed by 1 / (number of words).
 *
 * Function words are skipped in two ways. First, a word is skipped if its share in the cluster is
 * less than LEAST_LIFT times its share in the other items. This rule works in every language, but
 * it does not exclude some English pronouns ("he" in sports news). Second, words of English
 * documents are therefore skipped if they are in a list (function_words.c).
 *
 * A phrase replaces a word if most items of the cluster that contain the word contain the phrase.
 * Words that differ from a chosen word only in case or a plural ending, and words of chosen
 * phrases, are skipped. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "report/traits/explain.h"

enum {
    N_CANDIDATES = 64,
    FEWEST = 3, /* number of words that are shown even if their shares differ little */
    RARE = 3    /* a phrase is rare if fewer than one in three items with the word contain it */
};

static const double LEAST_LIFT = 2;
/* Smaller relative differences between shares are rounding errors and are treated as 0. */
static const double SAME = 1e-9;

/* ---- near-duplicates ---- */

static bool same_letters(const char *a, const char *b, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (tolower((unsigned char)a[k]) != tolower((unsigned char)b[k]))
            return false;
    return true;
}

static bool has_ending(result_word w, const char *ending)
{
    size_t n = strlen(ending);
    return w.length >= n && same_letters(w.text + w.length - n, ending, n);
}

/* Returns true if `more` is the plural of `one`: + s, + es, or ies instead of y. */
static bool is_plural(result_word one, result_word more)
{
    if (one.length < 3 || more.length <= one.length)
        return false;
    if (has_ending(one, "y") && has_ending(more, "ies") && more.length == one.length + 2)
        return same_letters(one.text, more.text, one.length - 1);
    bool ending = more.length == one.length + 1
                      ? has_ending(more, "s")
                      : more.length == one.length + 2 && has_ending(more, "es");
    return ending && same_letters(one.text, more.text, one.length);
}

static bool same_word(result_word a, result_word b)
{
    if (a.length == b.length)
        return same_letters(a.text, b.text, a.length);
    return is_plural(a, b) || is_plural(b, a);
}

/* Returns word 0 or 1 of a phrase, or the word itself. */
static result_word part_of(const word_counts *w, int64_t which, int part)
{
    if (which < w->n_words)
        return w->word[which];
    const result_phrase *f = &w->phrase[which - w->n_words];
    return w->word[part ? f->b : f->a];
}

/* Returns true if the two words or phrases have a word in common. */
static bool overlap(const word_counts *w, int64_t x, int64_t y)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (same_word(part_of(w, x, i), part_of(w, y, j)))
                return true;
    return false;
}

/* ---- ranking ---- */

/* Computes the value of a word, and its shares in the cluster and elsewhere. The value is 0 if the
 * word does not distinguish the cluster. */
static finding contrast_word(const word_counts *w, word_contrast s, int64_t which,
                             double least_lift)
{
    int64_t size = w->size[s.cluster], at = s.cluster * w->n + which;
    double p = w->mass[at] / (double)size, smooth = 1 / (double)w->n_words;
    double rest = fmax(w->all[which] - w->mass[at], 0) / (double)(w->n_items - size);
    double near = s.other < 0 ? rest : w->mass[s.other * w->n + which] / (double)w->size[s.other];
    double q = s.only_other ? near : (rest + near) / 2;
    finding f = {which, 0, p, s.only_other ? near : rest};
    bool once = w->items[at] < 2 && size > 2;
    if (w->skipped[which] || once || p - q <= SAME * p || p - f.elsewhere <= SAME * p ||
        p < least_lift * f.elsewhere)
        return f;
    f.value = p * log((p + smooth) / (q + smooth));
    return f;
}

static int rank_words(finding *best, const word_counts *w, word_contrast s, double least_lift)
{
    int n = 0;
    for (int64_t k = 0; k < w->n_words; k++) {
        finding f = contrast_word(w, s, k, least_lift);
        if (f.value > 0)
            traits_keep_finding(best, &n, N_CANDIDATES, f);
    }
    return n;
}

/* ---- phrases ---- */

/* Returns the phrase that most items of the cluster with this word contain, or the word. */
static finding phrase_of(const word_counts *w, word_contrast s, finding f, double least_lift)
{
    const int32_t *items = w->items + s.cluster * w->n;
    finding best = f;
    int32_t most = 0;
    for (int64_t k = 0; k < w->n_phrases; k++) {
        int64_t which = w->n_words + k;
        if ((w->phrase[k].a != f.which && w->phrase[k].b != f.which) || items[which] <= most ||
            2 * items[which] < items[f.which])
            continue;
        finding found = contrast_word(w, s, which, least_lift);
        if (found.value <= 0)
            continue;
        best = found;
        most = items[which];
    }
    return best;
}

/* Returns the index of the first choice that has a word in common with the given one, or n. */
static int find_overlap(const finding *best, int from, int n, const word_counts *w, int64_t which)
{
    while (from < n && !overlap(w, best[from].which, which))
        from++;
    return from;
}

/* Replaces a chosen word with a phrase that contains it, and removes other choices that contain
 * words of the phrase. */
static void replace_choice(finding *best, int *n, int at, const word_counts *w, finding f)
{
    best[at] = f;
    for (int k = find_overlap(best, at + 1, *n, w, f.which); k < *n;
         k = find_overlap(best, k, *n, w, f.which)) {
        memmove(best + k, best + k + 1, (size_t)(*n - k - 1) * sizeof *best);
        (*n)--;
    }
}

/* Adds a word, or the phrase that most items with the word contain. The phrase may replace a chosen
 * word if it is not rare among the items with this word. */
static void add_choice(finding *best, int *n, int most, const word_counts *w, word_contrast s,
                       finding word, finding phrase)
{
    const int32_t *items = w->items + s.cluster * w->n;
    int at = find_overlap(best, 0, *n, w, phrase.which);
    if (phrase.which != word.which && at < *n) {
        int64_t chosen = best[at].which;
        if (chosen < w->n_words && RARE * items[phrase.which] >= items[chosen]) {
            replace_choice(best, n, at, w, phrase);
            return;
        }
        phrase = word;
    }
    if (find_overlap(best, 0, *n, w, phrase.which) == *n && *n < most)
        best[(*n)++] = phrase;
}

int traits_choose_words(finding *best, int most, const word_counts *w, word_contrast s)
{
    finding ranked[N_CANDIDATES];
    int n = 0;
    for (int round = 0; round < 2 && n < FEWEST; round++) {
        double least_lift = round == 0 ? LEAST_LIFT : 1;
        int n_ranked = rank_words(ranked, w, s, least_lift);
        for (int i = 0; i < n_ranked && n < (round == 0 ? most : FEWEST); i++)
            add_choice(best, &n, round == 0 ? most : FEWEST, w, s, ranked[i],
                       phrase_of(w, s, ranked[i], least_lift));
    }
    return n;
}
