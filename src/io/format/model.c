/* Reads and writes the model of a clustering as npz. It contains a set of items labeled by cluster
 * and the arrays that assign new items. All arrays must exist and match; otherwise, the model is
 * rejected. */
#include "data/model.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/team.h"
#include "io/format/archive.h"

/* ---- settings: one text per field, "name=value" ---- */

typedef enum field_kind { FIELD_COUNT, FIELD_NUMBER, FIELD_CHOICE, FIELD_WORD } field_kind;

typedef struct field {
    const char *name;
    field_kind kind;
    size_t offset;       /* of an int64_t, a double, an enum, or an enum stored as int64_t */
    const char *choices; /* names of the enum values in order, each followed by a blank */
} field;

#define AT(member) offsetof(struct ddsc_model, member)

static const field fields[] = {
    {"k", FIELD_COUNT, AT(k), NULL},
    {"tau", FIELD_COUNT, AT(tau), NULL},
    {"gamma", FIELD_NUMBER, AT(gamma), NULL},
    {"least_scale", FIELD_NUMBER, AT(least_scale), NULL},
    {"far_distance", FIELD_NUMBER, AT(far_distance), NULL},
    {"far_neighbor", FIELD_COUNT, AT(far_neighbor), NULL},
    {"metric", FIELD_CHOICE, AT(metric.metric), "w2 sinkhorn mmd lot w1 "},
    {"epsilon", FIELD_NUMBER, AT(metric.epsilon), NULL},
    {"sinkhorn_value", FIELD_CHOICE, AT(metric.sinkhorn_value),
     "regularized sharp debiased paper "},
    {"sinkhorn_tolerance", FIELD_NUMBER, AT(metric.sinkhorn_tolerance), NULL},
    {"sinkhorn_max_iterations", FIELD_COUNT, AT(metric.sinkhorn_max_iterations), NULL},
    {"mmd_kernel", FIELD_CHOICE, AT(metric.mmd_kernel), "gaussian laplace energy "},
    {"bandwidth", FIELD_NUMBER, AT(metric.bandwidth), NULL},
    {"mmd_estimator", FIELD_CHOICE, AT(metric.mmd_estimator), "unbiased biased "},
    {"w2_max_pivots", FIELD_COUNT, AT(metric.w2_max_pivots), NULL},
    {"cost", FIELD_WORD, AT(metric.cost), "default sqeuclidean euclidean cosine cityblock matrix "},
};
/* If the cost is squared Euclidean, the last field is omitted, so that versions that had no other
 * cost can read the settings. */
enum { N_FIELDS = sizeof fields / sizeof *fields, COST_FIELD = N_FIELDS - 1, FIELD_TEXT = 96 };

static bool tells_cost(const ddsc_model *m)
{
    return m->metric.cost != DDSC_COST_DEFAULT && m->metric.cost != DDSC_COST_SQEUCLIDEAN;
}

typedef struct settings_text {
    char line[N_FIELDS][FIELD_TEXT];
} settings_text;

/* Writes word number `which` of `choices` to `out`. */
static void choice_format(char *out, const char *choices, int which)
{
    for (; which > 0; which--)
        choices += strcspn(choices, " ") + 1;
    snprintf(out, FIELD_TEXT / 2, "%.*s", (int)strcspn(choices, " "), choices);
}

static void settings_format(settings_text *t, const ddsc_model *m)
{
    for (int k = 0; k < N_FIELDS; k++) {
        const void *at = (const char *)m + fields[k].offset;
        char value[FIELD_TEXT / 2];
        switch (fields[k].kind) {
        case FIELD_COUNT:
            snprintf(value, sizeof value, "%lld", (long long)*(const int64_t *)at);
            break;
        case FIELD_NUMBER: number_format(value, *(const double *)at); break;
        case FIELD_CHOICE: choice_format(value, fields[k].choices, *(const int *)at); break;
        case FIELD_WORD: choice_format(value, fields[k].choices, (int)*(const int64_t *)at); break;
        }
        snprintf(t->line[k], FIELD_TEXT, "%s=%s", fields[k].name, value);
    }
}

