/* Reads a set of items from files and folders: detects formats, reads and joins the files, names
 * the items, adds labels, and builds the set. */
#include "io/format/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "io/image/image.h"

static const ddsc_read_settings defaults = {.on_empty = DDSC_EMPTY_ERROR,
                                            .max_bytes = STREAM_DEFAULT_MAX_BYTES};
SIZED_INIT(settings_struct, ddsc_read_settings, max_bytes, &defaults);

static ddsc_status take_settings(ddsc_context *ctx, ddsc_read_settings *own,
                                 const ddsc_read_settings *given)
{
    CHECK(sized_take(ctx, &settings_struct, own, given));
    if (own->on_empty != DDSC_EMPTY_ERROR && own->on_empty != DDSC_EMPTY_DROP)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "read settings: on_empty is %d, which is not a valid value",
                        (int)own->on_empty);
    if (own->phase < 0 || own->phases < 0 || (own->phases > 0 && own->phase > own->phases))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "read settings: phase %d of %d is not valid",
                        own->phase, own->phases);
    if (!(own->arcsinh >= 0) || isinf(own->arcsinh))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "read settings: arcsinh is %g; it must be finite and >= 0", own->arcsinh);
    if (own->where && (own->where[0] == '=' || !strchr(own->where, '=')))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "read settings: where is \"%.100s\"; it must have the form COLUMN=VALUE",
                        own->where);
    if ((unsigned)own->image_as > DDSC_IMAGE_COLORS)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "read settings: image_as is %d, which is not a valid value",
                        (int)own->image_as);
    if (own->channels && own->columns)
        return ctx_fail(
            ctx, DDSC_ERROR_ARGUMENT,
            "read settings: channels and columns cannot be combined; set only one of them");
    if (own->format != DDSC_FORMAT_AUTO && own->format != DDSC_FORMAT_HDF5)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "read settings: format is %d, but only HDF5 can be requested; other "
                        "formats are detected by content",
                        (int)own->format);
    if (own->max_bytes < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "read settings: max_bytes is %lld; it must be at least 1",
                        (long long)own->max_bytes);
    return DDSC_OK;
}

/* ---- one file ---- */

static ddsc_status refuse_content(io_stream *s, const unsigned char *head, size_t n)
{
    if (n == 0)
        return stream_fail(s, "is empty");
    return stream_fail(
        s,
        "has an unknown format (first bytes %02x %02x %02x %02x); the supported formats are npz, "
        "npy, csv, tsv, idx, d2, fcs, h5ad, images and point clouds (ply, off, pcd, xyz)",
        head[0], n > 1 ? head[1] : 0, n > 2 ? head[2] : 0, n > 3 ? head[3] : 0);
}

static ddsc_status read_format(ddsc_context *ctx, measures_parts *out, ddsc_format format,
                               io_stream *s, const ddsc_read_settings *set, bool one)
{
    switch (format) {
    case DDSC_FORMAT_NPZ: return npz_read(ctx, out, s);
    case DDSC_FORMAT_NPY: return npy_read_clouds(ctx, out, s, one);
    case DDSC_FORMAT_CLOUD: return cloud_read(ctx, out, s, set);
    case DDSC_FORMAT_CSV: return csv_read(ctx, out, s, set);
    case DDSC_FORMAT_IDX: return idx_read_images(ctx, out, s);
    case DDSC_FORMAT_D2: return d2_read(ctx, out, s, set->phases, set->phase);
    case DDSC_FORMAT_FCS: return fcs_read(ctx, out, s, set);
    case DDSC_FORMAT_HDF5: return h5ad_read(ctx, out, s, set);
    case DDSC_FORMAT_IMAGE: return image_read(ctx, out, s, set->image_as);
    default:
        return stream_fail(s, "is a MatrixMarket matrix, not a set of items; to read a distance "
                              "matrix, use --precomputed");
    }
}

/* Releases the unused capacity of grown arrays. */
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
                          const ddsc_read_settings *set, bool one)
{
    ddsc_status status = DDSC_OK;
    unsigned char head[STREAM_PEEK_MAX];
    size_t n;
    TRY(io_peek_content(s, head, &n));
    *format = io_sniff(head, n);
    if (*format == DDSC_FORMAT_AUTO)
        return refuse_content(s, head, n);
    TRY(io_check_hdf5(s, *format, set->format));
    if ((*format == DDSC_FORMAT_D2 || *format == DDSC_FORMAT_CSV) &&
        io_sniff_rows(head, n, stream_path(s)))
        *format = DDSC_FORMAT_CLOUD;
    TRY(read_format(ctx, out, *format, s, set, one));
    TRY(trim(ctx, out));
done:
    return status;
}

