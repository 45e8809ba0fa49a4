/* Reads fcs files of versions 2.0, 3.0 and 3.1 (flow and mass cytometry). Each file is one item.
 * The events are the points, and the channels are the coordinates. The reader supports list mode,
 * types I, F and D, and both byte orders. */
#include "io/format/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADER_SIZE = 58, TEXT_MAX = 1 << 24, CHANNELS_MAX = 1 << 14, CHUNK_BYTES = 1 << 18 };

typedef struct channel {
    const char *name, *stain; /* $PnN and $PnS, "" if missing */
    int width;                /* bytes */
    uint64_t mask;            /* significant bits of integers */
    int64_t at;               /* offset in bytes within an event */
} channel;

typedef struct fcs {
    ddsc_context *ctx;
    io_stream *s;
    int64_t size;
    char *text;      /* the TEXT segment, split into NUL-terminated words */
    text_rows names; /* channel names in UTF-8, alternating $PnN and $PnS */
    text_table key;
    const char **value; /* value of each key */
    int64_t value_capacity;
    int64_t n_channels, n_events, event_bytes, data_begin, data_end;
    char type; /* 'I', 'F' or 'D' */
    bool big_endian;
    channel *channel;
    int64_t *chosen;
    int64_t n_chosen;
} fcs;

/* ---- TEXT segment: a delimiter, then alternating keys and values; a doubled delimiter is literal
 * ---- */

/* Reads one word at *from and writes it to *to without surrounding spaces. The text is edited in
 * place, because *to never exceeds *from. */
static char *cut_word(char **to, const char **from, const char *end, char delimiter)
{
    char *word = *to, *at = *to;
    while (*from < end && **from == ' ' && delimiter != ' ')
        (*from)++;
    for (; *from < end; (*from)++) {
        if (**from == delimiter && (*from + 1 == end || (*from)[1] != delimiter))
            break;
        *from += **from == delimiter;
        *at++ = **from;
    }
    (*from)++;
    *to = at + 1;
    while (at > word && at[-1] == ' ')
        at--;
    *at = '\0';
    return word;
}

/* Splits TEXT into keys and values. Keys are case-insensitive. If a key occurs twice, the first
 * value is used. */
static ddsc_status cut_text(fcs *f, int64_t n)
{
    char delimiter = f->text[0], *to = f->text;
    const char *from = f->text + 1, *end = f->text + n;
    while (from < end) {
        int64_t number;
        bool is_new;
        char *key = cut_word(&to, &from, end, delimiter);
        if (from >= end)
            break;
        char *value = cut_word(&to, &from, end, delimiter);
        for (char *c = key; *c; c++)
            *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
        CHECK(text_table_add(f->ctx, &f->key, key, strlen(key), &number, &is_new));
        CHECK(MEM_RESERVE(f->ctx, f->value, &f->value_capacity, number + 1));
        if (is_new)
            f->value[number] = value;
    }
    return DDSC_OK;
}

static const char *find_value(const fcs *f, const char *key)
{
    int64_t number = text_table_find(&f->key, key, strlen(key));
    return number < 0 ? NULL : f->value[number];
}

/* Parses a number padded with spaces, as in the header. */
static bool parse_padded(const char *text, int64_t *value)
{
    char digits[24];
    size_t n;
    text += strspn(text, " ");
    n = strcspn(text, " ");
    if (n >= sizeof digits || text[n + strspn(text + n, " ")] != '\0')
        return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    return number_parse_integer(digits, value) && *value >= 0;
}

static ddsc_status need_integer(fcs *f, const char *key, int64_t *value)
{
    const char *text = find_value(f, key);
    if (!text)
        return stream_fail(f->s, "the keyword %s is missing", key);
    if (!parse_padded(text, value))
        return stream_fail(f->s, "the keyword %s has the value \"%s\", which is not a number", key,
                           QUOTE(text));
    return DDSC_OK;
}

/* ---- header ---- */

