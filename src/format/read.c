/* From a path to a set of items: sniff, read, add labels, build. */
#include "format/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"

static const ddsc_read_settings defaults = {.on_empty = DDSC_EMPTY_ERROR,
                                            .max_bytes = STREAM_DEFAULT_MAX_BYTES};
SIZED_INIT(settings_struct, ddsc_read_settings, max_bytes, &defaults);

static ddsc_status take_settings(ddsc_context *ctx, ddsc_read_settings *own,
                                 const ddsc_read_settings *given)
{
    CHECK(sized_take(ctx, &settings_struct, own, given));
    if (own->on_empty != DDSC_EMPTY_ERROR && own->on_empty != DDSC_EMPTY_DROP)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "read settings: on_empty is %d",
                        (int)own->on_empty);
    if (own->phase < 0 || own->phases < 0 || (own->phases > 0 && own->phase > own->phases))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "read settings: phase %d of %d", own->phase,
                        own->phases);
    if (!(own->arcsinh >= 0) || isinf(own->arcsinh))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "read settings: arcsinh is %g", own->arcsinh);
    if (own->where && (own->where[0] == '=' || !strchr(own->where, '=')))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "read settings: where \"%.100s\" is not COLUMN=VALUE", own->where);
    if (own->channels && own->columns)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "read settings: channels and columns choose the same; give one of them");
    if (own->max_bytes < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "read settings: max_bytes is %lld",
                        (long long)own->max_bytes);
    return DDSC_OK;
}

/* ---- one file ---- */

static ddsc_status refuse_content(io_stream *s, const unsigned char *head, size_t n)
{
    if (n == 0)
        return stream_fail(s, "is empty");
    return stream_fail(s,
                       "is of no known format (first bytes %02x %02x %02x %02x); npz, npy, csv, "
                       "tsv, idx, d2 and fcs are read",
                       head[0], n > 1 ? head[1] : 0, n > 2 ? head[2] : 0, n > 3 ? head[3] : 0);
}

static ddsc_status read_format(ddsc_context *ctx, measures_parts *out, ddsc_format format,
                               io_stream *s, const ddsc_read_settings *set)
{
    switch (format) {
    case DDSC_FORMAT_NPZ: return npz_read(ctx, out, s);
    case DDSC_FORMAT_NPY: return npy_read_clouds(ctx, out, s);
    case DDSC_FORMAT_CSV: return csv_read(ctx, out, s, set);
    case DDSC_FORMAT_IDX: return idx_read_images(ctx, out, s);
    case DDSC_FORMAT_D2: return d2_read(ctx, out, s, set->phases, set->phase);
    case DDSC_FORMAT_FCS: return fcs_read(ctx, out, s, set);
    default:
        return stream_fail(s, "is a MatrixMarket matrix, not a set of items; a distance matrix is "
                              "read with --precomputed");
    }
}

/* Give back what growing left over. */
static ddsc_status trim(ddsc_context *ctx, measures_parts *p)
{
    CHECK(mem_resize(ctx, &p->support, p->v * p->d, sizeof *p->support));
    CHECK(mem_resize(ctx, &p->offset, p->n + 1, sizeof *p->offset));
    if (p->index)
        CHECK(mem_resize(ctx, &p->index, p->nnz, sizeof *p->index));
    if (p->weight)
        CHECK(mem_resize(ctx, &p->weight, p->nnz, sizeof *p->weight));
    return DDSC_OK;
}

ddsc_status io_read_parts(ddsc_context *ctx, measures_parts *out, ddsc_format *format, io_stream *s,
                          const ddsc_read_settings *set)
{
    ddsc_status status = DDSC_OK;
    unsigned char head[STREAM_PEEK_MAX];
    size_t n;
    TRY(stream_peek(s, head, sizeof head, &n));
    const char *foreign = io_sniff_foreign(head, n);
    if (foreign)
        return stream_fail(s, "is %s", foreign);
    *format = io_sniff(head, n);
    if (*format == DDSC_FORMAT_AUTO)
        return refuse_content(s, head, n);
    TRY(read_format(ctx, out, *format, s, set));
    TRY(trim(ctx, out));
done:
    return status;
}

/* Which formats were among the files. */
typedef struct formats_seen {
    bool fcs, d2, table;
} formats_seen;

static void see_format(formats_seen *seen, ddsc_format format)
{
    seen->fcs |= format == DDSC_FORMAT_FCS;
    seen->d2 |= format == DDSC_FORMAT_D2;
    seen->table |= format == DDSC_FORMAT_CSV;
}

