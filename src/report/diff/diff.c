/* Compares two results by the ids of their items: joins the items, finds the clusters that are the
 * same (ddsc_identity_run), and counts the items of every pair of an old and a new cluster. */
#include "report/diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "report/result/tree.h"

SIZED_INIT(diff_side_struct, ddsc_diff_side, json, NULL);

void ddsc_diff_destroy(ddsc_diff *d)
{
    if (!d)
        return;
    ddsc_context *ctx = d->ctx;
    for (int s = 0; s < 2; s++) {
        ddsc_report_destroy(d->side[s].result);
        text_table_free(ctx, &d->side[s].id);
        MEM_FREE(ctx, d->side[s].name, d->side[s].other, d->side[s].size);
    }
    json_decref(d->tree);
    ddsc_identity_destroy(d->identity);
    MEM_FREE(ctx, d->change, d->flow);
    mem_free(ctx, d);
}

void ddsc_diff_get_view_sized(const ddsc_diff *diff, ddsc_diff_view *view, size_t size)
{
    ddsc_diff_view own = {0};
    if (diff)
        own = (ddsc_diff_view){
            .n_first = diff->side[0].result->n_rows,
            .n_second = diff->side[1].result->n_rows,
            .n_shared = diff->n_shared,
            .n_same = diff->count[DIFF_SAME],
            .n_split = diff->count[DIFF_SPLIT],
            .n_merged = diff->count[DIFF_MERGED],
            .n_moved = diff->count[DIFF_MOVED],
            .row_numbers = diff->numbers,
            .scores = &diff->scores,
            .identity = diff->identity,
        };
    sized_view(view, size, &own, sizeof own);
}

const char *diff_change_name(diff_change change)
{
    static const char *const names[] = {"same",    "split", "merged", "moved",
                                        "entered", "left",  "added",  "removed"};
    return names[change];
}

/* ---- sides ---- */

ddsc_status diff_side_open(ddsc_diff *d, int side, const char *name)
{
    struct diff_side *s = &d->side[side];
    CHECK(MEM_ZERO(d->ctx, s->result, 1));
    s->result->ctx = d->ctx;
    s->result->saved = true;
    return MEM_COPY(d->ctx, s->name, name, (int64_t)strlen(name) + 1);
}

ddsc_status diff_take_id(ddsc_diff *d, int side, int64_t row, const char *id)
{
    int64_t number;
    bool is_new;
    CHECK(text_table_add(d->ctx, &d->side[side].id, id, strlen(id), &number, &is_new));
    if (is_new)
        return DDSC_OK;
    return ctx_fail(d->ctx, DDSC_ERROR_INPUT,
                    "%s: rows %lld and %lld have the same id \"%s\", so items cannot be matched; "
                    "cluster items with distinct ids",
                    d->side[side].name, (long long)number, (long long)row, QUOTE(id));
}

static ddsc_status diff_take_labels(ddsc_diff *d, int side, const ddsc_diff_side *from)
{
    ddsc_report *r = d->side[side].result;
    char number[RESULT_ID];
    CHECK(MEM_COPY(d->ctx, r->label, from->labels, from->n));
    for (int64_t i = 0; i < from->n; i++) {
        r->k = from->json ? r->k : BASE_MAX(r->k, (int64_t)from->labels[i] + 1);
        if (from->labels[i] >= r->k)
            return ctx_fail(d->ctx, DDSC_ERROR_ARGUMENT,
                            "diff: label %lld of %s is %d, but the result has %lld clusters",
                            (long long)i, from->name, (int)from->labels[i], (long long)r->k);
        const char *id = from->ids ? from->ids[i] : number;
        snprintf(number, sizeof number, "%lld", (long long)i);
        if (!id)
            return ctx_fail(d->ctx, DDSC_ERROR_ARGUMENT, "diff: id %lld of %s is NULL",
                            (long long)i, from->name);
        CHECK(diff_take_id(d, side, i, id));
    }
    return DDSC_OK;
}

ddsc_status diff_check_side(ddsc_context *ctx, ddsc_diff_side *side, const ddsc_diff_side *given)
{
    CHECK(sized_take(ctx, &diff_side_struct, side, given));
    if (side->folder || (side->name && side->labels && side->n >= 1))
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                    "diff: set a folder for each side, or a name and at least one label");
}