static bool header_offset(const char *head, int field, int64_t *value)
{
    char text[9];
    memcpy(text, head + 10 + 8 * field, 8);
    text[8] = '\0';
    return parse_padded(text, value);
}

static ddsc_status read_text(fcs *f)
{
    char head[HEADER_SIZE];
    int64_t begin, end;
    CHECK(stream_make_random(f->s, &f->size));
    CHECK(stream_read_at(f->s, 0, head, HEADER_SIZE, "the FCS header"));
    if (memcmp(head, "FCS2.0", 6) != 0 && memcmp(head, "FCS3.0", 6) != 0 &&
        memcmp(head, "FCS3.1", 6) != 0)
        return stream_fail(f->s, "is FCS version %.3s; only 2.0, 3.0 and 3.1 are supported",
                           head + 3);
    if (!header_offset(head, 0, &begin) || !header_offset(head, 1, &end) ||
        !header_offset(head, 2, &f->data_begin) || !header_offset(head, 3, &f->data_end))
        return stream_fail(f->s, "the FCS header contains offsets that are not numbers");
    bool overlaps = f->data_begin > begin && end > f->data_begin;
    if (f->data_begin > begin) /* some programs let TEXT end at the first byte of DATA */
        end = overlaps ? end : BASE_MIN(end, f->data_begin - 1);
    int64_t n = end - begin + 1;
    if (begin < HEADER_SIZE || n < 3 || n > TEXT_MAX || end > f->size || overlaps)
        return stream_fail(
            f->s, "the FCS header gives bytes %lld to %lld for the TEXT segment, which is invalid",
            (long long)begin, (long long)end);
    n = BASE_MIN(n, f->size - begin);
    CHECK(mem_get(f->ctx, &f->text, n + 1, 1));
    CHECK(stream_read_at(f->s, begin, f->text, (size_t)n, "the TEXT segment"));
    return cut_text(f, (int64_t)strnlen(f->text, (size_t)n));
}

static ddsc_status check_order(fcs *f)
{
    const char *mode = find_value(f, "$MODE"), *type = find_value(f, "$DATATYPE");
    const char *order = find_value(f, "$BYTEORD");
    if (mode && strcasecmp(mode, "L") != 0)
        return stream_fail(f->s, "$MODE is \"%s\"; only list mode (L) is supported", QUOTE(mode));
    if (!type || strlen(type) != 1 || !strchr("IFD", *type))
        return stream_fail(f->s, "$DATATYPE is \"%s\"; it must be I, F or D",
                           type ? QUOTE(type) : "missing");
    f->type = *type;
    if (!order)
        return stream_fail(f->s, "the keyword $BYTEORD is missing");
    f->big_endian = strcmp(order, "4,3,2,1") == 0 || strcmp(order, "2,1") == 0;
    if (!f->big_endian && strcmp(order, "1,2,3,4") != 0 && strcmp(order, "1,2") != 0)
        return stream_fail(f->s, "$BYTEORD is \"%s\"; it must be 1,2,3,4 or 4,3,2,1", QUOTE(order));
    return DDSC_OK;
}

/* ---- channels ---- */

static ddsc_status set_width(fcs *f, channel *c, int64_t number)
{
    char key[32];
    int64_t bits;
    snprintf(key, sizeof key, "$P%lldB", (long long)number);
    CHECK(need_integer(f, key, &bits));
    bool good = f->type == 'F'   ? bits == 32
                : f->type == 'D' ? bits == 64
                                 : bits > 0 && bits <= 64 && bits % 8 == 0;
    if (!good)
        return stream_fail(f->s, "%s is %lld, which does not match $DATATYPE %c", key,
                           (long long)bits, f->type);
    c->width = (int)(bits / 8);
    return DDSC_OK;
}

/* Sets the mask from $PnR, the number of possible values. Bits beyond those needed for this number
 * are ignored. */
