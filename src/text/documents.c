/* A table of documents: columns chosen by name, rows filtered, words counted as the rows come. */
#include "text/text.h"

#include <stdio.h>
#include <string.h>

typedef struct column_list {
    int64_t *at;
    int64_t n, room;
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
    int64_t n_columns;
    column_list text, id;
    int64_t label, where, title; /* columns, or -1 */
    const char *where_value;
    char *joined, *tidy; /* the id of a row; its title */
    int64_t joined_room, tidy_room;
} document_reader;

/* ---- columns ---- */

/* Number of the column, -1 when there is none; a name that two columns have is an error. */
static ddsc_status find_column(document_reader *r, const char *name, size_t n, int64_t *found)
{
    char quoted[QUOTE_TEXT];
    *found = -1;
    for (int64_t c = 0; c < r->field.n; c++) {
        if (strlen(r->field.text[c]) != n || memcmp(r->field.text[c], name, n) != 0)
            continue;
        if (*found >= 0)
            return stream_fail(r->s, "the columns %lld and %lld are both called \"%s\"",
                               (long long)*found + 1, (long long)c + 1,
                               text_quote(quoted, name, n));
        *found = c;
    }
    return DDSC_OK;
}

/* "; the columns are a, b, c" for messages. */
static ddsc_status fail_column(document_reader *r, const char *what, const char *name, size_t n)
{
    char list[256] = "", quoted[QUOTE_TEXT];
    size_t used = 0;
    for (int64_t c = 0; c < r->field.n && used < sizeof list; c++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", c ? ", " : "",
                                 text_quote(quoted, r->field.text[c], strlen(r->field.text[c])));
    return stream_fail(r->s, "%s\"%s\"; the columns, separated by tabs, are: %s", what,
                       text_quote(quoted, name, n), list);
}

static ddsc_status need_column(document_reader *r, const char *name, size_t n, int64_t *found)
{
    ddsc_status status = find_column(r, name, n, found);
    if (status >= 0 && *found < 0)
        return fail_column(r, "no column is called ", name, n);
    return status;
}

static ddsc_status has_column(document_reader *r, const char *name, bool *has)
{
    int64_t found;
    ddsc_status status = find_column(r, name, strlen(name), &found);
    *has = found >= 0;
    return status;
}

/* Names separated by commas. */
static ddsc_status need_columns(document_reader *r, column_list *list, const char *names)
{
    for (const char *at = names;; at++) {
        size_t n = strcspn(at, ",");
        CHECK(MEM_RESERVE(r->ctx, list->at, &list->room, list->n + 1));
        CHECK(need_column(r, at, n, &list->at[list->n]));
        list->n++;
        at += n;
        if (*at == '\0')
            break;
    }
    return DDSC_OK;
}