/* The formats of the files that were read. */
typedef struct formats_seen {
    bool fcs, d2, table, image, cloud, hdf5;
} formats_seen;

static void see_format(formats_seen *seen, ddsc_format format)
{
    seen->fcs |= format == DDSC_FORMAT_FCS;
    seen->d2 |= format == DDSC_FORMAT_D2;
    seen->hdf5 |= format == DDSC_FORMAT_HDF5;
    seen->table |= format == DDSC_FORMAT_CSV || seen->hdf5;
    seen->image |= format == DDSC_FORMAT_IMAGE;
    seen->cloud |= format == DDSC_FORMAT_CLOUD;
}

/* Fails if a setting does not apply to any of the files. */
static ddsc_status check_used(ddsc_context *ctx, const ddsc_read_settings *set, const char *where,
                              formats_seen seen)
{
    bool columns = seen.fcs || seen.table || seen.cloud;
    const struct {
        const char *name, *formats;
        bool given, used;
    } known[] = {
        {"channels", "fcs", set->channels != NULL, seen.fcs},
        {"matrix", "HDF5", set->matrix != NULL, seen.hdf5},
        {"arcsinh", "fcs, csv, tsv and HDF5", set->arcsinh > 0, seen.fcs || seen.table},
        {"columns", "csv, tsv, HDF5, fcs and point cloud", set->columns != NULL, columns},
        {"drop", "csv, tsv, HDF5, fcs and point cloud", set->drop != NULL, columns},
        {"id", "csv, tsv and HDF5", set->id_columns != NULL, seen.table || set->meta_path},
        {"weight", "csv, tsv and HDF5", set->weight_column != NULL, seen.table},
        {"label", "csv, tsv and HDF5", set->label_column != NULL, seen.table},
        {"type", "csv, tsv and HDF5", set->type_column != NULL, seen.table},
        {"where", "csv, tsv and HDF5", set->where != NULL, seen.table},
        {"as", "image", set->image_as != DDSC_IMAGE_PIXELS, seen.image},
        {"phase", "d2", set->phase > 0, seen.d2},
        {"phases", "d2", set->phases > 0, seen.d2},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].given && !known[k].used)
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s: %s applies only to %s files", where,
                            known[k].name, known[k].formats);
    return DDSC_OK;
}

/* Replaces the labels in the data with those from a labels file. */
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

/* ---- several files ---- */

/* Maximum number of levels for joining files. As in a binary counter, level k is either empty or
 * contains a set joined from 2^k files, so each file is copied at most log2(n) times. */
enum { LEVELS = 40 };

typedef struct gathering {
    ddsc_context *ctx;
    const ddsc_read_settings *set;
    file_list files;
    const char *where; /* name of the whole input, for messages */
    measures_parts level[LEVELS], parts;
    measures_texts coordinates; /* coordinate names, from the first file with names */
    const char *named;
    formats_seen seen;
    bool several; /* true if the input is several files or a folder */
    bool singles; /* true if each file contains one item without an id */
} gathering;

static const char *path_of(const gathering *g, int64_t i)
{
    return g->files.path.text + g->files.path.at[i];
}

static const char *class_of(const gathering *g, int64_t i)
{
    return g->files.folder.text + g->files.folder.at[i];
}

/* Checks that all files with coordinate names have the same ones. */
static ddsc_status check_coordinates(gathering *g, const measures_texts *here, const char *path)
{
    const measures_texts *there = &g->coordinates;
    if (here->n > 0 && there->n == 0) {
        g->named = path;
        CHECK(texts_copy(g->ctx, &g->coordinates, here));
    }
    for (int64_t k = 0; k < BASE_MIN(here->n, there->n); k++)
        if (strcmp(texts_get(here, k), texts_get(there, k)) != 0)
            return ctx_fail(g->ctx, DDSC_ERROR_INPUT,
                            "%s: found the coordinate \"%s\" where %s has \"%s\"; all files must "
                            "have the same coordinates (choose channels by name)",
                            path, QUOTE(texts_get(here, k)), g->named, QUOTE(texts_get(there, k)));
    return DDSC_OK;
}

/* Checks that a new set can be joined with the set that contains the first file, which is on the
 * highest level in use. */
static ddsc_status check_alike(gathering *g, const measures_parts *more, const char *path)
{
    for (int k = LEVELS; k-- > 0;)
        if (g->level[k].offset) {
            CHECK(sets_check(g->ctx, &g->level[k], more, path));
            break;
        }
    return check_coordinates(g, &more->coordinates, path);
}

