/* Splits a delimited line into fields, in place. Quotes follow RFC 4180. */
#include "io/stream/stream.h"

#include <string.h>

char fields_delimiter(const char *line)
{
    static const char known[] = ",;|";
    int64_t count[3] = {0}, best = 0;
    bool quoted = false;
    for (; *line; line++) {
        const char *found = quoted ? NULL : strchr(known, *line);
        if (*line == '"')
            quoted = !quoted;
        else if (*line == '\t' && !quoted)
            return '\t';
        else if (found)
            count[found - known]++;
    }
    for (int k = 1; k < 3; k++)
        best = count[k] > count[best] ? k : best;
    return known[best];
}

static ddsc_status add_field(ddsc_context *ctx, field_list *list, char *text)
{
    ddsc_status status = MEM_RESERVE(ctx, list->text, &list->capacity, list->n + 1);
    if (status >= 0)
        list->text[list->n++] = text;
    return status;
}

/* Unquotes a field in place. *at points just after the opening quote. Doubled quotes become single
 * ones. */
static ddsc_status take_quoted(io_stream *s, char **at, char delimiter, int64_t column)
{
    char *from = *at, *to = *at;
    for (;; from++) {
        if (*from == '"' && from[1] == '"')
            from++;
        else if (*from == '"')
            break;
        else if (*from == '\0')
            return stream_fail_line(s, ", column %lld: the quote is not closed", (long long)column);
        *to++ = *from;
    }
    for (from++; *from == ' '; from++) {
    }
    if (*from != delimiter && *from != '\0')
        return stream_fail_line(s, ", column %lld: there is text after the closing quote",
                                (long long)column);
    *at = *from ? from + 1 : NULL;
    *to = '\0';
    return DDSC_OK;
}

static void take_plain(char **text, char **at, char delimiter)
{
    char *end = strchr(*text, delimiter);
    char *last = end ? end : *text + strlen(*text);
    *at = end ? end + 1 : NULL;
    while (last > *text && last[-1] == ' ')
        last--;
    *last = '\0';
}

ddsc_status fields_split(ddsc_context *ctx, field_list *list, io_stream *s, char *line,
                         char delimiter)
{
    list->n = 0;
    for (char *at = line; at;) {
        while (*at == ' ')
            at++;
        char *text = at;
        if (*at == '"') {
            text = ++at;
            CHECK(take_quoted(s, &at, delimiter, list->n + 1));
        } else {
            take_plain(&text, &at, delimiter);
        }
        CHECK(add_field(ctx, list, text));
    }
    return DDSC_OK;
}

ddsc_status fields_split_plain(ddsc_context *ctx, field_list *list, char *line, char delimiter)
{
    list->n = 0;
    for (char *at = line; at;) {
        char *end = strchr(at, delimiter);
        if (end)
            *end = '\0';
        CHECK(add_field(ctx, list, at));
        at = end ? end + 1 : NULL;
    }
    return DDSC_OK;
}

void fields_free(ddsc_context *ctx, field_list *list)
{
    mem_free(ctx, list->text);
    *list = (field_list){0};
}
