/* Copies and frees mixtures of words, which cluster/ fits and uses. */
#include "data/model.h"

ddsc_status model_copy_mixture(ddsc_context *ctx, word_mixture *to, const word_mixture *from)
{
    ddsc_status status = DDSC_OK;
    word_mixture fresh = {.n_words = from->n_words, .k = from->k, .softness = from->softness};
    if (from->n_words == 0)
        return DDSC_OK;
    TRY(MEM_COPY(ctx, fresh.word, from->word, from->n_words));
    TRY(MEM_COPY(ctx, fresh.theta, from->theta, from->n_words * from->k));
    TRY(MEM_COPY(ctx, fresh.share, from->share, from->k));
    *to = fresh;
    fresh = (word_mixture){0};
done:
    model_free_mixture(ctx, &fresh);
    return status;
}

void model_free_mixture(ddsc_context *ctx, word_mixture *mix)
{
    MEM_FREE(ctx, mix->word, mix->theta, mix->share);
    *mix = (word_mixture){0};
}
