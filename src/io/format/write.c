/* Writes sets of items to files. */
#include "io/format/table.h"

#include <stdio.h>
#include <string.h>

/* ---- csv and d2, without dropped items ---- */

static const char *write_item_id(const measures *m, int64_t i)
{
    return ddsc_measures_get_id(m, m->row[i]);
}

/* Checks that ids are distinct and not empty, because rows with the same id form one item. */
static ddsc_status check_ids(ddsc_context *ctx, const measures *m)
{
    ddsc_status status = DDSC_OK;
    text_table table = {0};
    for (int64_t i = 0; i < m->n; i++) {
        const char *id = write_item_id(m, i);
        int64_t number;
        bool is_new;
        TRY(text_table_add(ctx, &table, id, strlen(id), &number, &is_new));
        if (!is_new)
            TRY(ctx_fail(ctx, DDSC_ERROR_INPUT,
                         "items %lld and %lld have the same id \"%.100s\", which csv cannot "
                         "represent; write npz instead",
                         (long long)number, (long long)i, id));
        if (!*id)
            TRY(ctx_fail(ctx, DDSC_ERROR_INPUT,
                         "item %lld has an empty id, which csv cannot represent; write npz instead",
                         (long long)i));
    }
done:
    text_table_free(ctx, &table);
    return status;
}

static ddsc_status put_label(const measures *m, io_writer *w, int64_t item, char delimiter)
{
    int32_t label = m->label[m->row[item]];
    const char *name = ddsc_measures_get_label_name(m, label);
    CHECK(writer_put(w, &delimiter, 1));
    if (name)
        CHECK(writer_field(w, name, delimiter));
    else if (m->n_names == 0)
        CHECK(writer_printf(w, "%d", label));
    return DDSC_OK;
}

static ddsc_status csv_put_text(io_writer *w, const char *text, char delimiter)
{
    CHECK(writer_put(w, &delimiter, 1));
    return writer_field(w, text, delimiter);
}

/* Writes the name of a coordinate. If the name is missing or already in the header, writes x1, x2,
 * ... instead. */
static ddsc_status put_coordinate(ddsc_context *ctx, const measures *m, io_writer *w,
                                  text_table *used, int64_t k, char delimiter)
{
    char made[NUMBER_TEXT];
    int64_t number;
    const char *name = texts_get(&m->coordinates, k);
    bool is_new = false;
    if (*name)
        CHECK(text_table_add(ctx, used, name, strlen(name), &number, &is_new));
    for (int64_t more = k; !is_new; more += m->d) {
        snprintf(made, sizeof made, "x%lld", (long long)more + 1);
        CHECK(text_table_add(ctx, used, made, strlen(made), &number, &is_new));
        name = made;
    }
    return csv_put_text(w, name, delimiter);
}

static ddsc_status put_meta_name(ddsc_context *ctx, const measures *m, io_writer *w, int64_t k,
                                 char delimiter)
{
    char *name = NULL;
    const char *own = texts_get(&m->meta_names, k);
    CHECK(mem_get(ctx, &name, (int64_t)(strlen(own) + sizeof TABLE_META), 1));
    memcpy(name, TABLE_META, sizeof TABLE_META);
    strcat(name, own);
    ddsc_status status = csv_put_text(w, name, delimiter);
    mem_free(ctx, name);
    return status;
}

static ddsc_status put_header(ddsc_context *ctx, const measures *m, io_writer *w, char delimiter)
{
    static const char *const columns[] = {"id", "weight", "label", "title", "point_name"};
    const bool there[] = {true, true, m->label != NULL, m->titles.n > 0, m->points.n > 0};
    ddsc_status status = DDSC_OK;
    text_table used = {0};
    int64_t number;
    bool is_new;
    for (int k = 0; k < 5; k++) {
        TRY(text_table_add(ctx, &used, columns[k], strlen(columns[k]), &number, &is_new));
        if (there[k])
            TRY(k ? csv_put_text(w, columns[k], delimiter)
                  : writer_field(w, columns[k], delimiter));
    }
    for (int64_t k = 0; k < m->meta_names.n; k++)
        TRY(put_meta_name(ctx, m, w, k, delimiter));
    for (int64_t k = 0; k < m->d; k++)
        TRY(put_coordinate(ctx, m, w, &used, k, delimiter));
    TRY(writer_put(w, "\n", 1));
done:
    text_table_free(ctx, &used);
    return status;
}