static ddsc_status add_set(gathering *g, measures_parts *more, const char *path)
{
    int k = 0;
    for (; g->level[k].offset; k++) {
        CHECK(sets_join(g->ctx, &g->level[k], more, path));
        *more = g->level[k];
        g->level[k] = (measures_parts){0};
    }
    g->level[k] = *more;
    *more = (measures_parts){0};
    return DDSC_OK;
}

static ddsc_status gather_levels(gathering *g)
{
    for (int k = 0; k < LEVELS; k++) {
        if (!g->level[k].offset)
            continue;
        if (g->parts.offset)
            CHECK(sets_join(g->ctx, &g->level[k], &g->parts, g->where));
        g->parts = g->level[k];
        g->level[k] = (measures_parts){0};
    }
    return DDSC_OK;
}

static ddsc_status gather_stream(gathering *g, io_stream *s, const char *path)
{
    ddsc_status status = DDSC_OK;
    measures_parts more = {0};
    ddsc_format format;
    TRY(io_read_parts(g->ctx, &more, &format, s, g->set, g->several));
    TRY(check_alike(g, &more, path));
    g->singles = g->singles && more.n == 1 && !more.id_text;
    see_format(&g->seen, format);
    if (g->several)
        TRY(sets_prepare(g->ctx, &more, path));
    TRY(add_set(g, &more, path));
done:
    measures_parts_free(g->ctx, &more);
    return status;
}

static ddsc_status gather_files(gathering *g)
{
    bool many = g->files.n > 1; /* progress is not shown for a single file */
    if (many)
        progress_begin(g->ctx, "files", g->files.n);
    for (int64_t i = 0; i < g->files.n; i++) {
        io_stream *s = NULL;
        CHECK(stream_open(g->ctx, &s, path_of(g, i), g->set->max_bytes));
        ddsc_status status = gather_stream(g, s, path_of(g, i));
        stream_close(s);
        CHECK(status);
        if (many) {
            progress_add(g->ctx, 1);
            CHECK(progress_poll(g->ctx));
        }
    }
    if (many)
        progress_end(g->ctx);
    return DDSC_OK;
}

/* ---- one item per file ---- */

/* Names each item after its file, preceded by its folder if folders are classes. If two names are
 * equal, all items are named by their paths. */
static ddsc_status name_by_file(gathering *g)
{
    ddsc_status status = DDSC_OK;
    text_table ids = {0};
    char *name = NULL;
    int64_t capacity = 0, number;
    bool distinct = true, is_new = true;
    for (int64_t i = 0; i < g->files.n && distinct; i++) {
        TRY(files_name(g->ctx, &name, &capacity, path_of(g, i), class_of(g, i)));
        TRY(text_table_add(g->ctx, &ids, name, strlen(name), &number, &is_new));
        distinct = is_new;
    }
    if (!distinct) {
        text_rows paths = {.ctx = g->ctx};
        text_table_free(g->ctx, &ids);
        ids = (text_table){0};
        for (int64_t i = 0; i < g->files.n && status >= 0; i++)
            status = text_rows_add(&paths, i, path_of(g, i), strlen(path_of(g, i)));
        ids.text = paths.text;
        ids.at = paths.at;
        TRY(status);
    }
    MEM_FREE(g->ctx, g->parts.id_text, g->parts.id_at);
    g->parts.id_text = ids.text;
    g->parts.id_at = ids.at;
    ids.text = NULL;
    ids.at = NULL;
done:
    text_table_free(g->ctx, &ids);
    mem_free(g->ctx, name);
    return status;
}

/* Warns about ids that occur in several files. Rows with the same id form one item only within a
 * file, which users who split a table may not expect. */
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
                 "%lld items have the same id as an item in an earlier file (the first is \"%s\") "
                 "and remain separate items; to merge them, put their rows into one file",
                 (long long)n_shared, QUOTE(shared));
done:
    text_table_free(g->ctx, &table);
    return status;
}

/* Fails if a file name is not valid UTF-8, because the result could not be read back. */
static ddsc_status check_file_names(const gathering *g)
{
    for (int64_t i = 0; i < g->files.n; i++)
        if (text_count_chars(path_of(g, i)) < 0)
            return ctx_fail(g->ctx, DDSC_ERROR_INPUT,
                            "%s: the file name is not valid UTF-8; rename the file",
                            QUOTE(path_of(g, i)));
    return DDSC_OK;
}