static ddsc_status set_mask(fcs *f, channel *c, int64_t number)
{
    char key[32];
    double range;
    c->mask = UINT64_MAX;
    if (f->type != 'I')
        return DDSC_OK;
    snprintf(key, sizeof key, "$P%lldR", (long long)number);
    const char *text = find_value(f, key);
    if (!text || !number_parse(text, &range) || !(range >= 1))
        return stream_fail(f->s, "%s is \"%s\"; it must be a positive number", key,
                           text ? QUOTE(text) : "missing");
    c->mask = 0;
    while (c->mask != UINT64_MAX && (double)c->mask + 1 < range)
        c->mask = c->mask << 1 | 1;
    return DDSC_OK;
}

static const char *channel_text(const fcs *f, int64_t number, char what)
{
    char key[32];
    snprintf(key, sizeof key, "$P%lld%c", (long long)number, what);
    const char *text = find_value(f, key);
    return text ? text : "";
}

/* Adds the name of a channel. FCS 3.0 and earlier require ASCII, and 3.1 requires UTF-8, but some
 * programs write other encodings. */
static ddsc_status name_channel(fcs *f, int64_t number, char what)
{
    ddsc_status status = DDSC_OK;
    const char *text = channel_text(f, number, what);
    ddsc_encoding encoding = ctx_encoding(f->ctx);
    size_t n = strlen(text);
    char *converted = NULL;
    TRY(mem_get(f->ctx, &converted, 3 * (int64_t)n + 1, 1));
    if (encoding == DDSC_ENCODING_UTF8)
        memcpy(converted, text, n + 1);
    else
        n = text_convert(converted, text, n, encoding);
    if (text_count_chars(converted) < 0)
        TRY(stream_fail(f->s,
                        "$P%lld%c is not UTF-8 text; specify the encoding (--encoding latin1)",
                        (long long)number, what));
    TRY(text_rows_add(&f->names, 2 * (number - 1) + (what == 'S'), converted, n));
done:
    mem_free(f->ctx, converted);
    return status;
}

static ddsc_status read_channels(fcs *f)
{
    CHECK(need_integer(f, "$PAR", &f->n_channels));
    if (f->n_channels < 1 || f->n_channels > CHANNELS_MAX || 4 * f->n_channels > f->size)
        return stream_fail(f->s, "$PAR declares %lld channels, which is not possible",
                           (long long)f->n_channels);
    CHECK(MEM_ZERO(f->ctx, f->channel, f->n_channels));
    for (int64_t k = 0; k < f->n_channels; k++) {
        channel *c = &f->channel[k];
        CHECK(set_width(f, c, k + 1));
        CHECK(set_mask(f, c, k + 1));
        c->at = f->event_bytes;
        f->event_bytes += c->width;
        CHECK(name_channel(f, k + 1, 'N'));
        CHECK(name_channel(f, k + 1, 'S'));
    }
    for (int64_t k = 0; k < f->n_channels; k++) {
        f->channel[k].name = f->names.text + f->names.at[2 * k];
        f->channel[k].stain = f->names.text + f->names.at[2 * k + 1];
    }
    return DDSC_OK;
}

/* Finds a channel by $PnN, by $PnS, or by its number, counted from 1. Returns -1 if there is
 * none. */
static int64_t find_channel(const fcs *f, const char *name)
{
    int64_t number;
    if (!*name)
        return -1;
    for (int64_t k = 0; k < f->n_channels; k++)
        if (strcmp(f->channel[k].name, name) == 0)
            return k;
    for (int64_t k = 0; k < f->n_channels; k++)
        if (strcmp(f->channel[k].stain, name) == 0)
            return k;
    if (number_parse_integer(name, &number) && number >= 1 && number <= f->n_channels)
        return number - 1;
    return -1;
}

static ddsc_status refuse_channel(fcs *f, const char *name)
{
    char list[400] = "";
    size_t at = 0;
    for (int64_t k = 0; k < f->n_channels && at < sizeof list; k++) {
        const channel *c = &f->channel[k];
        const char *shown = *c->stain ? c->stain : c->name;
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", k ? ", " : "", QUOTE(shown));
    }
    return stream_fail(f->s, "has no channel \"%s\" (its channels: %s%s)", QUOTE(name), list,
                       at < sizeof list ? "" : "...");
}