static bool choice_parse(int *out, const char *choices, const char *value)
{
    size_t n = strlen(value);
    *out = 0;
    for (; *choices; choices += strcspn(choices, " ") + 1, ++*out)
        if (n > 0 && strcspn(choices, " ") == n && memcmp(choices, value, n) == 0)
            return true;
    return false;
}

static bool field_parse(ddsc_model *m, const field *f, const char *value)
{
    void *at = (char *)m + f->offset;
    switch (f->kind) {
    case FIELD_COUNT: return number_parse_integer(value, at);
    case FIELD_NUMBER: return number_parse(value, at);
    case FIELD_CHOICE: return choice_parse(at, f->choices, value);
    case FIELD_WORD: break;
    }
    int word;
    bool known = choice_parse(&word, f->choices, value);
    *(int64_t *)at = word;
    return known;
}

/* ---- writing ---- */

static const char *get_line(const void *arg, int64_t i)
{
    return ((const settings_text *)arg)->line[i];
}

static ddsc_status add_doubles(npz_writer *z, const char *name, const double *x, int64_t n)
{
    return npz_writer_add(z, name, NPY_FLOAT8, 1, &n, 8, NULL, x);
}

static ddsc_status add_table(npz_writer *z, const char *name, const double *x, int64_t rows,
                             int64_t columns)
{
    int64_t shape[2] = {rows, columns};
    return npz_writer_add(z, name, NPY_FLOAT8, 2, shape, 8, NULL, x);
}

static ddsc_status add_reference(npz_writer *z, const measures *reference)
{
    CHECK(add_table(z, "reference_points", reference->support, reference->v, reference->d));
    return add_doubles(z, "reference_weights", reference->weight, reference->nnz);
}

ddsc_status npz_write_model(ddsc_context *ctx, const ddsc_model *m, io_writer *w)
{
    ddsc_status status = DDSC_OK;
    npz_writer *z = NULL;
    settings_text text;
    const int32_t version = m->hub_scale ? MODEL_VERSION : MODEL_PLAIN;
    const int64_t one = 1;
    settings_format(&text, m);
    TRY(npz_writer_open(ctx, &z, w));
    TRY(npz_writer_add(z, "model_version", NPY_INT4, 1, &one, 4, NULL, &version));
    TRY(npz_add_strings(z, "model_settings", get_line, &text,
                        tells_cost(m) ? N_FIELDS : COST_FIELD));
    TRY(npz_add_items(z, m->items));
    TRY(add_table(z, "embedding", m->embedding, m->n, m->width));
    TRY(add_doubles(z, "eigenvalues", m->eigenvalue, m->width));
    TRY(add_doubles(z, "radius", m->radius, m->n));
    TRY(add_doubles(z, "scale", m->scale, m->n));
    TRY(add_doubles(z, "reach", m->reach, m->n));
    TRY(add_table(z, "centers", m->center, m->n_centers, m->width));
    TRY(npz_writer_add(z, "center_labels", NPY_INT4, 1, &m->n_centers, 4, NULL, m->center_label));
    if (m->hub_scale)
        TRY(add_doubles(z, "hub_scale", m->hub_scale, m->n));
    if (m->cost_matrix)
        TRY(add_table(z, "cost_matrix", m->cost_matrix, m->metric.cost_size, m->metric.cost_size));
    if (m->reference)
        TRY(add_reference(z, m->reference));
    TRY(npz_add_memberships(z, m));
    TRY(npz_writer_finish(z));
done:
    npz_writer_close(z);
    return status;
}

ddsc_status ddsc_model_write(ddsc_context *ctx, const ddsc_model *m, const char *path,
                             unsigned flags)
{
    io_writer *w = NULL;
    CHECK(ctx_enter(ctx));
    CHECK(ctx_need(ctx, m, "model"));
    CHECK(ctx_need(ctx, path, "path"));
    CHECK(writer_open(ctx, &w, path, flags));
    return writer_finish(w, npz_write_model(ctx, m, w));
}

