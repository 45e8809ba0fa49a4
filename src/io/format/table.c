/* Assigns roles to the columns of a table. Columns are identified by the requested names or by
 * default names (id, weight, label, title, point_name). All other columns are coordinates, unless
 * the settings list the coordinates. */
#include "io/format/table.h"

#include <stdio.h>
#include <string.h>

typedef struct chooser {
    ddsc_context *ctx;
    table_columns *c;
    io_stream *s;
    const ddsc_read_settings *set;
    bool *taken; /* columns that are not coordinates */
} chooser;

const char *table_name(const table_columns *c, int64_t column)
{
    return text_table_get(&c->names, column);
}

void table_free(ddsc_context *ctx, table_columns *c)
{
    text_table_free(ctx, &c->names);
    MEM_FREE(ctx, c->id, c->coordinate, c->meta);
}

static ddsc_status table_add_names(chooser *h, const field_list *header)
{
    int64_t number;
    bool is_new;
    for (int64_t k = 0; k < header->n; k++) {
        const char *name = header->text[k];
        CHECK(text_table_add(h->ctx, &h->c->names, name, strlen(name), &number, &is_new));
        if (!is_new)
            return stream_fail_line(h->s, ": the columns %lld and %lld are both named \"%s\"",
                                    (long long)number + 1, (long long)k + 1, QUOTE(name));
    }
    h->c->n = header->n;
    return DDSC_OK;
}

/* Writes a list of column names ("a, b, c") for messages. If like_ids is true, the list contains
 * only names that suggest item ids. */
static bool list_columns(const table_columns *c, char *out, size_t capacity, bool like_ids)
{
    static const char *const usual[] = {"*sample*", "*patient*", "*subject*", "*donor*",
                                        "*item*",   "*id",       "id*",       "*name*",
                                        "*file*",   "*group*",   "*doc*",     "*case*"};
    size_t at = 0;
    for (int64_t k = 0; k < c->n && at < capacity; k++) {
        bool good = !like_ids;
        for (size_t u = 0; u < sizeof usual / sizeof *usual; u++)
            good = good || text_glob(usual[u], table_name(c, k));
        if (good)
            at += (size_t)snprintf(out + at, capacity - at, "%s%s", at ? ", " : "",
                                   QUOTE(table_name(c, k)));
    }
    if (at >= capacity)
        strcpy(out + capacity - 4, "...");
    return at > 0;
}

static ddsc_status fail_unknown(chooser *h, const char *option, const char *name, size_t n)
{
    char list[400], quoted[QUOTE_TEXT];
    list_columns(h->c, list, sizeof list, false);
    return stream_fail_line(h->s, ": no column is named \"%s\" (%s); the columns are: %s",
                            text_quote(quoted, name, n), option, list);
}

/* Finds the column with a default name (id, weight, label, ...) or, if there is none, a column
 * whose name differs only in case. Columns with these names are never coordinates. */
static int64_t find_usual(const chooser *h, const char *name)
{
    int64_t found = text_table_find(&h->c->names, name, strlen(name));
    for (int64_t k = 0; k < h->c->n && found < 0; k++)
        if (strcasecmp(table_name(h->c, k), name) == 0)
            found = k;
    return found;
}

/* Finds the requested column or, if none is requested, the column with the default name, which need
 * not exist. */
static ddsc_status take_one(chooser *h, int64_t *found, const char *given, const char *usual,
                            const char *option)
{
    *found = given ? text_table_find(&h->c->names, given, strlen(given)) : find_usual(h, usual);
    if (!given && *found >= 0 && h->taken[*found]) /* the column identifies the item */
        *found = -1;
    if (*found < 0 && given)
        return fail_unknown(h, option, given, strlen(given));
    if (*found >= 0)
        h->taken[*found] = true;
    return DDSC_OK;
}

static ddsc_status fail_no_id(chooser *h)
{
    char list[400], first[QUOTE_TEXT];
    const char *name = table_name(h->c, 0);
    if (list_columns(h->c, list, sizeof list, true))
        return stream_fail_line(h->s,
                                ": no column is named \"id\"; specify the column that identifies "
                                "the items (--id COLUMN), perhaps: %s",
                                list);
    list_columns(h->c, list, sizeof list, false);
    return stream_fail_line(
        h->s,
        ": no column is named \"id\" (the first is \"%s\"); the first line must be a header such "
        "as id,weight,x,y, or specify the column that identifies the items (--id COLUMN): %s",
        text_quote(first, name, strlen(name)), list);
}

static ddsc_status take_ids(chooser *h)
{
    table_columns *c = h->c;
    const char *names = h->set->id_columns ? h->set->id_columns : "id";
    CHECK(MEM_NEW(h->ctx, c->id, c->n));
    for (const char *at = names;; at++) {
        size_t n = strcspn(at, ",");
        int64_t found = text_table_find(&c->names, at, n);
        if (found < 0 && !h->set->id_columns)
            found = find_usual(h, "id");
        if (found < 0 && !h->set->id_columns)
            return fail_no_id(h);
        if (found < 0)
            return fail_unknown(h, "--id", at, n);
        if (h->taken[found])
            return stream_fail_line(h->s, ": --id contains the column \"%s\" twice",
                                    QUOTE(table_name(h->c, found)));
        h->taken[found] = true;
        c->id[c->n_id++] = found;
        at += n;
        if (*at == '\0')
            return DDSC_OK;
    }
}

/* Assigns a requested metadata column. The column may also have another role, such as an id or the
 * class. */
