/* Reads point clouds, one item per file. This file reads rows of bare numbers (xyz, pts, txt) and
 * off files; cloud_ply.c and cloud_pcd.c read ply and pcd files. All points have equal weights. */
#include "io/format/cloud.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- choice of the coordinates ---- */

ddsc_status cloud_add_field(cloud *c, const char *name, num_type type)
{
    if (c->n_fields == CLOUD_MAX_FIELDS)
        return stream_fail(c->s, "has more than %d numbers per row, which is not supported",
                           CLOUD_MAX_FIELDS);
    for (int64_t k = c->first_field; k < c->n_fields; k++)
        if (strncmp(c->field[k].name, name, CLOUD_NAME - 1) == 0 &&
            strcmp(name, "_") != 0) /* padding in pcd files */
            return stream_fail(c->s, "two columns are named \"%s\"", QUOTE(name));
    CHECK(MEM_RESERVE(c->ctx, c->field, &c->field_capacity, c->n_fields + 1));
    cloud_field *f = &c->field[c->n_fields++];
    *f = (cloud_field){.type = type};
    snprintf(f->name, sizeof f->name, "%s", name);
    return DDSC_OK;
}

static ddsc_status fail_no_field(cloud *c, const char *name)
{
    char list[400] = "";
    size_t at = 0;
    for (int64_t k = 0; k < c->n_fields && at < sizeof list; k++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", k ? ", " : "",
                               QUOTE(c->field[k].name));
    return stream_fail(c->s, "has no column named \"%s\"; its columns are: %s", QUOTE(name), list);
}

/* Selects or drops the fields that match the pattern, and returns their number. */
static int64_t match_fields(cloud *c, const char *pattern, bool drop)
{
    int64_t n = 0, kept = 0;
    for (int64_t k = 0; k < c->n_fields; k++) {
        bool there = false;
        for (int64_t j = 0; j < c->out->d; j++)
            there = there || c->chosen[j] == k;
        if (c->field[k].list || !text_glob(pattern, c->field[k].name))
            continue;
        n++;
        if (!drop && !there)
            c->chosen[c->out->d++] = k;
    }
    for (int64_t j = 0; drop && j < c->out->d; j++)
        if (!text_glob(pattern, c->field[c->chosen[j]].name))
            c->chosen[kept++] = c->chosen[j];
    if (drop)
        c->out->d = kept;
    return n;
}

static ddsc_status take_field(void *arg, const char *name)
{
    return match_fields(arg, name, false) ? DDSC_OK : fail_no_field(arg, name);
}

static ddsc_status drop_field(void *arg, const char *name)
{
    return match_fields(arg, name, true) ? DDSC_OK : fail_no_field(arg, name);
}

static ddsc_status name_fields(cloud *c)
{
    ddsc_status status = DDSC_OK;
    const char **name = NULL;
    TRY(MEM_NEW(c->ctx, name, c->out->d));
    for (int64_t k = 0; k < c->out->d; k++)
        name[k] = c->field[c->chosen[k]].name;
    TRY(texts_pack(c->ctx, &c->out->coordinates, c->out->d, name));
done:
    mem_free(c->ctx, name);
    return status;
}

ddsc_status cloud_choose(cloud *c, bool all)
{
    CHECK(MEM_NEW(c->ctx, c->chosen, c->n_fields));
    CHECK(MEM_ZERO(c->ctx, c->value, c->n_fields));
    if (c->set->columns)
        CHECK(text_each_listed(c->set->columns, take_field, c));
    else if (all)
        match_fields(c, "*", false);
    else
        for (const char *axis = "x\0y\0z\0"; *axis; axis += 2)
            match_fields(c, axis, false);
    if (c->set->drop)
        CHECK(text_each_listed(c->set->drop, drop_field, c));
    if (c->out->d == 0)
        return c->set->drop ? stream_fail(c->s, "--drop removes all columns; keep at least one")
                            : fail_no_field(c, "x");
    return name_fields(c);
}

ddsc_status cloud_put_row(cloud *c)
{
    measures_parts *p = c->out;
    CHECK(MEM_RESERVE(c->ctx, p->support, &c->point_capacity, (p->v + 1) * p->d));
    for (int64_t k = 0; k < p->d; k++)
        p->support[p->v * p->d + k] = c->value[c->chosen[k]];
    p->v++;
    return p->v % 65536 ? DDSC_OK : progress_poll(c->ctx);
}

ddsc_status cloud_next_number(cloud *c, double *value)
{
    char *token;
    CHECK(d2_next(&c->tokens, &token));
    if (!token)
        return stream_fail(c->s, "ends early at line %lld: points are missing",
                           (long long)stream_line_number(c->s));
    if (!number_parse(token, value))
        return stream_fail_line(c->s, ": \"%s\" is not a number", QUOTE(token));
    return DDSC_OK;
}

/* ---- rows of bare numbers ---- */

static bool is_comment(const char *line)
{
    line += strspn(line, " \t");
    return *line == '\0' || *line == '#' || strncmp(line, "//", 2) == 0;
}

static ddsc_status begin_rows(cloud *c, int64_t n)
{
    static const char *const axes[] = {"x", "y", "z"};
    char number[NUMBER_TEXT];
    for (int64_t k = 0; k < n; k++) {
        snprintf(number, sizeof number, "%lld", (long long)k + 1);
        CHECK(cloud_add_field(c, n <= 3 ? axes[k] : number, (num_type){0}));
    }
    return cloud_choose(c, true);
}

