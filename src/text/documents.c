/* Reads documents from a table, from JSON lines, or from files. In a tab-separated table, quotes
 * are data; with any other separator, quotes follow RFC 4180. Columns are selected by name and rows
 * are filtered. Words are counted as the rows are read. */
#include "text/text.h"

#include <stdio.h>
#include <string.h>

typedef struct column_list {
    int64_t *at;
    int64_t n, capacity;
} column_list;

typedef struct document_reader {
    ddsc_context *ctx;
    io_stream *s;
    documents *out;
    ddsc_text_report *report;
    const ddsc_text_settings *set;
    const text_table *stop;
    const lemma_table *lemmas; /* or NULL */
    token_reader tokens;
    field_list field;
    char delimiter;        /* tab: quotes are data */
    bool is_json;          /* columns are the keys of the first line */
    field_list key, value; /* of a JSON line */
    text_table names;      /* of the JSON columns */
    int64_t n_columns;
    column_list text, id;
    int64_t label, where, title; /* columns, or -1 */
    const char *where_value;
    char *joined, *tidy; /* id of a row; its title */
    int64_t joined_capacity, tidy_capacity;
} document_reader;

/* ---- columns ---- */

/* Finds the index of a column, or -1. Two columns with this name are an error. */
static ddsc_status find_column(document_reader *r, const char *name, size_t n, int64_t *found)
{
    char quoted[QUOTE_TEXT];
    *found = -1;
    for (int64_t c = 0; c < r->field.n; c++) {
        if (strlen(r->field.text[c]) != n || memcmp(r->field.text[c], name, n) != 0)
            continue;
        if (*found >= 0)
            return stream_fail(r->s, "columns %lld and %lld both have the name \"%s\"",
                               (long long)*found + 1, (long long)c + 1,
                               text_quote(quoted, name, n));
        *found = c;
    }
    return DDSC_OK;
}

/* Fails with a message that ends with the list of columns: "; the columns are: a, b, c". */
static ddsc_status fail_column(document_reader *r, const char *what, const char *name, size_t n)
{
    char list[256] = "", quoted[QUOTE_TEXT];
    size_t used = 0;
    for (int64_t c = 0; c < r->field.n && used < sizeof list; c++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", c ? ", " : "",
                                 text_quote(quoted, r->field.text[c], strlen(r->field.text[c])));
    text_quote(quoted, name, n);
    if (!r->s) /* each file is a document */
        return ctx_fail(r->ctx, DDSC_ERROR_INPUT, "%s\"%s\"; files have the columns: %s", what,
                        quoted, list);
    return stream_fail(r->s, "%s\"%s\"; the columns are: %s", what, quoted, list);
}

static ddsc_status need_column(document_reader *r, const char *name, size_t n, int64_t *found)
{
    ddsc_status status = find_column(r, name, n, found);
    if (status >= 0 && *found < 0)
        return fail_column(r, "no column has the name ", name, n);
    return status;
}

static ddsc_status has_column(document_reader *r, const char *name, bool *has)
{
    int64_t found;
    ddsc_status status = find_column(r, name, strlen(name), &found);
    *has = found >= 0;
    return status;
}

/* Finds the columns of a comma-separated list of names. */
static ddsc_status need_columns(document_reader *r, column_list *list, const char *names)
{
    for (const char *at = names;; at++) {
        size_t n = strcspn(at, ",");
        CHECK(MEM_RESERVE(r->ctx, list->at, &list->capacity, list->n + 1));
        CHECK(need_column(r, at, n, &list->at[list->n]));
        list->n++;
        at += n;
        if (*at == '\0')
            break;
    }
    return DDSC_OK;
}

/* Selects the first that exists of `text`, `abstract`, `title` with `body`, and `body`. */
static ddsc_status default_text(document_reader *r, const char **names)
{
    bool text, abstract, title, body;
    CHECK(has_column(r, "text", &text));
    CHECK(has_column(r, "abstract", &abstract));
    CHECK(has_column(r, "title", &title));
    CHECK(has_column(r, "body", &body));
    *names = text ? "text" : abstract ? "abstract" : body ? title ? "title,body" : "body" : NULL;
    if (!*names)
        return fail_column(r, "specify the text column (--text): no column has the name ", "text",
                           4);
    return DDSC_OK;
}

static ddsc_status choose_text(document_reader *r)
{
    const char *names = r->set->text_columns;
    if (!names)
        CHECK(default_text(r, &names));
    CHECK(need_columns(r, &r->text, names));
    snprintf(r->report->text_columns, sizeof r->report->text_columns, "%s", names);
    return DDSC_OK;
}

/* Returns the requested column name or, if none is requested, the usual name if such a column
 * exists. */