/* ---- reading ---- */

static ddsc_status need(archive *z, const char *name)
{
    if (archive_has(z, name))
        return DDSC_OK;
    return stream_fail(z->s, "is not a complete model: the array '%s' is missing", name);
}

/* Returns the name of an array in this file, which versions up to 0.2.0 spelled differently. */
static const char *array_name(const archive *z, const char *name, const char *old)
{
    return archive_has(z, name) || !archive_has(z, old) ? name : old;
}

static ddsc_status check_version(archive *z, bool *plain)
{
    ddsc_status status = DDSC_OK;
    int64_t *version = NULL;
    if (!archive_has(z, "model_version"))
        return stream_fail(z->s,
                           "is not a model; `ddsc cluster -o DIR` writes one as DIR/model.npz");
    TRY(archive_open_array(z, "model_version", 1));
    if (z->array.count != 1)
        TRY(stream_fail(z->member, "has %lld elements instead of one", (long long)z->array.count));
    TRY(npy_read_integers(z->ctx, &version, z->member, &z->array));
    TRY(archive_close_array(z));
    *plain = *version == MODEL_PLAIN;
    if (*version != MODEL_PLAIN && *version != MODEL_VERSION)
        TRY(stream_fail(z->s,
                        "is a model of format %lld, but ddsc %s reads formats %d and %d; cluster "
                        "again with this version",
                        (long long)*version, ddsc_version(), MODEL_PLAIN, MODEL_VERSION));
done:
    mem_free(z->ctx, version);
    return status;
}

/* Beginnings of settings as versions up to 0.2.0 spelled them. */
static const struct {
    const char *old, *name;
} renamed[] = {{"far_neighbour=", "far_neighbor="},
               {"sinkhorn_value=regularised", "sinkhorn_value=regularized"}};

/* Copies a setting in today's spelling, cut to `size` bytes. */
static void setting_copy(char *out, size_t size, const char *text, size_t n)
{
    const char *name = "";
    size_t skip = 0;
    for (size_t k = 0; k < sizeof renamed / sizeof *renamed; k++) {
        size_t length = strlen(renamed[k].old);
        if (n >= length && memcmp(text, renamed[k].old, length) == 0) {
            name = renamed[k].name;
            skip = length;
        }
    }
    snprintf(out, size, "%s%.*s", name, (int)BASE_MIN(n - skip, size), text + skip);
}

typedef struct settings_reader {
    archive *z;
    ddsc_model *m;
    bool seen[N_FIELDS];
} settings_reader;

static ddsc_status take_setting(void *arg, int64_t element, const char *text, size_t n)
{
    settings_reader *r = arg;
    char line[FIELD_TEXT], quoted[QUOTE_TEXT];
    (void)element;
    setting_copy(line, sizeof line, text, n);
    char *value = strchr(line, '=');
    for (int k = 0; value && n < sizeof line && k < N_FIELDS; k++) {
        size_t length = (size_t)(value - line);
        if (r->seen[k] || strlen(fields[k].name) != length ||
            memcmp(fields[k].name, line, length) != 0)
            continue;
        r->seen[k] = field_parse(r->m, &fields[k], value + 1);
        if (r->seen[k])
            return DDSC_OK;
    }
    return stream_fail(r->z->member, "has an invalid setting: \"%s\"", text_quote(quoted, text, n));
}

static ddsc_status read_settings(archive *z, ddsc_model *m)
{
    settings_reader r = {.z = z, .m = m};
    CHECK(need(z, "model_settings"));
    CHECK(archive_open_array(z, "model_settings", 1));
    CHECK(npy_read_text(z->ctx, z->member, &z->array, take_setting, &r));
    for (int k = 0; k < N_FIELDS; k++)
        if (!r.seen[k] && k != COST_FIELD)
            CHECK(stream_fail(z->member, "is missing the setting %s", fields[k].name));
    CHECK(archive_close_array(z));
    ddsc_metric_settings *metric = &m->metric;
    bool kernel = metric->metric == DDSC_METRIC_MMD && metric->mmd_kernel != DDSC_KERNEL_ENERGY;
    metric->bandwidth_rule = kernel ? DDSC_BANDWIDTH_VALUE : DDSC_BANDWIDTH_AUTO;
    metric->epsilon_is_percent = metric->metric != DDSC_METRIC_SINKHORN;
    return DDSC_OK;
}