/* Splits a line into numbers separated by whitespace, commas or semicolons. */
static ddsc_status cut_line(cloud *c, char *line, double *value, int64_t *n)
{
    static const char separators[] = " \t\r\v\f,;";
    char *save = NULL;
    *n = 0;
    for (char *word = strtok_r(line, separators, &save); word;
         word = strtok_r(NULL, separators, &save))
        if (*n == CLOUD_MAX_FIELDS || !number_parse(word, &value[(*n)++]))
            return stream_fail_line(c->s, ": \"%s\" is not a number", QUOTE(word));
    return DDSC_OK;
}

static ddsc_status take_numbers(cloud *c, const double *value, int64_t n)
{
    if (c->n_fields == 0)
        CHECK(begin_rows(c, n));
    if (n != c->n_fields)
        return stream_fail_line(c->s, ": found %lld numbers, but the previous lines have %lld",
                                (long long)n, (long long)c->n_fields);
    memcpy(c->value, value, (size_t)n * sizeof *value);
    return cloud_put_row(c);
}

/* Reads rows of numbers. If the first line has a single number and later rows have several, that
 * number is the number of rows (pts). */
static ddsc_status read_bare(cloud *c)
{
    double value[CLOUD_MAX_FIELDS], first = 0;
    int64_t n, lines = 0;
    bool counted = false;
    size_t length;
    for (char *line;;) {
        CHECK(stream_line(c->s, &line, &length));
        if (!line)
            break;
        if (stream_line_number(c->s) == 1)
            line = text_skip_mark(line);
        if (is_comment(line))
            continue;
        CHECK(cut_line(c, line, value, &n));
        if (lines++ == 0 && n == 1) {
            first = value[0];
            counted = true;
            continue;
        }
        if (counted && n == 1 && c->n_fields == 0) { /* the first line was a point */
            counted = false;
            CHECK(take_numbers(c, &first, 1));
        }
        CHECK(take_numbers(c, value, n));
    }
    if (counted && fabs((double)c->out->v - first) > 0)
        return stream_fail(c->s, "declares %g points but contains %lld", first,
                           (long long)c->out->v);
    return DDSC_OK;
}

/* ---- off files contain counts and then vertices; colors and normals after the coordinates are
 * ignored ---- */

/* Returns the next number. A comment extends to the end of its line. */
static ddsc_status off_number(cloud *c, double *value)
{
    char *token;
    for (;;) {
        CHECK(d2_next(&c->tokens, &token));
        if (!token || *token != '#')
            break;
        c->tokens.at = NULL;
    }
    if (!token)
        return stream_fail(c->s, "ends early at line %lld: vertices are missing",
                           (long long)stream_line_number(c->s));
    if (!number_parse(token, value))
        return stream_fail_line(c->s, ": \"%s\" is not a number", QUOTE(token));
    return DDSC_OK;
}

/* Reads OFF, COFF, NOFF, and so on. Some programs write the counts directly after the keyword,
 * without a space. */
static ddsc_status read_off(cloud *c)
{
    size_t length;
    double count[2]; /* numbers of vertices and faces */
    CHECK(stream_line(c->s, &c->tokens.line, &length));
    c->tokens.at = strstr(c->tokens.line, "OFF") + 3;
    if (strstr(c->tokens.at, "BINARY"))
        return stream_fail(c->s, "is a binary off file, which is not supported; save it as text");
    if (strstr(c->tokens.line, "4OFF"))
        return stream_fail(
            c->s, "is an off file with four coordinates per vertex, which is not supported");
    CHECK(off_number(c, &count[0])); /* the number of edges, which may follow, is not needed */
    if (c->tokens.at[strspn(c->tokens.at, " \t\r")] == '\0')
        return stream_fail_line(c->s, ": expected the numbers of vertices and faces on one line");
    CHECK(off_number(c, &count[1]));
    if (!(count[0] >= 1 && count[0] <= INT32_MAX))
        return stream_fail_line(c->s, ": the number of vertices is %g; it must be at least 1",
                                count[0]);
    for (const char *axis = "x\0y\0z\0"; *axis; axis += 2)
        CHECK(cloud_add_field(c, axis, (num_type){0}));
    CHECK(cloud_choose(c, false));
    for (int64_t i = 0; i < (int64_t)count[0]; i++) {
        c->tokens.at = NULL; /* each vertex is on a separate line */
        for (int k = 0; k < 3; k++)
            CHECK(off_number(c, &c->value[k]));
        CHECK(cloud_put_row(c));
    }
    return DDSC_OK;
}

/* ---- all formats ---- */

static ddsc_status read_kind(cloud *c)
{
    unsigned char head[16] = {0};
    size_t n;
    CHECK(stream_peek(c->s, head, sizeof head - 1, &n));
    switch (io_sniff_cloud(head, n)) {
    case CLOUD_PLY: return cloud_read_ply(c);
    case CLOUD_PCD: return cloud_read_pcd(c);
    case CLOUD_OFF: return read_off(c);
    default: return read_bare(c);
    }
}

ddsc_status cloud_read(ddsc_context *ctx, measures_parts *out, io_stream *s,
                       const ddsc_read_settings *set)
{
    ddsc_status status = DDSC_OK;
    cloud c = {.ctx = ctx, .s = s, .out = out, .set = set, .tokens = {.s = s}};
    TRY(read_kind(&c));
    if (out->v == 0)
        TRY(stream_fail(s, "contains no points"));
    out->n = 1;
    out->nnz = out->v;
    TRY(MEM_NEW(ctx, out->offset, 2));
    out->offset[0] = 0;
    out->offset[1] = out->v;
done:
    MEM_FREE(ctx, c.field, c.chosen, c.value);
    return status;
}