static bool is_pattern(const char *name)
{
    return strpbrk(name, "*?") != NULL;
}

static bool channel_matches(const channel *c, const char *pattern)
{
    return text_glob(pattern, c->name) || (*c->stain && text_glob(pattern, c->stain));
}

static bool is_chosen(const fcs *f, int64_t k)
{
    for (int64_t j = 0; j < f->n_chosen; j++)
        if (f->chosen[j] == k)
            return true;
    return false;
}

static ddsc_status choose_one(void *arg, const char *name)
{
    fcs *f = arg;
    int64_t k = find_channel(f, name), before = f->n_chosen;
    if (k >= 0 && is_chosen(f, k))
        return stream_fail(f->s, "the channel \"%s\" is selected twice", QUOTE(name));
    if (k >= 0)
        f->chosen[f->n_chosen++] = k;
    for (int64_t j = 0; k < 0 && j < f->n_channels; j++)
        if (channel_matches(&f->channel[j], name) && !is_chosen(f, j))
            f->chosen[f->n_chosen++] = j;
    return f->n_chosen > before ? DDSC_OK : refuse_channel(f, name);
}

static ddsc_status drop_one(void *arg, const char *name)
{
    fcs *f = arg;
    int64_t exact = is_pattern(name) ? -1 : find_channel(f, name), kept = 0;
    bool any = false;
    for (int64_t j = 0; j < f->n_channels; j++)
        any = any || j == exact || (exact < 0 && channel_matches(&f->channel[j], name));
    if (!any)
        return refuse_channel(f, name);
    for (int64_t j = 0; j < f->n_chosen; j++) {
        int64_t k = f->chosen[j];
        if (k != exact && (exact >= 0 || !channel_matches(&f->channel[k], name)))
            f->chosen[kept++] = k;
    }
    f->n_chosen = kept;
    return DDSC_OK;
}

static ddsc_status choose_channels(fcs *f, const ddsc_read_settings *set)
{
    const char *wanted = set->channels ? set->channels : set->columns;
    CHECK(MEM_NEW(f->ctx, f->chosen, f->n_channels));
    for (int64_t k = 0; (!wanted || !*wanted) && k < f->n_channels; k++)
        f->chosen[f->n_chosen++] = k;
    if (wanted && *wanted)
        CHECK(text_each_listed(wanted, choose_one, f));
    if (set->drop)
        CHECK(text_each_listed(set->drop, drop_one, f));
    if (f->n_chosen == 0)
        return stream_fail(f->s, "no channel is selected");
    return DDSC_OK;
}

/* ---- data ---- */

/* Finds the DATA segment. Offsets above 99,999,999 are stored in TEXT. Depending on the program
 * that wrote the file, the end offset may be inclusive or exclusive. */
static ddsc_status find_data(fcs *f)
{
    int64_t need;
    if (f->data_begin == 0 || f->data_end == 0) {
        CHECK(need_integer(f, "$BEGINDATA", &f->data_begin));
        CHECK(need_integer(f, "$ENDDATA", &f->data_end));
    }
    if (f->data_begin < HEADER_SIZE || f->data_end > f->size || f->data_end < f->data_begin)
        return stream_fail(f->s,
                           "the DATA segment is at bytes %lld to %lld of %lld, which is invalid",
                           (long long)f->data_begin, (long long)f->data_end, (long long)f->size);
    f->n_events = (f->data_end - f->data_begin + 1) / f->event_bytes;
    if (find_value(f, "$TOT"))
        CHECK(need_integer(f, "$TOT", &f->n_events));
    if (f->n_events == 0)
        return stream_fail(f->s, "contains no events");
    if (!mul_ok(f->n_events, f->event_bytes, &need) || need > f->size - f->data_begin ||
        need > f->data_end - f->data_begin + 1)
        return stream_fail(f->s,
                           "there are %lld events of %lld bytes, but the DATA segment is at bytes "
                           "%lld to %lld of %lld",
                           (long long)f->n_events, (long long)f->event_bytes,
                           (long long)f->data_begin, (long long)f->data_end, (long long)f->size);
    /* One byte may remain, because some programs write the offset after the last byte as the
     * end. */
    if (f->data_end - f->data_begin + 1 - need >= BASE_MAX(f->event_bytes, 2))
        return stream_fail(f->s,
                           "$TOT declares %lld events of %lld bytes, but the DATA segment of %lld "
                           "bytes contains more",
                           (long long)f->n_events, (long long)f->event_bytes,
                           (long long)(f->data_end - f->data_begin + 1));
    return DDSC_OK;
}