static ddsc_status take_asked(void *arg, const char *name)
{
    chooser *h = arg;
    table_columns *c = h->c;
    int64_t found = text_table_find(&c->names, name, strlen(name));
    for (int64_t k = 0; k < c->n_meta; k++)
        found = c->meta[k] == found ? -1 : found;
    if (found >= 0) {
        c->meta[c->n_meta++] = found;
        h->taken[found] = true;
    }
    return DDSC_OK;
}

static ddsc_status take_meta(chooser *h)
{
    table_columns *c = h->c;
    CHECK(MEM_NEW(h->ctx, c->meta, c->n));
    if (h->set->item_columns)
        CHECK(text_each_listed(h->set->item_columns, take_asked, h));
    c->n_asked = c->n_meta;
    for (int64_t k = 0; k < c->n; k++) {
        const char *name = table_name(c, k);
        if (h->taken[k] || strncmp(name, TABLE_META, strlen(TABLE_META)) != 0)
            continue;
        for (int64_t a = 0; a < c->n_asked; a++)
            if (strcmp(table_name(c, c->meta[a]), name + strlen(TABLE_META)) == 0)
                return stream_fail_line(h->s, ": the columns \"%s\" and \"%s\" have the same name",
                                        QUOTE(table_name(c, c->meta[a])), QUOTE(name));
        c->meta[c->n_meta++] = k;
        h->taken[k] = true;
    }
    return DDSC_OK;
}

static ddsc_status take_where(chooser *h)
{
    const char *where = h->set->where;
    h->c->where = -1;
    if (!where)
        return DDSC_OK;
    size_t n = strcspn(where, "=");
    h->c->where = text_table_find(&h->c->names, where, n);
    if (h->c->where < 0)
        return fail_unknown(h, "--where", where, n);
    h->c->where_value = where + n + 1; /* take_settings has checked that there is a = */
    h->taken[h->c->where] = true;
    return DDSC_OK;
}

/* ---- coordinates ---- */

static void add_coordinate(chooser *h, int64_t column, bool by_name)
{
    table_columns *c = h->c;
    c->coordinate[c->n_coordinates++] = (table_column){.at = column, .by_name = by_name};
    h->taken[column] = true;
}

/* Selects the column with this name or, if there is none, the columns that match the pattern and
 * have no other role. */
static ddsc_status take_listed(void *arg, const char *name)
{
    chooser *h = arg;
    table_columns *c = h->c;
    size_t n = strlen(name);
    int64_t before = c->n_coordinates, column = text_table_find(&c->names, name, n);
    if (column >= 0) {
        if (!h->taken[column])
            add_coordinate(h, column, true);
        return DDSC_OK;
    }
    for (int64_t k = 0; k < c->n; k++)
        if (!h->taken[k] && text_glob(name, table_name(c, k)))
            add_coordinate(h, k, false);
    return c->n_coordinates > before ? DDSC_OK : fail_unknown(h, "--columns", name, n);
}

static ddsc_status drop_listed(void *arg, const char *name)
{
    chooser *h = arg;
    bool any = false;
    for (int64_t k = 0; k < h->c->n; k++)
        if (text_glob(name, table_name(h->c, k)))
            h->taken[k] = any = true;
    return any ? DDSC_OK : fail_unknown(h, "--drop", name, strlen(name));
}

/* Returns true for a column of row numbers. pandas and R write such a column first and without a
 * name. When pandas reads and rewrites the file, it names the column "Unnamed: 0". */
static bool is_nameless(const char *name)
{
    return *name == '\0' || strncmp(name, "Unnamed: ", 9) == 0;
}

static void drop_nameless(chooser *h)
{
    for (int64_t k = 0; k < h->c->n; k++)
        if (!h->taken[k] && is_nameless(table_name(h->c, k))) {
            h->taken[k] = true;
            ctx_warn(h->ctx, "%s: column %lld has no name and was excluded", stream_name(h->s),
                     (long long)k + 1);
        }
}

static ddsc_status take_coordinates(chooser *h)
{
    CHECK(MEM_NEW(h->ctx, h->c->coordinate, h->c->n));
    if (h->set->drop)
        CHECK(text_each_listed(h->set->drop, drop_listed, h));
    if (h->set->columns)
        CHECK(text_each_listed(h->set->columns, take_listed, h));
    else
        drop_nameless(h);
    for (int64_t k = 0; !h->set->columns && k < h->c->n; k++)
        if (!h->taken[k])
            add_coordinate(h, k, false);
    if (h->c->n_coordinates == 0)
        return stream_fail_line(h->s, ": the header contains no coordinate columns");
    return DDSC_OK;
}

ddsc_status table_choose(ddsc_context *ctx, table_columns *c, io_stream *s,
                         const field_list *header, const ddsc_read_settings *set)
{
    ddsc_status status = DDSC_OK;
    chooser h = {.ctx = ctx, .c = c, .s = s, .set = set};
    TRY(table_add_names(&h, header));
    TRY(MEM_ZERO(ctx, h.taken, c->n));
    TRY(take_ids(&h));
    TRY(take_one(&h, &c->weight, set->weight_column, "weight", "--weight"));
    TRY(take_one(&h, &c->label, set->label_column, "label", "--label"));
    TRY(take_one(&h, &c->title, NULL, "title", NULL));
    TRY(take_one(&h, &c->point, set->type_column, "point_name", "--type"));
    TRY(take_where(&h));
    TRY(take_meta(&h));
    TRY(take_coordinates(&h));
done:
    mem_free(ctx, h.taken);
    return status;
}