static ddsc_status usual_name(document_reader *r, const char **name, const char *given,
                              const char *usual)
{
    bool has = false;
    ddsc_status status = given ? DDSC_OK : has_column(r, usual, &has);
    *name = given ? given : has ? usual : NULL;
    return status;
}

static ddsc_status choose_names(document_reader *r)
{
    const char *label = NULL, *id = NULL;
    CHECK(usual_name(r, &label, r->set->label_column, "label"));
    CHECK(usual_name(r, &id, r->set->id_columns, "id"));
    if (label) {
        CHECK(need_column(r, label, strlen(label), &r->label));
        snprintf(r->report->label_column, sizeof r->report->label_column, "%s", label);
    }
    if (id) {
        CHECK(need_columns(r, &r->id, id));
        snprintf(r->report->id_columns, sizeof r->report->id_columns, "%s", id);
    }
    CHECK(find_column(r, "title", 5, &r->title));
    r->out->has_labels = label != NULL;
    r->out->has_ids = id != NULL;
    return DDSC_OK;
}

static ddsc_status choose_where(document_reader *r)
{
    if (!r->set->where)
        return DDSC_OK;
    size_t n = strcspn(r->set->where, "=");
    r->where_value = r->set->where + n + 1; /* check_text_settings has checked that there is a = */
    return need_column(r, r->set->where, n, &r->where);
}

static ddsc_status choose_columns(document_reader *r)
{
    r->n_columns = r->field.n;
    CHECK(choose_text(r));
    CHECK(choose_names(r));
    return choose_where(r);
}

/* Uses the keys of the first line as columns. The names are copied, because the line will be
 * overwritten. */
static ddsc_status keep_keys(document_reader *r)
{
    int64_t number;
    bool is_new;
    if (r->key.n == 0)
        return stream_fail_line(r->s, ": the object is empty");
    for (int64_t k = 0; k < r->key.n; k++) {
        const char *key = r->key.text[k];
        CHECK(text_table_add(r->ctx, &r->names, key, strlen(key), &number, &is_new));
    }
    CHECK(MEM_RESERVE(r->ctx, r->field.text, &r->field.capacity, r->names.n));
    r->field.n = r->names.n;
    for (int64_t k = 0; k < r->names.n; k++)
        r->field.text[k] = r->names.text + r->names.at[k];
    return choose_columns(r);
}

/* Splits a JSON line into values by column; missing values are "". */
static ddsc_status split_json(document_reader *r, char *line)
{
    char *none = line + strlen(line);
    CHECK(jsonl_split(r->ctx, &r->key, &r->value, r->s, line));
    if (r->n_columns == 0)
        CHECK(keep_keys(r));
    for (int64_t c = 0; c < r->n_columns; c++)
        r->field.text[c] = none;
    for (int64_t k = 0; k < r->key.n; k++) {
        int64_t c = text_table_find(&r->names, r->key.text[k], strlen(r->key.text[k]));
        if (c >= 0)
            r->field.text[c] = r->value.text[k];
    }
    return DDSC_OK;
}

static ddsc_status document_split(document_reader *r, char *line)
{
    if (r->is_json)
        return split_json(r, line);
    return r->delimiter == '\t' ? fields_split_plain(r->ctx, &r->field, line, '\t')
                                : fields_split(r->ctx, &r->field, r->s, line, r->delimiter);
}

static ddsc_status document_read_header(document_reader *r)
{
    char *line;
    size_t n;
    unsigned char head[STREAM_PEEK_MAX];
    CHECK(stream_peek(r->s, head, sizeof head - 1, &n));
    head[n] = '\0';
    const char *first = text_skip_mark((char *)head);
    r->is_json = first[strspn(first, " \t\r\n")] == '{';
    r->delimiter = '\t';
    if (r->is_json)
        return DDSC_OK;
    CHECK(stream_line(r->s, &line, &n));
    if (!line)
        return stream_fail(r->s, "is empty; expected a header and one document per row");
    line = text_skip_mark(line);
    char found = fields_delimiter(line);
    if (strchr(line, found)) /* otherwise, there is a single column, in which commas are data */
        r->delimiter = found;
    CHECK(document_split(r, line));
    return choose_columns(r);
}

/* ---- rows ---- */

static ddsc_status join_id(document_reader *r, int64_t *length)
{
    *length = 0;
    for (int64_t k = 0; k < r->id.n; k++) {
        const char *part = r->field.text[r->id.at[k]];
        int64_t n = (int64_t)strlen(part);
        CHECK(MEM_RESERVE(r->ctx, r->joined, &r->joined_capacity, *length + n + 1));
        if (k > 0)
            r->joined[(*length)++] = '/';
        memcpy(r->joined + *length, part, (size_t)n);
        *length += n;
    }
    return DDSC_OK;
}

