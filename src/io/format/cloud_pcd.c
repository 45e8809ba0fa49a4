/* Reads pcd 0.7 files of the Point Cloud Library. The header consists of lines of text. The points
 * follow as rows of text, as bytes, or field by field in LZF compression (Lehmann). In this format,
 * a point with non-finite coordinates was not measured; such points are omitted. */
#include "io/format/cloud.h"

#include <math.h>
#include <string.h>

typedef struct pcd {
    cloud *c;
    int64_t n_points, row_bytes;
    int64_t n_missing;
} pcd;

/* ---- header ---- */

/* Calls `fn` for each word of a header line. The line must have one word per field. */
static ddsc_status each_word(pcd *p, char *rest, const char *what,
                             ddsc_status (*fn)(pcd *, int64_t k, const char *word))
{
    int64_t k = 0;
    char *save = NULL;
    for (char *word = strtok_r(rest, " \t\r", &save); word; word = strtok_r(NULL, " \t\r", &save))
        CHECK(fn(p, k++, word));
    if (k != p->c->n_fields)
        return stream_fail_line(p->c->s, ": the header has %s for only %lld of %lld fields", what,
                                (long long)k, (long long)p->c->n_fields);
    return DDSC_OK;
}

static ddsc_status add_name(pcd *p, int64_t k, const char *word)
{
    (void)k;
    return cloud_add_field(p->c, word, (num_type){'f', 4, !NUM_HOST_LITTLE});
}

static ddsc_status set_size(pcd *p, int64_t k, const char *word)
{
    int64_t width;
    if (k >= p->c->n_fields || !number_parse_integer(word, &width) ||
        (width != 1 && width != 2 && width != 4 && width != 8))
        return stream_fail_line(p->c->s, ": \"%s\" is not a valid field size (1, 2, 4 or 8)",
                                QUOTE(word));
    p->c->field[k].type.width = (int)width;
    return DDSC_OK;
}

static ddsc_status set_kind(pcd *p, int64_t k, const char *word)
{
    if (k >= p->c->n_fields || strlen(word) != 1 || !strchr("FIU", *word))
        return stream_fail_line(p->c->s, ": \"%s\" is not a valid field type (F, I or U)",
                                QUOTE(word));
    p->c->field[k].type.kind = *word == 'F' ? 'f' : *word == 'I' ? 'i' : 'u';
    return DDSC_OK;
}

/* Fails if a field has several values (a descriptor), because it would need several names. */
static ddsc_status pcd_check_count(pcd *p, int64_t k, const char *word)
{
    if (k < p->c->n_fields && strcmp(word, "1") == 0)
        return DDSC_OK;
    return stream_fail_line(
        p->c->s, ": a field has %s values; only fields with 1 value are supported", QUOTE(word));
}

static ddsc_status pcd_line(pcd *p, const char *key, char *rest)
{
    if (strcmp(key, "FIELDS") == 0 && p->c->n_fields == 0) {
        ddsc_status status = DDSC_OK;
        char *save = NULL;
        for (char *word = strtok_r(rest, " \t\r", &save); word && status >= 0;
             word = strtok_r(NULL, " \t\r", &save))
            status = add_name(p, 0, word);
        return status;
    }
    if (strcmp(key, "SIZE") == 0)
        return each_word(p, rest, "sizes", set_size);
    if (strcmp(key, "TYPE") == 0)
        return each_word(p, rest, "types", set_kind);
    if (strcmp(key, "COUNT") == 0)
        return each_word(p, rest, "counts", pcd_check_count);
    if (strcmp(key, "POINTS") == 0 &&
        (!number_parse_integer(rest, &p->n_points) || p->n_points < 0))
        return stream_fail_line(p->c->s, ": \"%s\" is not a valid number of points", QUOTE(rest));
    return DDSC_OK; /* VERSION, WIDTH, HEIGHT and VIEWPOINT are ignored */
}

/* Reads the header up to the DATA line, and copies the word of that line to `data`. */
static ddsc_status pcd_header(pcd *p, char *data, size_t capacity)
{
    p->n_points = -1;
    for (;;) {
        char *line;
        size_t n;
        CHECK(stream_line(p->c->s, &line, &n));
        if (!line)
            return stream_fail(p->c->s, "ends early: its pcd header has no DATA line");
        line += strspn(line, " \t");
        if (*line == '#' || *line == '\0')
            continue;
        char *rest = line + strcspn(line, " \t\r");
        if (*rest)
            *rest++ = '\0';
        rest += strspn(rest, " \t");
        rest[strcspn(rest, "\r")] = '\0';
        if (strcmp(line, "DATA") == 0) {
            strncat(data, rest, capacity - 1);
            break;
        }
        CHECK(pcd_line(p, line, rest));
    }
    if (p->c->n_fields == 0 || p->n_points < 0)
        return stream_fail(p->c->s, "its pcd header must have a FIELDS line and a POINTS line");
    for (int64_t k = 0; k < p->c->n_fields; k++) {
        num_type t = p->c->field[k].type;
        p->row_bytes += t.width;
        if (t.kind == 'f' && t.width < 4)
            return stream_fail(p->c->s,
                               "has a floating-point field of %d bytes; it must have 4 or 8 bytes",
                               t.width);
    }
    return DDSC_OK;
}

/* ---- points ---- */