static ddsc_status read_items(archive *z, ddsc_model *m)
{
    ddsc_status status = DDSC_OK;
    measures_parts parts = {0};
    TRY(archive_read_items(z, &parts));
    TRY(measures_build(z->ctx, &m->items, &parts, DDSC_EMPTY_ERROR, stream_name(z->s)));
    m->n = m->items->n;
done:
    measures_parts_free(z->ctx, &parts);
    return status;
}

static ddsc_status read_doubles(archive *z, double **out, const char *name, int64_t n)
{
    CHECK(need(z, name));
    CHECK(archive_open_array(z, name, 1));
    if (z->array.count != n)
        CHECK(stream_fail(z->member, "has %lld elements instead of %lld", (long long)z->array.count,
                          (long long)n));
    CHECK(npy_read_doubles(z->ctx, out, z->member, &z->array));
    return archive_close_array(z);
}

static ddsc_status model_read_rows(archive *z, double **out, const char *name, int64_t *rows,
                                   int64_t *columns, bool sizes_known)
{
    int64_t n_rows, n_columns;
    CHECK(need(z, name));
    CHECK(archive_read_table(z, name, out, &n_rows, &n_columns));
    if ((sizes_known && n_rows != *rows) || (*columns > 0 && n_columns != *columns))
        CHECK(stream_fail(z->s,
                          "is not a complete model: the array '%s' has the shape (%lld, %lld)",
                          name, (long long)n_rows, (long long)n_columns));
    *rows = n_rows;
    *columns = n_columns;
    return DDSC_OK;
}

static ddsc_status read_center_labels(archive *z, ddsc_model *m)
{
    const char *name = array_name(z, "center_labels", "centre_labels");
    CHECK(need(z, name));
    CHECK(archive_open_array(z, name, 1));
    if (z->array.count != m->n_centers)
        CHECK(stream_fail(z->member, "has %lld elements for %lld centers",
                          (long long)z->array.count, (long long)m->n_centers));
    CHECK(npy_read_indices(z->ctx, &m->center_label, z->member, &z->array));
    return archive_close_array(z);
}

static ddsc_status read_reference(archive *z, ddsc_model *m)
{
    ddsc_status status = DDSC_OK;
    measures_parts parts = {.n = 1, .d = m->items->d};
    if (m->metric.metric != DDSC_METRIC_LOT)
        return DDSC_OK;
    TRY(model_read_rows(z, &parts.support, "reference_points", &parts.v, &parts.d, false));
    parts.nnz = parts.v;
    TRY(read_doubles(z, &parts.weight, "reference_weights", parts.v));
    TRY(MEM_ZERO(z->ctx, parts.offset, 2));
    parts.offset[1] = parts.v;
    TRY(measures_build(z->ctx, &m->reference, &parts, DDSC_EMPTY_ERROR, stream_name(z->s)));
    m->metric.reference_rule = DDSC_REFERENCE_MEASURES;
    m->metric.reference_measures = m->reference;
done:
    measures_parts_free(z->ctx, &parts);
    return status;
}

static ddsc_status read_cost_matrix(archive *z, ddsc_model *m)
{
    int64_t rows = 0, columns = 0;
    if (m->metric.cost != DDSC_COST_MATRIX)
        return DDSC_OK;
    CHECK(model_read_rows(z, &m->cost_matrix, "cost_matrix", &rows, &columns, false));
    if (rows != columns)
        return stream_fail(z->s, "is not a complete model: its cost matrix is not square");
    m->metric.cost_matrix = m->cost_matrix;
    m->metric.cost_size = rows;
    return DDSC_OK;
}

