/* Describes each event of a comparison in one sentence. */
#include <stdarg.h>
#include <stdio.h>

#include "assess/identity/identity.h"

enum { FIRST_WORDS = 320, WORDS_PER_PART = 96 };

typedef struct sentence {
    char *text;
    size_t used, size;
} sentence;

__attribute__((format(printf, 2, 3))) static void say(sentence *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(s->text + s->used, s->size - s->used, format, arguments);
    va_end(arguments);
    s->used = BASE_MIN(s->used + (size_t)BASE_MAX(length, 0), s->size - 1);
}

/* Adds the clusters of the other result, for example "2 (110 of its 115) and 11 (70 of its 90)", or
 * "2 (110) and 11 (70)" without totals. */
static void add_parts(sentence *s, const ddsc_identity_event *e, bool totals)
{
    for (int64_t p = 0; p < e->n_parts; p++) {
        say(s, "%s%lld (",
            p == 0               ? ""
            : p + 1 < e->n_parts ? ", "
                                 : " and ",
            (long long)e->parts[p]);
        if (totals)
            say(s, "%lld of its %lld)", (long long)e->common[p], (long long)e->of[p]);
        else
            say(s, "%lld)", (long long)e->common[p]);
    }
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static void add_same(sentence *s, const ddsc_identity_event *e)
{
    if (e->n_parts == 0)
        return;
    if (e->parts[0] == e->cluster)
        say(s, "cluster %lld stays: ", (long long)e->cluster);
    else
        say(s, "cluster %lld is the former cluster %lld: ", (long long)e->cluster,
            (long long)e->parts[0]);
    say(s, "%lld common item%s, out of %lld before and %lld now, overlap %.2f",
        (long long)e->common[0], plural(e->common[0]), (long long)e->of[0], (long long)e->n_shared,
        e->overlap);
}

static void add_new(sentence *s, const ddsc_identity_event *e)
{
    int64_t added = e->size - e->n_shared;
    say(s, "cluster %lld is new: %lld item%s", (long long)e->cluster, (long long)e->size,
        plural(e->size));
    if (added == e->size)
        say(s, ", none of them in the first result");
    else if (added > 0)
        say(s, ", %lld of them not in the first result", (long long)added);
    say(s, e->n_parts == 0 ? "" : added > 0 ? "; the others come from " : ", from ");
    add_parts(s, e, false);
}

static void add_vanished(sentence *s, const ddsc_identity_event *e)
{
    int64_t gone = e->size - e->n_shared;
    say(s, "cluster %lld vanished: ", (long long)e->cluster);
    if (gone == e->size)
        say(s, "none of its %lld item%s are in the second result", (long long)e->size,
            plural(e->size));
    else if (gone > 0)
        say(s, "%lld of its %lld item%s are not in the second result", (long long)gone,
            (long long)e->size, plural(e->size));
    else
        say(s, "its %lld item%s moved", (long long)e->size, plural(e->size));
    say(s, e->n_parts == 0 ? "" : gone > 0 ? "; the others moved to " : " to ");
    add_parts(s, e, false);
}

ddsc_status identity_words(ddsc_context *ctx, char **words, const ddsc_identity_event *e)
{
    sentence s = {.size = FIRST_WORDS + (size_t)e->n_parts * WORDS_PER_PART};
    CHECK(MEM_ZERO(ctx, s.text, s.size));
    *words = s.text;
    switch (e->kind) {
    case DDSC_IDENTITY_SAME: add_same(&s, e); break;
    case DDSC_IDENTITY_SPLIT:
        say(&s, "cluster %lld (%lld shared item%s) split into ", (long long)e->cluster,
            (long long)e->n_shared, plural(e->n_shared));
        add_parts(&s, e, true);
        break;
    case DDSC_IDENTITY_MERGED:
        say(&s, "cluster %lld (%lld shared item%s) merges the former clusters ",
            (long long)e->cluster, (long long)e->n_shared, plural(e->n_shared));
        add_parts(&s, e, true);
        break;
    case DDSC_IDENTITY_NEW: add_new(&s, e); break;
    case DDSC_IDENTITY_VANISHED: add_vanished(&s, e); break;
    }
    return DDSC_OK;
}