ddsc_status diff_take_side(ddsc_diff *d, int side, const ddsc_diff_side *from)
{
    ddsc_report *r = d->side[side].result;
    json_error_t error;
    r->n_rows = from->n;
    r->tree = from->json ? json_loads(from->json, 0, &error) : json_object();
    if (!json_is_object(r->tree))
        return ctx_fail(d->ctx, DDSC_ERROR_ARGUMENT,
                        "diff: the JSON text of %s is invalid; pass the content of result.json",
                        from->name);
    r->k = json_integer_value(json_object_get(r->tree, "k"));
    CHECK(diff_take_labels(d, side, from));
    r->k = BASE_MAX(r->k, 1);
    return DDSC_OK;
}

/* ---- items in both results ---- */

static ddsc_status join_rows(ddsc_diff *d)
{
    for (int s = 0; s < 2; s++) {
        struct diff_side *here = &d->side[s], *there = &d->side[1 - s];
        int64_t n = here->result->n_rows, found = 0;
        CHECK(MEM_NEW(d->ctx, here->other, n));
        for (int64_t i = 0; i < n; i++) {
            const char *id = text_table_get(&here->id, i);
            here->other[i] = text_table_find(&there->id, id, strlen(id));
            found += here->other[i] >= 0;
        }
        d->n_shared = found;
    }
    if (d->n_shared > 0)
        return DDSC_OK;
    return ctx_fail(d->ctx, DDSC_ERROR_INPUT,
                    "%s and %s have no item in common: their first ids are \"%s\" and \"%s\"; diff "
                    "compares items that have the same id in both results",
                    d->side[0].name, d->side[1].name, QUOTE(text_table_get(&d->side[0].id, 0)),
                    QUOTE(text_table_get(&d->side[1].id, 0)));
}

/* Returns true if the rows of both results are matched one to one. */
static bool rows_match(const ddsc_diff *d)
{
    bool holds = true;
    for (int s = 0; s < 2; s++)
        for (int64_t i = 0; i < d->side[s].result->n_rows; i++) {
            int64_t at = d->side[s].other[i];
            holds &= at < 0 || d->side[1 - s].other[at] == i;
        }
    return holds;
}

/* Warns if the ids of both results are row numbers, as they are if the input has no ids. */
static void check_numbers(ddsc_diff *d)
{
    char number[RESULT_ID];
    d->numbers = true;
    for (int s = 0; s < 2; s++)
        for (int64_t i = 0; i < d->side[s].result->n_rows && d->numbers; i++) {
            snprintf(number, sizeof number, "%lld", (long long)i);
            d->numbers = strcmp(number, text_table_get(&d->side[s].id, i)) == 0;
        }
    if (d->numbers)
        ctx_warn(d->ctx,
                 "the ids of both results are row numbers, so items are matched by row; the "
                 "comparison is valid only if both results have the same items in the same rows");
}

static ddsc_status diff_count_sizes(ddsc_diff *d, int side)
{
    struct diff_side *s = &d->side[side];
    CHECK(MEM_ZERO(d->ctx, s->size, s->result->k));
    for (int64_t i = 0; i < s->result->n_rows; i++)
        if (s->result->label[i] >= 0)
            s->size[s->result->label[i]]++;
    return DDSC_OK;
}

/* ---- clusters ---- */

/* Marks the pairs of clusters that are the same or that belong to a split or a merge. */
static ddsc_status find_changes(ddsc_diff *d)
{
    int64_t k = d->view.k_new;
    CHECK(MEM_NEW(d->ctx, d->change, d->view.k_old * k));
    memset(d->change, DIFF_MOVED, (size_t)(d->view.k_old * k));
    for (int64_t e = 0; e < d->view.n_events; e++) {
        const ddsc_identity_event *event = d->view.events[e];
        for (int64_t p = 0; p < event->n_parts; p++)
            if (event->kind == DDSC_IDENTITY_SPLIT)
                d->change[event->cluster * k + event->parts[p]] = DIFF_SPLIT;
            else if (event->kind == DDSC_IDENTITY_MERGED)
                d->change[event->parts[p] * k + event->cluster] = DIFF_MERGED;
    }
    for (int64_t b = 0; b < k; b++)
        if (d->view.same[b] >= 0)
            d->change[d->view.same[b] * k + b] = DIFF_SAME;
    return DDSC_OK;
}

/* Compares the clusters on the shared items. The clusters of the second result keep their
 * numbers. */