static ddsc_status read_arrays(archive *z, ddsc_model *m, bool plain)
{
    CHECK(read_items(z, m));
    CHECK(model_read_rows(z, &m->embedding, "embedding", &m->n, &m->width, true));
    CHECK(read_doubles(z, &m->eigenvalue, "eigenvalues", m->width));
    CHECK(read_doubles(z, &m->radius, "radius", m->n));
    CHECK(read_doubles(z, &m->scale, "scale", m->n));
    CHECK(read_doubles(z, &m->reach, "reach", m->n));
    if (!plain)
        CHECK(read_doubles(z, &m->hub_scale, "hub_scale", m->n));
    CHECK(model_read_rows(z, &m->center, array_name(z, "centers", "centres"), &m->n_centers,
                          &m->width, false));
    CHECK(read_center_labels(z, m));
    CHECK(read_cost_matrix(z, m));
    CHECK(archive_read_memberships(z, m));
    return read_reference(z, m);
}

ddsc_status npz_read_model(ddsc_context *ctx, ddsc_model **out, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    archive z = {.ctx = ctx};
    ddsc_model *m = NULL;
    unsigned char head[4];
    size_t n;
    bool plain = true;
    *out = NULL;
    TRY(stream_peek(s, head, sizeof head, &n));
    if (io_sniff(head, n) != DDSC_FORMAT_NPZ)
        TRY(stream_fail(s, "is not a model; `ddsc cluster -o DIR` writes one as DIR/model.npz"));
    TRY(archive_open(ctx, &z, s));
    TRY(check_version(&z, &plain));
    TRY(MEM_ZERO(ctx, m, 1));
    m->ctx = ctx;
    m->metric.struct_size = sizeof m->metric;
    TRY(read_settings(&z, m));
    TRY(read_arrays(&z, m, plain));
    const char *breach = model_breach(m);
    if (breach)
        TRY(stream_fail(s, "is not a valid model: %s", breach));
    *out = m;
    m = NULL;
done:
    archive_close(&z);
    ddsc_model_destroy(m);
    return status;
}

/* Fails with a helpful message if the model is missing next to an existing result, because not
 * every clustering has a rule for new items. */
static ddsc_status check_is_there(ddsc_context *ctx, const char *path)
{
    char result[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    int length = snprintf(result, sizeof result, "%.*sresult.json", folder, path);
    if (access(path, F_OK) == 0 || length >= (int)sizeof result || access(result, F_OK) != 0)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_INPUT,
                    "%s: this result has no model, because joined metrics (w2+mmd), baselines and "
                    "given distances have no rule for new items; cluster with a single metric",
                    path);
}

static ddsc_status read_model(ddsc_context *ctx, ddsc_model **out, const char *path)
{
    io_stream *s = NULL;
    CHECK(ctx_need(ctx, path, "path"));
    CHECK(check_is_there(ctx, path));
    CHECK(stream_open(ctx, &s, path, STREAM_DEFAULT_MAX_BYTES));
    ddsc_status status = npz_read_model(ctx, out, s);
    stream_close(s);
    return status;
}

ddsc_status ddsc_model_read(ddsc_context *ctx, ddsc_model **out, const char *path)
{
    CHECK(ctx_enter_new(ctx, out));
    return read_model(ctx, out, path);
}

/* A model file, and its contents on the first rank. */
typedef struct model_file {
    ddsc_context *ctx;
    const char *path;
    ddsc_model *model;
} model_file;

static ddsc_status read_model_file(void *arg)
{
    model_file *f = arg;
    return read_model(f->ctx, &f->model, f->path);
}

ddsc_status ddsc_model_read_shared(ddsc_context *ctx, ddsc_model **out, const char *path)
{
    ddsc_status status = DDSC_OK;
    model_file f = {ctx, path, NULL};
    CHECK(ctx_enter_new(ctx, out));
    TRY(team_by_first(ctx, read_model_file, &f));
    TRY(model_move(ctx, &f.model));
    *out = f.model;
    f.model = NULL;
done:
    ddsc_model_destroy(f.model);
    return status;
}
