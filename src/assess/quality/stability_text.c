/* Describes the results of resampling in sentences. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "assess/quality/quality.h"

enum { WORDS_SIZE = 2048 };

__attribute__((format(printf, 3, 4))) static void words_say(char *words, size_t *used,
                                                            const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(words + *used, WORDS_SIZE - *used, format, arguments);
    va_end(arguments);
    *used = BASE_MIN(*used + (size_t)BASE_MAX(length, 0), (size_t)WORDS_SIZE - 1);
}

static void say_theorem(char *words, size_t *used, const ddsc_stability_view *v)
{
    const ddsc_stability_row *w = v->worst;
    if (!v->theorem_vacuous)
        words_say(words, used, " Theorem 1 bounds |sin Theta|_F by %.3g.", w->theorem_bound);
    else if (!(v->gap > 0))
        words_say(words, used,
                  " Theorem 1 does not apply here, because there is no eigengap after K = %lld.",
                  (long long)v->k);
    else if (!(w->zeta < v->alpha))
        words_say(words, used,
                  " Theorem 1 does not apply here, because the largest change in an affinity (zeta "
                  "%.3g) is not below the smallest affinity (alpha %.3g).",
                  w->zeta, v->alpha);
    else
        words_say(words, used,
                  " Theorem 1 gives no information here, because its bound is %.3g and |sin "
                  "Theta|_F never exceeds %.3g.",
                  w->theorem_bound, v->sin_limit);
    if (!v->direct_vacuous)
        words_say(words, used, " The bound computed from the Laplacians is %.3g.", w->direct_bound);
}

ddsc_status stability_words(ddsc_context *ctx, char **words, const ddsc_stability_view *v,
                            bool undetermined)
{
    size_t used = 0;
    CHECK(MEM_ZERO(ctx, *words, WORDS_SIZE));
    words_say(
        *words, &used,
        "%lld resample%s: the ARI between the labels is %.3f on average and %.3f at worst. %lld "
        "of %lld items changed cluster at least once, and %lld did in more than half of the "
        "resamples.",
        (long long)v->n_resamples, v->n_resamples == 1 ? "" : "s", v->mean->ari, v->worst->ari,
        (long long)v->n_ever, (long long)v->n, (long long)v->n_often);
    words_say(*words, &used,
              " |sin Theta|_F of the eigenspaces is %.3g on average and at most %.3g (largest "
              "possible value %.3g).",
              v->mean->sin_theta, v->worst->sin_theta, v->sin_limit);
    if (undetermined)
        words_say(*words, &used,
                  " The graph has more components than clusters, so the eigenspace is not unique "
                  "and this number is not meaningful.");
    say_theorem(*words, &used, v);
    return DDSC_OK;
}
