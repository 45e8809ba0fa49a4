/* Joins the labels of a file to items, or to the labels of another file. They are matched by id if
 * both have ids, else by row. */
#include <stdio.h>
#include <string.h>

#include "io/format/format.h"

enum { NUMBER_SIZE = 24 };

static const char *target_id(const label_target *to, int64_t i, char number[NUMBER_SIZE])
{
    if (to->id_text)
        return to->id_text + to->id_at[i];
    snprintf(number, NUMBER_SIZE, "%lld", (long long)i);
    return number;
}

static ddsc_status join_by_order(ddsc_context *ctx, const measures_parts *labels, const char *from,
                                 const label_target *to)
{
    if (labels->n != to->n)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s has %lld labels, but %s has %lld items", from,
                        (long long)labels->n, to->name, (long long)to->n);
    if (to->id_text && !labels->id_text)
        ctx_warn(ctx, "%s has no ids, so its labels were joined to %s by order", from, to->name);
    else if (!to->id_text && labels->id_text)
        ctx_warn(ctx, "%s has no ids to match those of %s, so the labels were joined by order",
                 to->name, from);
    return DDSC_OK;
}

/* Finds the row of each target id in the file, or -1. *twice is set to an id that occurs twice
 * on one side. */
static ddsc_status match_ids(ddsc_context *ctx, int64_t *row, const char **twice, bool *twice_here,
                             const measures_parts *labels, const label_target *to)
{
    ddsc_status status = DDSC_OK;
    text_table table = {0};
    int64_t number;
    bool is_new, *used = NULL;
    char room[NUMBER_SIZE];
    *twice = NULL;
    TRY(MEM_NEW(ctx, used, labels->n));
    for (int64_t i = 0; i < labels->n; i++) {
        const char *id = labels->id_text + labels->id_at[i];
        used[i] = false;
        TRY(text_table_add(ctx, &table, id, strlen(id), &number, &is_new));
        if (!is_new && !*twice) {
            *twice = id;
            *twice_here = true;
        }
    }
    for (int64_t i = 0; i < to->n && !*twice; i++) {
        const char *id = target_id(to, i, room);
        row[i] = text_table_find(&table, id, strlen(id));
        if (row[i] >= 0 && used[row[i]]) {
            *twice = to->id_text + to->id_at[i];
            *twice_here = false;
        }
        if (row[i] >= 0)
            used[row[i]] = true;
    }
done:
    mem_free(ctx, used);
    text_table_free(ctx, &table);
    return status;
}

/* Returns the first id that occurs on one side only, or NULL. */
static const char *first_alone(bool *missing_here, const int64_t *row, const measures_parts *labels,
                               const label_target *to, bool *used)
{
    for (int64_t i = 0; i < labels->n; i++)
        used[i] = false;
    for (int64_t i = 0; i < to->n; i++) {
        *missing_here = true;
        if (row[i] < 0)
            return to->id_text ? to->id_text + to->id_at[i] : "";
        used[row[i]] = true;
    }
    *missing_here = false;
    for (int64_t i = 0; i < labels->n; i++)
        if (!used[i])
            return labels->id_text + labels->id_at[i];
    return NULL;
}

ddsc_status labels_join(ddsc_context *ctx, measures_parts *labels, const char *from,
                        const label_target *to, ddsc_join *how)
{
    ddsc_status status = DDSC_OK;
    int64_t *row = NULL;
    int32_t *label = NULL;
    bool *used = NULL, here = false, missing_here = false;
    const char *twice = NULL, *alone = NULL;
    char quoted[QUOTE_TEXT];
    *how = DDSC_JOIN_ORDER;
    if (!labels->id_text)
        return join_by_order(ctx, labels, from, to);
    TRY(MEM_NEW(ctx, row, to->n));
    TRY(MEM_NEW(ctx, used, labels->n));
    TRY(match_ids(ctx, row, &twice, &here, labels, to));
    if (!twice)
        alone = first_alone(&missing_here, row, labels, to, used);
    if (!to->id_text && (twice || alone)) {
        TRY(join_by_order(ctx, labels, from, to));
        goto done;
    }
    if (twice)
        TRY(ctx_fail(ctx, DDSC_ERROR_INPUT,
                     "the id \"%s\" occurs twice in %s, so labels cannot be joined by id; remove "
                     "the id column from %s to join by order",
                     text_quote(quoted, twice, strlen(twice)), here ? from : to->name, from));
    if (alone)
        TRY(ctx_fail(ctx, DDSC_ERROR_INPUT, "%s has the id \"%s\", which %s does not have",
                     missing_here ? to->name : from, text_quote(quoted, alone, strlen(alone)),
                     missing_here ? from : to->name));
    TRY(MEM_NEW(ctx, label, to->n));
    for (int64_t i = 0; i < to->n; i++)
        label[i] = labels->label[row[i]];
    mem_free(ctx, labels->label);
    labels->label = label;
    *how = DDSC_JOIN_ID;
done:
    MEM_FREE(ctx, row, used);
    return status;
}

/* ---- public ---- */

static ddsc_status labels_read_file(ddsc_context *ctx, measures_parts *parts, const char *path)
{
    io_stream *s = NULL;
    ddsc_status status = stream_open(ctx, &s, path, STREAM_DEFAULT_MAX_BYTES);
    if (status >= 0)
        status = labels_read_stream(ctx, parts, s);
    stream_close(s);
    return status;
}

ddsc_status ddsc_labels_read_for(ddsc_context *ctx, int32_t **labels, ddsc_join *how,
                                 const ddsc_measures *m, const char *path)
{
    ddsc_status status = DDSC_OK;
    measures_parts parts = {0};
    ddsc_join done_how;
    CHECK(ctx_enter(ctx));
    if (!labels || !m || !path)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "labels, measures or path is NULL");
    *labels = NULL;
    label_target to = {m->n_rows, m->id_text, m->id_at, "the input"};
    TRY(labels_read_file(ctx, &parts, path));
    TRY(labels_join(ctx, &parts, path, &to, &done_how));
    *labels = parts.label;
    parts.label = NULL;
    if (how)
        *how = done_how;
done:
    measures_parts_free(ctx, &parts);
    return status;
}

ddsc_status ddsc_labels_read_both(ddsc_context *ctx, int32_t **labels, int32_t **others, int64_t *n,
                                  ddsc_join *how, const char *path, const char *others_path)
{
    ddsc_status status = DDSC_OK;
    measures_parts a = {0}, b = {0};
    ddsc_join done_how;
    CHECK(ctx_enter(ctx));
    if (!labels || !others || !n || !path || !others_path)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "an output or a path is NULL");
    *labels = *others = NULL;
    TRY(labels_read_file(ctx, &a, path));
    TRY(labels_read_file(ctx, &b, others_path));
    label_target to = {a.n, a.id_text, a.id_at, path};
    TRY(labels_join(ctx, &b, others_path, &to, &done_how));
    *labels = a.label;
    *others = b.label;
    *n = a.n;
    a.label = b.label = NULL;
    if (how)
        *how = done_how;
done:
    measures_parts_free(ctx, &a);
    measures_parts_free(ctx, &b);
    return status;
}