static ddsc_status document_take_id(document_reader *r)
{
    int64_t n, number;
    bool is_new;
    char quoted[QUOTE_TEXT];
    CHECK(join_id(r, &n));
    if (n == 0)
        return stream_fail_line(r->s, ": the id is empty");
    CHECK(text_table_add(r->ctx, &r->out->ids, r->joined, (size_t)n, &number, &is_new));
    if (!is_new)
        return stream_fail_line(r->s,
                                ": the id \"%s\" was already used in line %lld; ids may combine "
                                "several columns (--id a,b)",
                                text_quote(quoted, r->joined, (size_t)n),
                                (long long)r->out->line[number]);
    return DDSC_OK;
}

static ddsc_status take_title(document_reader *r, int64_t i)
{
    const char *text = r->title >= 0 ? r->field.text[r->title] : "";
    if (!*text)
        text = r->field.text[r->text.at[0]];
    int64_t most = (int64_t)strnlen(text, 8 * DDSC_TITLE_MAX); /* whitespace will be removed */
    CHECK(MEM_RESERVE(r->ctx, r->tidy, &r->tidy_capacity, 3 * most + 2));
    char *copy = r->tidy + 2 * most + 1; /* after the space for the result */
    memcpy(copy, text, (size_t)most);
    copy[most] = '\0';
    size_t n = text_tidy(r->tidy, copy, DDSC_TITLE_MAX);
    return text_rows_add(&r->out->titles, i, r->tidy, n);
}

static ddsc_status take_words(document_reader *r, const char *text)
{
    size_t n;
    CHECK(token_reader_begin(r->ctx, &r->tokens, text));
    for (;;) {
        const char *word = token_reader_next(&r->tokens, &n);
        if (!word)
            break;
        if (text_table_find(r->stop, word, n) >= 0) {
            corpus_break(&r->out->words);
            continue;
        }
        if (r->lemmas)
            word = lemmas_find(r->lemmas, word, n, &n);
        CHECK(corpus_add(r->ctx, &r->out->words, word, n));
    }
    return DDSC_OK;
}

static ddsc_status take_document(document_reader *r)
{
    documents *d = r->out;
    int64_t i = d->words.n;
    CHECK(corpus_begin(r->ctx, &d->words));
    CHECK(MEM_RESERVE(r->ctx, d->line, &d->line_capacity, i + 1));
    d->line[i] = stream_line_number(r->s);
    CHECK(take_title(r, i));
    if (d->has_ids)
        CHECK(document_take_id(r));
    if (d->has_labels) {
        const char *label = r->field.text[r->label];
        CHECK(label_list_add(r->ctx, &d->labels, label, strlen(label)));
    }
    for (int64_t k = 0; k < r->text.n; k++) {
        corpus_break(&d->words);
        CHECK(take_words(r, r->field.text[r->text.at[k]]));
    }
    return DDSC_OK;
}

/* Processes a row whose fields have been split. */
static ddsc_status document_take_fields(document_reader *r)
{
    if (r->field.n != r->n_columns)
        return stream_fail_line(r->s, " has %lld fields, but the header has %lld",
                                (long long)r->field.n, (long long)r->n_columns);
    r->out->n_rows++;
    progress_add(r->ctx, 1);
    if (r->where < 0 || strcmp(r->field.text[r->where], r->where_value) == 0)
        CHECK(take_document(r));
    return DDSC_OK;
}

static ddsc_status document_next_line(document_reader *r, char **line, size_t *n)
{
    if (!r->is_json && r->delimiter != '\t')
        return stream_record(r->s, line, n, r->delimiter);
    CHECK(stream_line(r->s, line, n));
    if (r->is_json && *line && stream_line_number(r->s) == 1)
        *line = text_skip_mark(*line);
    if (r->is_json && *line)
        *n = strlen(*line + strspn(*line, " \t"));
    return DDSC_OK;
}

static ddsc_status document_read_rows(document_reader *r)
{
    char *line;
    size_t n;
    for (;;) {
        CHECK(document_next_line(r, &line, &n));
        if (!line)
            break;
        if (n == 0 &&
            r->n_columns != 1) /* in a table with one column, an empty line is an empty document */
            continue;
        if (n == 0 && r->is_json)
            continue;
        CHECK(document_split(r, line));
        CHECK(document_take_fields(r));
    }
    return DDSC_OK;
}