static double get_value(const fcs *f, const channel *c, const unsigned char *p)
{
    if (f->type != 'I') {
        double value;
        num_type t = {'f', c->width, f->big_endian == NUM_HOST_LITTLE};
        numbers_to_double(&value, p, 1, t);
        return value;
    }
    uint64_t bits = 0;
    for (int k = 0; k < c->width; k++)
        bits = bits << 8 | p[f->big_endian ? k : c->width - 1 - k];
    return (double)(bits & c->mask);
}

static ddsc_status read_events(fcs *f, double *out, double scale)
{
    ddsc_status status = DDSC_OK;
    unsigned char *bytes = NULL;
    int64_t chunk = BASE_MAX(CHUNK_BYTES / f->event_bytes, 1);
    TRY(mem_get(f->ctx, &bytes, chunk, (size_t)f->event_bytes));
    for (int64_t at = 0; at < f->n_events; at += chunk) {
        int64_t n = BASE_MIN(chunk, f->n_events - at);
        TRY(stream_read_at(f->s, f->data_begin + at * f->event_bytes, bytes,
                           (size_t)(n * f->event_bytes), "the events"));
        TRY(progress_poll(f->ctx));
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k < f->n_chosen; k++) {
                const channel *c = &f->channel[f->chosen[k]];
                double x = get_value(f, c, bytes + i * f->event_bytes + c->at);
                *out++ = scale > 0 ? asinh(x / scale) : x;
            }
    }
done:
    mem_free(f->ctx, bytes);
    return status;
}

/* ---- the item ---- */

/* Names each channel by its stain ("CD3"), which users know best, or by its short name ("FL1-A") if
 * it has no stain. */
static ddsc_status name_channels(fcs *f, measures_parts *out)
{
    ddsc_status status = DDSC_OK;
    const char **name = NULL;
    TRY(MEM_NEW(f->ctx, name, f->n_chosen));
    for (int64_t k = 0; k < f->n_chosen; k++) {
        const channel *c = &f->channel[f->chosen[k]];
        name[k] = *c->stain ? c->stain : c->name;
    }
    TRY(texts_pack(f->ctx, &out->coordinates, f->n_chosen, name));
done:
    mem_free(f->ctx, name);
    return status;
}

ddsc_status fcs_read(ddsc_context *ctx, measures_parts *out, io_stream *s,
                     const ddsc_read_settings *set)
{
    ddsc_status status = DDSC_OK;
    fcs f = {.ctx = ctx, .s = s, .names = {.ctx = ctx}};
    TRY(read_text(&f));
    TRY(check_order(&f));
    TRY(read_channels(&f));
    TRY(choose_channels(&f, set));
    TRY(find_data(&f));
    out->n = 1;
    out->d = f.n_chosen;
    out->v = out->nnz = f.n_events;
    TRY(MEM_NEW(ctx, out->offset, 2));
    out->offset[0] = 0;
    out->offset[1] = f.n_events;
    /* v and d are limited by the size of the file */
    TRY(MEM_NEW(ctx, out->support, out->v * out->d));
    TRY(read_events(&f, out->support, set->arcsinh));
    TRY(name_channels(&f, out));
done:
    mem_free(ctx, f.text);
    text_table_free(ctx, &f.key);
    MEM_FREE(ctx, f.value, f.channel, f.chosen, f.names.text, f.names.at);
    return status;
}