static ddsc_status csv_write_measures(ddsc_context *ctx, const measures *m, io_writer *w,
                                      char delimiter)
{
    CHECK(check_ids(ctx, m));
    CHECK(put_header(ctx, m, w, delimiter));
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t p = m->offset[i]; p < m->offset[i + 1]; p++) {
            CHECK(writer_field(w, write_item_id(m, i), delimiter));
            CHECK(writer_put(w, &delimiter, 1));
            CHECK(writer_number(w, m->weight[p]));
            if (m->label)
                CHECK(put_label(m, w, i, delimiter));
            if (m->titles.n > 0)
                CHECK(csv_put_text(w, texts_get(&m->titles, m->row[i]), delimiter));
            if (m->points.n > 0)
                CHECK(csv_put_text(w, texts_get(&m->points, m->index[p]), delimiter));
            for (int64_t k = 0, c = m->meta_names.n; k < c; k++)
                CHECK(csv_put_text(w, texts_get(&m->meta, m->row[i] * c + k), delimiter));
            const double *x = measures_point(m, m->index[p]);
            for (int64_t k = 0; k < m->d; k++) {
                CHECK(writer_put(w, &delimiter, 1));
                CHECK(writer_number(w, x[k]));
            }
            CHECK(writer_put(w, "\n", 1));
        }
    return DDSC_OK;
}

/* Writes the items in d2 format. The blank lines between objects tell readers that each object has
 * one phase. */
static ddsc_status d2_write_measures(const measures *m, io_writer *w)
{
    for (int64_t i = 0; i < m->n; i++) {
        item_view item = measures_item(m, i);
        CHECK(
            writer_printf(w, "%s%lld\n%lld\n", i ? "\n" : "", (long long)m->d, (long long)item.n));
        for (int64_t p = 0; p < item.n; p++) {
            CHECK(writer_number(w, item.weight[p]));
            CHECK(writer_put(w, p + 1 < item.n ? " " : "\n", 1));
        }
        for (int64_t c = 0; c < item.n * m->d; c++) {
            CHECK(writer_number(w, measures_point(m, item.index[c / m->d])[c % m->d]));
            CHECK(writer_put(w, (c + 1) % m->d ? " " : "\n", 1));
        }
    }
    return DDSC_OK;
}

/* ---- public ---- */

static bool ends_in(const char *name, size_t n, const char *ending)
{
    size_t k = strlen(ending);
    return n > k && strncasecmp(name + n - k, ending, k) == 0;
}

static ddsc_format format_by_name(const char *path)
{
    size_t n = strlen(path);
    if (ends_in(path, n, ".npz"))
        return DDSC_FORMAT_NPZ;
    if (ends_in(path, n, ".gz"))
        n -= 3;
    if (ends_in(path, n, ".csv"))
        return DDSC_FORMAT_CSV;
    if (ends_in(path, n, ".tsv"))
        return DDSC_FORMAT_TSV;
    if (ends_in(path, n, ".d2"))
        return DDSC_FORMAT_D2;
    return DDSC_FORMAT_AUTO;
}

static ddsc_status write_as(ddsc_context *ctx, const measures *m, io_writer *w, ddsc_format format)
{
    if (format != DDSC_FORMAT_NPZ && (m->recipe.n > 0 || m->words.n > 0))
        ctx_warn(ctx,
                 "only npz stores fitted data (%s), so a model of this file cannot transform new "
                 "items in the same way",
                 m->words.n > 0 ? "the words of the documents" : "transforms");
    switch (format) {
    case DDSC_FORMAT_NPZ: return npz_write_measures(ctx, m, w);
    case DDSC_FORMAT_CSV: return csv_write_measures(ctx, m, w, ',');
    case DDSC_FORMAT_TSV: return csv_write_measures(ctx, m, w, '\t');
    default:
        if (m->id_text || m->label || m->coordinates.n > 0)
            ctx_warn(ctx, "the d2 format cannot store ids, labels or names, so they were omitted");
        return d2_write_measures(m, w);
    }
}

ddsc_status ddsc_measures_write(ddsc_context *ctx, const ddsc_measures *m, const char *path,
                                ddsc_format format, unsigned flags)
{
    io_writer *w = NULL;
    CHECK(ctx_enter(ctx));
    CHECK(ctx_need(ctx, m, "measures"));
    CHECK(ctx_need(ctx, path, "path"));
    if (format == DDSC_FORMAT_AUTO)
        format = format_by_name(path);
    if (format != DDSC_FORMAT_NPZ && format != DDSC_FORMAT_CSV && format != DDSC_FORMAT_TSV &&
        format != DDSC_FORMAT_D2)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "%s: the file name must end in .npz, .csv, .tsv or .d2 (the last three "
                        "optionally followed by .gz)",
                        path);
    CHECK(writer_open(ctx, &w, path, flags));
    return writer_finish(w, write_as(ctx, m, w, format));
}