/* Settings that only some formats read are a mistake where no file has one of them. */
static ddsc_status check_used(ddsc_context *ctx, const ddsc_read_settings *set, const char *where,
                              formats_seen seen)
{
    const struct {
        const char *name, *formats;
        bool given, used;
    } known[] = {
        {"channels", "fcs", set->channels != NULL, seen.fcs},
        {"arcsinh", "fcs, csv and tsv", set->arcsinh > 0, seen.fcs || seen.table},
        {"columns", "csv, tsv and fcs", set->columns != NULL, seen.fcs || seen.table},
        {"drop", "csv, tsv and fcs", set->drop != NULL, seen.fcs || seen.table},
        {"id", "csv and tsv", set->id_columns != NULL, seen.table},
        {"weight", "csv and tsv", set->weight_column != NULL, seen.table},
        {"label", "csv and tsv", set->label_column != NULL, seen.table},
        {"where", "csv and tsv", set->where != NULL, seen.table},
        {"phase", "d2", set->phase > 0, seen.d2},
        {"phases", "d2", set->phases > 0, seen.d2},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].given && !known[k].used)
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s: %s is for %s files, and this is none",
                            where, known[k].name, known[k].formats);
    return DDSC_OK;
}

/* Labels from a file of their own take the place of those in the data. */
static ddsc_status add_labels(ddsc_context *ctx, measures_parts *parts, const char *where,
                              const ddsc_read_settings *set)
{
    ddsc_status status = DDSC_OK;
    io_stream *s = NULL;
    measures_parts found = {0};
    label_target to = {parts->n, parts->id_text, parts->id_at, where};
    ddsc_join how;
    if (!set->labels_path)
        return DDSC_OK;
    TRY(stream_open(ctx, &s, set->labels_path, set->max_bytes));
    TRY(labels_read_stream(ctx, &found, s));
    TRY(labels_join(ctx, &found, stream_name(s), &to, &how));
    MEM_FREE(ctx, parts->label, parts->name_text, parts->name_at);
    parts->label = found.label;
    parts->name_text = found.name_text;
    parts->name_at = found.name_at;
    parts->n_names = found.n_names;
    MEM_FREE(ctx, found.id_text, found.id_at);
    found = (measures_parts){0};
done:
    stream_close(s);
    measures_parts_free(ctx, &found);
    return status;
}

ddsc_status io_read_measures(ddsc_context *ctx, measures **out, io_stream *s,
                             const ddsc_read_settings *set)
{
    ddsc_status status = DDSC_OK;
    measures_parts parts = {0};
    formats_seen seen = {0};
    ddsc_format format;
    TRY(io_read_parts(ctx, &parts, &format, s, set));
    see_format(&seen, format);
    TRY(check_used(ctx, set, stream_name(s), seen));
    TRY(add_labels(ctx, &parts, stream_name(s), set));
    TRY(measures_build(ctx, out, &parts, set->on_empty, stream_name(s)));
done:
    measures_parts_free(ctx, &parts);
    return status;
}

ddsc_status ddsc_measures_read(ddsc_context *ctx, ddsc_measures **out, const char *path,
                               const ddsc_read_settings *settings)
{
    io_stream *s = NULL;
    ddsc_read_settings set;
    CHECK(ctx_enter_new(ctx, out));
    CHECK(ctx_need(ctx, path, "path"));
    CHECK(take_settings(ctx, &set, settings));
    CHECK(stream_open(ctx, &s, path, set.max_bytes));
    ddsc_status status = io_read_measures(ctx, out, s, &set);
    stream_close(s);
    return status;
}

/* ---- several files ---- */

typedef struct gathering {
    ddsc_context *ctx;
    const ddsc_read_settings *set;
    measures_parts parts;
    const char *named; /* the first file that names its coordinates */
    formats_seen seen;
    bool all_fcs;
} gathering;

/* Coordinates that both have names for must be the same ones. */
static ddsc_status check_coordinates(gathering *g, const measures_texts *here, const char *path)
{
    const measures_texts *there = &g->parts.coordinates;
    if (here->n > 0 && there->n == 0)
        g->named = path;
    for (int64_t k = 0; k < BASE_MIN(here->n, there->n); k++)
        if (strcmp(texts_get(here, k), texts_get(there, k)) != 0)
            return ctx_fail(g->ctx, DDSC_ERROR_INPUT,
                            "%s: the coordinate \"%s\" stands where %s has \"%s\"; all files need "
                            "the same coordinates (choose channels by name)",
                            path, QUOTE(texts_get(here, k)), g->named, QUOTE(texts_get(there, k)));
    return DDSC_OK;
}

