/* Defines the default text settings, and validates settings. */
#include "text/text.h"

#include <string.h>

#include "base/paper.h"
#include "base/sized.h"

static const ddsc_text_settings defaults = {.tokens = DDSC_TOKENS_WORDS,
                                            .weighting = DDSC_WEIGHTING_AUTO,
                                            .idf = DDSC_IDF_PLAIN,
                                            .support = DDSC_TEXT_SUPPORT_AUTO,
                                            .on_empty = DDSC_EMPTY_DROP,
                                            .max_bytes = STREAM_DEFAULT_MAX_BYTES,
                                            .words = DDSC_WORDS_FITTED};
SIZED_INIT(settings_struct, ddsc_text_settings, support, &defaults);

static ddsc_status check_text_choice(ddsc_context *ctx, const char *name, int value, int n)
{
    if (value >= 0 && value < n)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "text settings: %s is %d, which is out of range",
                    name, value);
}

static ddsc_status check_text_settings(ddsc_context *ctx, const ddsc_text_settings *set)
{
    CHECK(check_text_choice(ctx, "tokens", (int)set->tokens, 3));
    CHECK(check_text_choice(ctx, "weighting", (int)set->weighting, 3));
    CHECK(check_text_choice(ctx, "idf", (int)set->idf, 2));
    CHECK(check_text_choice(ctx, "on_empty", (int)set->on_empty, 2));
    CHECK(check_text_choice(ctx, "words", (int)set->words, 3));
    if (set->support < 0 && set->support != DDSC_TEXT_SUPPORT_AUTO)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "text settings: support is %lld; it must be >= 0, or -1 (automatic)",
                        (long long)set->support);
    if (set->max_bytes < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "text settings: max_bytes is %lld; it must be >= 1",
                        (long long)set->max_bytes);
    if (set->where && (set->where[0] == '=' || !strchr(set->where, '=')))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "where \"%.100s\" is not COLUMN=VALUE",
                        set->where);
    return DDSC_OK;
}

ddsc_status corpus_settings_take(ddsc_context *ctx, ddsc_text_settings *own,
                                 const ddsc_text_settings *given)
{
    CHECK(sized_take(ctx, &settings_struct, own, given));
    if (own->paper)
        CHECK(paper_apply(ctx, PAPER_TEXT, own));
    return check_text_settings(ctx, own);
}