static ddsc_status pcd_put(pcd *p)
{
    cloud *c = p->c;
    for (int64_t k = 0; k < c->out->d; k++)
        if (!isfinite(c->value[c->chosen[k]])) {
            p->n_missing++;
            return DDSC_OK;
        }
    return cloud_put_row(c);
}

static ddsc_status pcd_text(pcd *p)
{
    for (int64_t i = 0; i < p->n_points; i++) {
        for (int64_t k = 0; k < p->c->n_fields; k++)
            CHECK(cloud_next_number(p->c, &p->c->value[k]));
        CHECK(pcd_put(p));
    }
    return DDSC_OK;
}

static ddsc_status pcd_bytes(pcd *p)
{
    unsigned char bytes[8];
    for (int64_t i = 0; i < p->n_points; i++) {
        for (int64_t k = 0; k < p->c->n_fields; k++) {
            num_type t = p->c->field[k].type;
            CHECK(stream_read_exact(p->c->s, bytes, (size_t)t.width, "the points"));
            numbers_to_double(&p->c->value[k], bytes, 1, t);
        }
        CHECK(pcd_put(p));
    }
    return DDSC_OK;
}

/* Decompresses LZF. After a control byte c < 32, c + 1 literal bytes follow. Any other control
 * sequence repeats earlier output, and contains the length of the repeated output and its 13-bit
 * backward distance. Returns false unless the output has exactly n_out bytes. */
static bool unpack_lzf(unsigned char *out, int64_t n_out, const unsigned char *in, int64_t n_in)
{
    int64_t at = 0;
    for (int64_t i = 0; i < n_in;) {
        int64_t control = in[i++], length = control + 1;
        if (control < 32) {
            if (length > n_in - i || length > n_out - at)
                return false;
            memcpy(out + at, in + i, (size_t)length);
            at += length;
            i += length;
            continue;
        }
        length = control >> 5;
        if (length == 7 && i < n_in)
            length += in[i++];
        if (i >= n_in)
            return false;
        int64_t back = ((control & 31) << 8 | in[i++]) + 1;
        length += 2;
        if (back > at || length > n_out - at)
            return false;
        for (; length > 0; length--, at++)
            out[at] = out[at - back];
    }
    return at == n_out;
}

static ddsc_status pcd_fields(pcd *p, const unsigned char *bytes)
{
    cloud *c = p->c;
    for (int64_t i = 0; i < p->n_points; i++) {
        int64_t at = 0;
        for (int64_t k = 0; k < c->n_fields; k++) {
            num_type t = c->field[k].type;
            numbers_to_double(&c->value[k], bytes + at + i * t.width, 1, t);
            at += p->n_points * t.width;
        }
        CHECK(pcd_put(p));
    }
    return DDSC_OK;
}

static int64_t get_little32(const unsigned char *b)
{
    return (int64_t)b[0] | (int64_t)b[1] << 8 | (int64_t)b[2] << 16 | (int64_t)b[3] << 24;
}

/* Reads compressed points. LZF expands 3 bytes to at most 264. */
static ddsc_status pcd_compressed(pcd *p)
{
    ddsc_status status = DDSC_OK;
    unsigned char head[8], *packed = NULL, *bytes = NULL;
    TRY(stream_read_exact(p->c->s, head, sizeof head, "the sizes of the compressed points"));
    int64_t n_packed = get_little32(head), n = get_little32(head + 4);
    TRY(stream_check_declared(p->c->s, n_packed, "compressed points"));
    if (n != p->n_points * p->row_bytes || n > 88 * n_packed)
        TRY(stream_fail(
            p->c->s,
            "has %lld compressed bytes that expand to %lld bytes, but its points need %lld bytes",
            (long long)n_packed, (long long)n, (long long)(p->n_points * p->row_bytes)));
    TRY(mem_get(p->c->ctx, &packed, n_packed, 1));
    TRY(mem_get(p->c->ctx, &bytes, n, 1));
    TRY(stream_read_exact(p->c->s, packed, (size_t)n_packed, "the compressed points"));
    if (!unpack_lzf(bytes, n, packed, n_packed))
        TRY(stream_fail(p->c->s, "its compressed points are damaged"));
    TRY(pcd_fields(p, bytes));
done:
    MEM_FREE(p->c->ctx, packed, bytes);
    return status;
}

ddsc_status cloud_read_pcd(cloud *c)
{
    pcd p = {.c = c};
    char data[32] = "";
    int64_t bytes;
    CHECK(pcd_header(&p, data, sizeof data));
    CHECK(cloud_choose(c, false));
    if (!mul_ok(p.n_points, p.row_bytes, &bytes))
        return stream_fail(c->s, "declares %lld points, which is too many", (long long)p.n_points);
    if (strcmp(data, "ascii") == 0) {
        CHECK(pcd_text(&p));
    } else if (strcmp(data, "binary") == 0) {
        CHECK(stream_check_declared(c->s, bytes, "points"));
        CHECK(pcd_bytes(&p));
    } else if (strcmp(data, "binary_compressed") == 0) {
        CHECK(pcd_compressed(&p));
    } else {
        return stream_fail(c->s, "DATA is \"%s\"; it must be ascii, binary or binary_compressed",
                           QUOTE(data));
    }
    if (p.n_missing > 0)
        ctx_warn(c->ctx, "%s: omitted %lld points with coordinates that are not finite",
                 stream_name(c->s), (long long)p.n_missing);
    return DDSC_OK;
}