/* `text`, else `abstract`, else `title` with `body`, else `body`. */
static ddsc_status default_text(document_reader *r, const char **names)
{
    bool text, abstract, title, body;
    CHECK(has_column(r, "text", &text));
    CHECK(has_column(r, "abstract", &abstract));
    CHECK(has_column(r, "title", &title));
    CHECK(has_column(r, "body", &body));
    *names = text ? "text" : abstract ? "abstract" : body ? title ? "title,body" : "body" : NULL;
    if (!*names)
        return fail_column(r, "say which column holds the text (--text): none is called ", "text",
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

/* A column of its own name or, if there is one, of the usual name. */
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
    r->where_value = r->set->where + n + 1; /* the settings were checked to have the = */
    return need_column(r, r->set->where, n, &r->where);
}

static ddsc_status document_read_header(document_reader *r)
{
    char *line;
    size_t n;
    CHECK(stream_line(r->s, &line, &n));
    if (!line)
        return stream_fail(r->s, "is empty: a header and one document a row are wanted");
    CHECK(fields_split_plain(r->ctx, &r->field, text_skip_mark(line), '\t'));
    r->n_columns = r->field.n;
    CHECK(choose_text(r));
    CHECK(choose_names(r));
    return choose_where(r);
}

/* ---- rows ---- */

/* Ids and labels end up in other files, so they must be text. */
static ddsc_status document_check_utf8(document_reader *r, int64_t column)
{
    if (text_count_chars(r->field.text[column]) >= 0)
        return DDSC_OK;
    return stream_fail_line(r->s, ", column %lld: not UTF-8 text; convert the file first",
                            (long long)column + 1);
}

static ddsc_status join_id(document_reader *r, int64_t *length)
{
    *length = 0;
    for (int64_t k = 0; k < r->id.n; k++) {
        const char *part = r->field.text[r->id.at[k]];
        int64_t n = (int64_t)strlen(part);
        CHECK(document_check_utf8(r, r->id.at[k]));
        CHECK(MEM_RESERVE(r->ctx, r->joined, &r->joined_room, *length + n + 1));
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
                                ": the id \"%s\" was already used in line %lld; ids may be "
                                "made of several columns (--id a,b)",
                                text_quote(quoted, r->joined, (size_t)n),
                                (long long)r->out->line[number]);
    return DDSC_OK;
}

static ddsc_status take_title(document_reader *r, int64_t i)
{
    const char *text = r->title >= 0 ? r->field.text[r->title] : "";
    if (!*text)
        text = r->field.text[r->text.at[0]];
    int64_t most = (int64_t)strnlen(text, 8 * DDSC_TITLE_MAX); /* blanks go, so look at some more */
    CHECK(MEM_RESERVE(r->ctx, r->tidy, &r->tidy_room, 3 * most + 2));
    char *copy = r->tidy + 2 * most + 1; /* behind what is made of it */
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
        if (text_table_find(r->stop, word, n) >= 0)
            continue;
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
    CHECK(MEM_RESERVE(r->ctx, d->line, &d->line_room, i + 1));
    d->line[i] = stream_line_number(r->s);
    CHECK(take_title(r, i));
    if (d->has_ids)
        CHECK(document_take_id(r));
    if (d->has_labels) {
        const char *label = r->field.text[r->label];
        CHECK(document_check_utf8(r, r->label));
        CHECK(label_list_add(r->ctx, &d->labels, label, strlen(label)));
    }
    for (int64_t k = 0; k < r->text.n; k++)
        CHECK(take_words(r, r->field.text[r->text.at[k]]));
    return DDSC_OK;
}

static ddsc_status document_take_row(document_reader *r, char *line)
{
    CHECK(fields_split_plain(r->ctx, &r->field, line, '\t'));
    if (r->field.n != r->n_columns)
        return stream_fail_line(r->s, " has %lld fields, the header has %lld",
                                (long long)r->field.n, (long long)r->n_columns);
    r->out->n_rows++;
    progress_add(r->ctx, 1);
    if (r->where < 0 || strcmp(r->field.text[r->where], r->where_value) == 0)
        CHECK(take_document(r));
    return DDSC_OK;
}

static ddsc_status document_read_rows(document_reader *r)
{
    char *line;
    size_t n;
    for (;;) {
        CHECK(stream_line(r->s, &line, &n));
        if (!line)
            break;
        if (n > 0 || r->n_columns == 1) /* in a lone column an empty line is an empty document */
            CHECK(document_take_row(r, line));
    }
    if (r->out->n_rows == 0)
        return stream_fail(r->s, "has a header but no documents");
    if (r->out->words.n == 0)
        return stream_fail(r->s, "none of its %lld rows has %s", (long long)r->out->n_rows,
                           QUOTE(r->set->where));
    if (r->out->words.words.n == 0)
        return stream_fail(r->s, "its %lld documents have no words%s", (long long)r->out->words.n,
                           r->stop->n ? " but stop words" : "");
    return DDSC_OK;
}

ddsc_status documents_read(ddsc_context *ctx, documents *d, ddsc_text_report *report, io_stream *s,
                           const ddsc_text_settings *set, const text_table *stop,
                           const lemma_table *lemmas)
{
    ddsc_status status = DDSC_OK;
    document_reader r = {.ctx = ctx,
                         .s = s,
                         .out = d,
                         .report = report,
                         .set = set,
                         .stop = stop,
                         .lemmas = lemmas,
                         .label = -1,
                         .where = -1,
                         .title = -1,
                         .tokens = token_reader_make(set->tokens)};
    d->titles.ctx = ctx;
    progress_begin(ctx, "documents", 0);
    TRY(document_read_header(&r));
    TRY(document_read_rows(&r));
    progress_end(ctx);
done:
    token_reader_free(ctx, &r.tokens);
    fields_free(ctx, &r.field);
    MEM_FREE(ctx, r.text.at, r.id.at, r.joined, r.tidy);
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