static ddsc_status match_clusters(ddsc_diff *d, const ddsc_identity_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_identity_settings set;
    int32_t *before = NULL, *after = NULL;
    int64_t n = 0;
    ddsc_identity_settings_init(&set);
    if (settings) {
        set.overlap = settings->overlap;
        set.part = settings->part;
    }
    set.keep_numbers = 1;
    set.old_sizes = d->side[0].size;
    set.new_sizes = d->side[1].size;
    TRY(MEM_NEW(d->ctx, before, d->n_shared));
    TRY(MEM_NEW(d->ctx, after, d->n_shared));
    for (int64_t i = 0; i < d->side[0].result->n_rows; i++)
        if (d->side[0].other[i] >= 0) {
            before[n] = d->side[0].result->label[i];
            after[n++] = d->side[1].result->label[d->side[0].other[i]];
        }
    TRY(ddsc_identity_run(d->ctx, &d->identity, n, before, d->side[0].result->k, after,
                          d->side[1].result->k, &set));
    ddsc_identity_get_view(d->identity, &d->view);
    ddsc_scores_init(&d->scores);
    TRY(ddsc_scores_run(d->ctx, &d->scores, n, after, before));
    TRY(find_changes(d));
done:
    MEM_FREE(d->ctx, after, before);
    return status;
}

diff_change diff_of_row(const ddsc_diff *d, int side, int64_t row, int64_t *from, int64_t *to)
{
    int64_t own = d->side[side].result->label[row], k = d->side[side].result->k;
    int64_t k_other = d->side[1 - side].result->k, at = d->side[side].other[row];
    int64_t other = at < 0 ? k_other + DIFF_ABSENT : d->side[1 - side].result->label[at];
    own = own < 0 ? k + DIFF_NO_CLUSTER : own;
    other = other < 0 ? k_other + DIFF_NO_CLUSTER : other;
    *from = side ? other : own;
    *to = side ? own : other;
    if (at < 0)
        return side ? DIFF_ADDED : DIFF_REMOVED;
    if (*from >= d->view.k_old && *to >= d->view.k_new)
        return DIFF_SAME;
    if (*from >= d->view.k_old)
        return DIFF_ENTERED;
    if (*to >= d->view.k_new)
        return DIFF_LEFT;
    return (diff_change)d->change[*from * d->view.k_new + *to];
}

static int by_change(const void *a, const void *b)
{
    const diff_flow *x = a, *y = b;
    bool x_stays = x->change == DIFF_SAME, y_stays = y->change == DIFF_SAME;
    if (x_stays != y_stays)
        return x_stays ? 1 : -1;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                              : (x->to > y->to) - (x->to < y->to);
}

/* Adds the rows of a side to the table of counts. Shared items are counted on the first side. */
static void diff_count_rows(ddsc_diff *d, int side, int64_t *count, char *change)
{
    int64_t columns = d->view.k_new + 2, from, to;
    for (int64_t i = 0; i < d->side[side].result->n_rows; i++) {
        if (side == 1 && d->side[1].other[i] >= 0)
            continue;
        diff_change found = diff_of_row(d, side, i, &from, &to);
        d->count[found]++;
        count[from * columns + to]++;
        change[from * columns + to] = (char)found;
    }
}

static ddsc_status find_flows(ddsc_diff *d)
{
    ddsc_status status = DDSC_OK;
    int64_t rows = d->view.k_old + 2, columns = d->view.k_new + 2, *count = NULL;
    char *change = NULL;
    TRY(MEM_ZERO(d->ctx, count, rows * columns));
    TRY(MEM_ZERO(d->ctx, change, rows * columns));
    diff_count_rows(d, 0, count, change);
    diff_count_rows(d, 1, count, change);
    for (int64_t c = 0; c < rows * columns; c++)
        d->n_flows += count[c] > 0;
    TRY(MEM_NEW(d->ctx, d->flow, d->n_flows));
    for (int64_t c = 0, n = 0; c < rows * columns; c++)
        if (count[c] > 0)
            d->flow[n++] = (diff_flow){c / columns, c % columns, count[c], (diff_change)change[c]};
    qsort(d->flow, (size_t)d->n_flows, sizeof *d->flow, by_change);
done:
    MEM_FREE(d->ctx, change, count);
    return status;
}

ddsc_status diff_run(ddsc_diff *d, const ddsc_identity_settings *settings)
{
    CHECK(join_rows(d));
    DDSC_ASSERT(rows_match(d));
    check_numbers(d);
    CHECK(diff_count_sizes(d, 0));
    CHECK(diff_count_sizes(d, 1));
    CHECK(match_clusters(d, settings));
    CHECK(find_flows(d));
    return diff_put_tree(d);
}