static ddsc_status label_by_folder(gathering *g)
{
    ddsc_status status = DDSC_OK;
    label_list labels = {0};
    bool any = false;
    for (int64_t i = 0; i < g->files.n; i++) {
        const char *class = class_of(g, i);
        any = any || *class;
        TRY(label_list_add(g->ctx, &labels, class, strlen(class)));
    }
    if (any && !g->parts.label)
        TRY(label_list_finish(g->ctx, &labels, &g->parts));
done:
    label_list_free(g->ctx, &labels);
    return status;
}

/* Returns true if items are named after their files. In formats with one item per file, even a
 * single item is named after its file. */
static bool named_by_file(const gathering *g)
{
    return g->singles && (g->several || g->seen.fcs || g->seen.image || g->seen.cloud);
}

static ddsc_status gather_finish(gathering *g, measures **out)
{
    CHECK(gather_levels(g));
    CHECK(check_used(g->ctx, g->set, g->where, g->seen));
    if (named_by_file(g) && g->files.n == g->parts.n) {
        CHECK(check_file_names(g));
        CHECK(name_by_file(g));
        CHECK(label_by_folder(g));
    }
    if (g->several)
        CHECK(warn_of_shared_ids(g));
    CHECK(add_labels(g->ctx, &g->parts, g->where, g->set));
    if (g->set->meta_path) {
        measures_parts *p = &g->parts;
        meta_target to = {p->n, p->id_text, p->id_at, &p->meta_names, &p->meta, g->where};
        CHECK(io_read_meta(g->ctx, &to, g->set->meta_path, g->set->id_columns, g->set->max_bytes));
    }
    return measures_build(g->ctx, out, &g->parts, g->set->on_empty, g->where);
}

static void gathering_free(gathering *g)
{
    files_free(g->ctx, &g->files);
    texts_free(g->ctx, &g->coordinates);
    for (int k = 0; k < LEVELS; k++)
        measures_parts_free(g->ctx, &g->level[k]);
    measures_parts_free(g->ctx, &g->parts);
}

ddsc_status io_read_measures(ddsc_context *ctx, measures **out, io_stream *s,
                             const ddsc_read_settings *set)
{
    ddsc_status status = DDSC_OK;
    gathering g = {.ctx = ctx, .set = set, .where = stream_name(s), .singles = true};
    TRY(gather_stream(&g, s, stream_name(s)));
    TRY(gather_finish(&g, out));
done:
    gathering_free(&g);
    return status;
}

/* Extensions of the files that are read from a folder, in order of preference: formats with one
 * item per file, text files with bare numbers, and tables. */
static const char *const single_endings[] = {"png", "jpg", "jpeg", "pgm", "ppm", "fcs", "ply",
                                             "off", "pcd", "xyz",  "pts", "npy", NULL};
static const char *const text_endings[] = {"txt", NULL};
static const char *const table_endings[] = {"csv", "tsv", NULL};
static const char *const *const folder_kinds[] = {single_endings, text_endings, table_endings,
                                                  NULL};

static ddsc_status read_paths(ddsc_context *ctx, measures **out, int64_t n_paths,
                              const char *const *paths, const ddsc_read_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_read_settings set;
    gathering g = {.ctx = ctx, .set = &set, .singles = true};
    char where[64];
    stage_enter(ctx, "read");
    TRY(take_settings(ctx, &set, settings));
    for (int64_t i = 0; i < n_paths; i++)
        TRY(files_add(ctx, &g.files, paths[i], folder_kinds));
    snprintf(where, sizeof where, "%lld files", (long long)g.files.n);
    g.where = n_paths == 1 ? paths[0] : where;
    g.several = g.files.n > 1 || files_is_folder(paths[0]);
    TRY(gather_files(&g));
    TRY(gather_finish(&g, out));
done:
    gathering_free(&g);
    stage_leave(ctx, NULL);
    return status;
}

ddsc_status ddsc_measures_read(ddsc_context *ctx, ddsc_measures **out, const char *path,
                               const ddsc_read_settings *settings)
{
    CHECK(ctx_enter_new(ctx, out));
    CHECK(ctx_need(ctx, path, "path"));
    return read_paths(ctx, out, 1, &path, settings);
}

ddsc_status ddsc_measures_read_files(ddsc_context *ctx, ddsc_measures **out, int64_t n_paths,
                                     const char *const *paths, const ddsc_read_settings *settings)
{
    CHECK(ctx_enter_new(ctx, out));
    if (n_paths < 1 || !paths)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "no input paths were given");
    for (int64_t i = 0; i < n_paths; i++)
        if (!paths[i])
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "path %lld is NULL", (long long)i);
    return read_paths(ctx, out, n_paths, paths, settings);
}