static ddsc_status documents_check(const document_reader *r, io_stream *s)
{
    if (r->out->n_rows == 0)
        return stream_fail(s, "has a header but no documents");
    if (r->out->words.n == 0)
        return stream_fail(s, "none of its %lld rows has %s", (long long)r->out->n_rows,
                           QUOTE(r->set->where));
    if (r->out->words.words.n == 0)
        return stream_fail(s, "its %lld documents contain no words%s", (long long)r->out->words.n,
                           r->stop->n ? " except stop words" : "");
    return DDSC_OK;
}

static document_reader reader_make(ddsc_context *ctx, documents *d, ddsc_text_report *report,
                                   const ddsc_text_settings *set, const text_table *stop,
                                   const lemma_table *lemmas)
{
    d->titles.ctx = ctx;
    return (document_reader){.ctx = ctx,
                             .out = d,
                             .report = report,
                             .set = set,
                             .stop = stop,
                             .lemmas = lemmas,
                             .label = -1,
                             .where = -1,
                             .title = -1,
                             .tokens = token_reader_make(set->tokens)};
}

static void reader_free(document_reader *r)
{
    token_reader_free(r->ctx, &r->tokens);
    fields_free(r->ctx, &r->field);
    fields_free(r->ctx, &r->key);
    fields_free(r->ctx, &r->value);
    text_table_free(r->ctx, &r->names);
    MEM_FREE(r->ctx, r->text.at, r->id.at, r->joined, r->tidy);
}

ddsc_status documents_read(ddsc_context *ctx, documents *d, ddsc_text_report *report, io_stream *s,
                           const ddsc_text_settings *set, const text_table *stop,
                           const lemma_table *lemmas)
{
    ddsc_status status = DDSC_OK;
    document_reader r = reader_make(ctx, d, report, set, stop, lemmas);
    r.s = s;
    progress_begin(ctx, "documents", 0);
    TRY(document_read_header(&r));
    TRY(document_read_rows(&r));
    TRY(documents_check(&r, s));
    progress_end(ctx);
done:
    reader_free(&r);
    return status;
}

/* ---- files ---- */

/* Defines the columns id, text and label, as if each file were a row of a table. */
static ddsc_status begin_files(document_reader *r, const file_list *files)
{
    char id[] = "id", text[] = "text", label[] = "label"; /* names used to select columns */
    bool classes = false;
    for (int64_t i = 0; i < files->n; i++)
        classes = classes || files->folder.text[files->folder.at[i]] != '\0';
    CHECK(MEM_RESERVE(r->ctx, r->field.text, &r->field.capacity, 3));
    r->field.text[0] = id;
    r->field.text[1] = text;
    r->field.text[2] = label;
    r->field.n = classes ? 3 : 2;
    return choose_columns(r);
}

ddsc_status documents_read_files(ddsc_context *ctx, documents *d, ddsc_text_report *report,
                                 const file_list *files, const ddsc_text_settings *set,
                                 const text_table *stop, const lemma_table *lemmas)
{
    ddsc_status status = DDSC_OK;
    document_reader r = reader_make(ctx, d, report, set, stop, lemmas);
    char *text = NULL, *name = NULL;
    int64_t text_capacity = 0, name_capacity = 0;
    progress_begin(ctx, "documents", files->n);
    TRY(begin_files(&r, files));
    for (int64_t i = 0; i < files->n; i++) {
        char *path = files->path.text + files->path.at[i];
        char *class = files->folder.text + files->folder.at[i];
        TRY(stream_open(ctx, &r.s, path, set->max_bytes));
        TRY(documents_read_plain(ctx, r.s, &text, &text_capacity));
        TRY(files_name(ctx, &name, &name_capacity, path, class));
        if (text_count_chars(path) < 0)
            TRY(ctx_fail(ctx, DDSC_ERROR_INPUT,
                         "%s: the file name is not valid UTF-8; rename the file", QUOTE(path)));
        if (text_table_find(&d->ids, name, strlen(name)) >= 0)
            strcpy(name, path); /* the path identifies further files with the same name */
        r.field.text[0] = name;
        r.field.text[1] = text_skip_mark(text);
        r.field.text[2] = class;
        TRY(document_take_fields(&r));
        if (i + 1 == files->n)
            TRY(documents_check(&r, r.s));
        stream_close(r.s);
        r.s = NULL;
    }
    progress_end(ctx);
done:
    stream_close(r.s);
    MEM_FREE(ctx, text, name);
    reader_free(&r);
    return status;
}

void documents_free(ddsc_context *ctx, documents *d)
{
    corpus_free(ctx, &d->words);
    text_table_free(ctx, &d->ids);
    label_list_free(ctx, &d->labels);
    MEM_FREE(ctx, d->line, d->titles.text, d->titles.at);
    *d = (documents){0};
}