static ddsc_status gather_file(gathering *g, const char *path, bool first, bool only)
{
    ddsc_status status = DDSC_OK;
    measures_parts more = {0};
    ddsc_format format;
    io_stream *s = NULL;
    TRY(stream_open(g->ctx, &s, path, g->set->max_bytes));
    TRY(io_read_parts(g->ctx, &more, &format, s, g->set));
    TRY(check_coordinates(g, &more.coordinates, path));
    if (!only)
        TRY(sets_prepare(g->ctx, &more, path));
    g->all_fcs = (first || g->all_fcs) && format == DDSC_FORMAT_FCS;
    see_format(&g->seen, format);
    if (first) {
        g->parts = more;
        more = (measures_parts){0};
    } else {
        TRY(sets_join(g->ctx, &g->parts, &more, path));
    }
done:
    stream_close(s);
    measures_parts_free(g->ctx, &more);
    return status;
}

/* fcs files in different folders may share their base name: then the paths are the ids. */
static ddsc_status name_by_path(gathering *g, int64_t n_paths, const char *const *paths)
{
    ddsc_status status = DDSC_OK;
    text_table table = {0};
    bool distinct = true, is_new = true;
    int64_t number, length = 0;
    for (int64_t i = 0; i < n_paths; i++) {
        const char *id = g->parts.id_text + g->parts.id_at[i];
        TRY(text_table_add(g->ctx, &table, id, strlen(id), &number, &is_new));
        distinct = distinct && is_new;
        length += (int64_t)strlen(paths[i]) + 1;
    }
    if (distinct)
        goto done;
    TRY(mem_resize(g->ctx, &g->parts.id_text, length, 1));
    length = 0;
    for (int64_t i = 0; i < n_paths; i++) {
        g->parts.id_at[i] = length;
        strcpy(g->parts.id_text + length, paths[i]);
        length += (int64_t)strlen(paths[i]) + 1;
    }
    g->parts.id_at[n_paths] = length;
done:
    text_table_free(g->ctx, &table);
    return status;
}

/* Rows of one id are one item within a table, but not across files: who splits a table may expect
 * it. */
static ddsc_status warn_of_shared_ids(gathering *g)
{
    ddsc_status status = DDSC_OK;
    text_table table = {0};
    const char *shared = NULL;
    int64_t number, n_shared = 0;
    bool is_new;
    for (int64_t i = 0; i < g->parts.n; i++) {
        const char *id = g->parts.id_text + g->parts.id_at[i];
        TRY(text_table_add(g->ctx, &table, id, strlen(id), &number, &is_new));
        shared = is_new || shared ? shared : id;
        n_shared += !is_new;
    }
    if (shared)
        ctx_warn(g->ctx,
                 "%lld items have the id of an item before them, \"%s\" first, and stay items of "
                 "their own; to make them one, put their rows into one file",
                 (long long)n_shared, QUOTE(shared));
done:
    text_table_free(g->ctx, &table);
    return status;
}

static ddsc_status check_paths(ddsc_context *ctx, int64_t n_paths, const char *const *paths)
{
    if (n_paths < 1 || !paths)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "there are no paths");
    for (int64_t i = 0; i < n_paths; i++)
        if (!paths[i])
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "path %lld is NULL", (long long)i);
    return DDSC_OK;
}

ddsc_status ddsc_measures_read_files(ddsc_context *ctx, ddsc_measures **out, int64_t n_paths,
                                     const char *const *paths, const ddsc_read_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_read_settings set;
    gathering g = {.ctx = ctx, .set = &set};
    char where[64];
    CHECK(ctx_enter_new(ctx, out));
    TRY(check_paths(ctx, n_paths, paths));
    TRY(take_settings(ctx, &set, settings));
    for (int64_t i = 0; i < n_paths; i++)
        TRY(gather_file(&g, paths[i], i == 0, n_paths == 1));
    snprintf(where, sizeof where, "%lld files", (long long)n_paths);
    TRY(check_used(ctx, &set, n_paths == 1 ? paths[0] : where, g.seen));
    if (g.all_fcs)
        TRY(name_by_path(&g, n_paths, paths));
    if (n_paths > 1)
        TRY(warn_of_shared_ids(&g));
    TRY(add_labels(ctx, &g.parts, n_paths == 1 ? paths[0] : where, &set));
    TRY(measures_build(ctx, out, &g.parts, set.on_empty, n_paths == 1 ? paths[0] : where));
done:
    measures_parts_free(ctx, &g.parts);
    return status;
}
