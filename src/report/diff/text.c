/* Writes the comparison of two results as text, as a table, and as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/diff.h"
#include "report/render/page.h"

enum { EVENTS_SHOWN = 8, FLOWS_SHOWN = 6, IDS_SHOWN = 5, SETTINGS_SHOWN = 6 };

void diff_add_end(buffer *b, const ddsc_diff *d, int side, int64_t cluster)
{
    const ddsc_report *r = d->side[side].result;
    if (cluster == r->k + DIFF_NO_CLUSTER) {
        buffer_add(b, "in no cluster");
    } else if (cluster == r->k + DIFF_ABSENT) {
        buffer_addf(b, "not in the %s result", side ? "second" : "first");
    } else {
        buffer_addf(b, "%" PRId64, cluster);
        if (!report_page_has_name(r, cluster))
            return;
        buffer_add(b, " (");
        report_add_name(b, r, cluster);
        buffer_add(b, ")");
    }
}

void diff_add_ids(buffer *b, const ddsc_diff *d, const diff_flow *flow, int64_t most)
{
    int side = flow->change == DIFF_ADDED;
    int64_t n = 0, from, to;
    for (int64_t i = 0; i < d->side[side].result->n_rows && n < BASE_MIN(most, flow->n); i++) {
        diff_of_row(d, side, i, &from, &to);
        if (from != flow->from || to != flow->to)
            continue;
        buffer_add(b, n++ ? ", " : "");
        buffer_add(b, text_table_get(&d->side[side].id, i));
    }
    if (flow->n > n)
        buffer_addf(b, "%s%" PRId64 " more", n ? " and " : "", flow->n - n);
}

static void add_title(buffer *b, const ddsc_diff *d, int side)
{
    const ddsc_report *r = d->side[side].result;
    buffer_addf(b, "%s (", d->side[side].name);
    buffer_add_count(b, r->n_rows);
    buffer_addf(b, " items, %" PRId64 " clusters)", r->k);
}

static void add_items_line(buffer *b, const ddsc_diff *d)
{
    const int64_t *n = d->count;
    double share = 100 * (double)n[DIFF_SAME] / (double)d->n_shared;
    buffer_add(b, "  items        ");
    buffer_add_count(b, n[DIFF_SAME]);
    buffer_add(b, " of ");
    buffer_add_count(b, d->n_shared);
    buffer_addf(b, " stay in their cluster (%.1f%%)", share);
    buffer_addf(b, "; %" PRId64 " follow a split, %" PRId64 " a merge; %" PRId64 " move",
                n[DIFF_SPLIT], n[DIFF_MERGED], n[DIFF_MOVED]);
    if (n[DIFF_ENTERED] + n[DIFF_LEFT] > 0)
        buffer_addf(b, "; %" PRId64 " enter and %" PRId64 " leave the clusters", n[DIFF_ENTERED],
                    n[DIFF_LEFT]);
    buffer_add(b, "\n");
}

static int64_t count_events(const ddsc_diff *d, int kind)
{
    int64_t n = 0;
    for (int64_t e = 0; e < d->view.n_events; e++)
        n += (int)d->view.events[e]->kind == kind;
    return n;
}

static void add_cluster_line(buffer *b, const ddsc_diff *d)
{
    static const char *const words[] = {"the same", "split", "merged", "new", "vanished"};
    buffer_add(b, "  clusters     ");
    for (int kind = 0; kind <= DDSC_IDENTITY_VANISHED; kind++)
        buffer_addf(b, "%s%" PRId64 " %s", kind ? ", " : "", count_events(d, kind), words[kind]);
    buffer_add(b, "\n");
}

/* Adds the settings that differ. The short form omits very long values, such as lists of input
 * files. */
static void add_settings(buffer *b, const ddsc_diff *d, bool all)
{
    const json_t *list = json_object_get(d->tree, "settings"), *row;
    size_t i, n = 0, left = 0;
    json_array_foreach(list, i, row)
    {
        const char *before = report_page_text(json_object_get(row, "first"));
        const char *after = report_page_text(json_object_get(row, "second"));
        if (!all && (n >= SETTINGS_SHOWN || strlen(before) + strlen(after) > 50)) {
            left++;
            continue;
        }
        buffer_addf(b, "%s%s %s -> %s", n++ ? "; " : "  settings     ",
                    report_page_text(json_object_get(row, "name")), *before ? before : "(none)",
                    *after ? after : "(none)");
    }
    if (left > 0)
        buffer_addf(b, "%s%zu more", n++ ? "; " : "  settings     ", left);
    buffer_add(b, n ? "\n" : "  settings     the same\n");
}

static void add_events(buffer *b, const ddsc_diff *d, bool all)
{
    int64_t n = 0, left = 0;
    for (int64_t e = 0; e < d->view.n_events; e++) {
        const ddsc_identity_event *event = d->view.events[e];
        if (!all && event->kind == DDSC_IDENTITY_SAME)
            continue;
        if (!all && n >= EVENTS_SHOWN)
            left++;
        else
            buffer_addf(b, "%s%s\n", n++ ? "    " : "  changes\n    ", event->words);
    }
    if (left > 0)
        buffer_addf(b, "    and %" PRId64 " more; -v lists all\n", left);
}

static void add_flow_lines(buffer *b, const ddsc_diff *d, bool all)
{
    int64_t n = 0, left = 0;
    for (int64_t f = 0; f < d->n_flows && d->flow[f].change != DIFF_SAME; f++) {
        const diff_flow *flow = &d->flow[f];
        if (!all && n >= FLOWS_SHOWN) {
            left += flow->n;
            continue;
        }
        buffer_addf(b, "%s", n++ ? "    " : "  items that changed\n    ");
        buffer_add_count(b, flow->n);
        buffer_add(b, ": ");
        diff_add_end(b, d, 0, flow->from);
        buffer_add(b, " -> ");
        diff_add_end(b, d, 1, flow->to);
        buffer_addf(b, ", %s: ", diff_change_name(flow->change));
        diff_add_ids(b, d, flow, all ? flow->n : IDS_SHOWN);
        buffer_add(b, "\n");
    }
    if (left > 0) {
        buffer_add(b, "    and ");
        buffer_add_count(b, left);
        buffer_add(b, " more items; -v lists all, and -o FILE writes a table\n");
    }
}

static void diff_add_text(buffer *b, const ddsc_diff *d, bool all)
{
    add_title(b, d, 0);
    buffer_add(b, " -> ");
    add_title(b, d, 1);
    buffer_add(b, "\n  shared       ");
    buffer_add_count(b, d->n_shared);
    buffer_addf(b, " items%s; ", d->numbers ? ", matched by row number" : "");
    buffer_add_count(b, d->count[DIFF_REMOVED]);
    buffer_add(b, " only in the first, ");
    buffer_add_count(b, d->count[DIFF_ADDED]);
    buffer_add(b, " only in the second\n");
    buffer_addf(b, "  agreement    AMI %.3f, ARI %.3f (1: equal clusters, 0: chance)\n",
                d->scores.ami, d->scores.ari);
    add_items_line(b, d);
    add_cluster_line(b, d);
    add_settings(b, d, all);
    add_events(b, d, all);
    add_flow_lines(b, d, all);
}

/* ---- table and JSON ---- */

static void add_csv_end(buffer *b, const ddsc_diff *d, int side, int64_t cluster)
{
    int64_t k = d->side[side].result->k;
    if (cluster == k + DIFF_ABSENT)
        buffer_add(b, ",");
    else
        buffer_addf(b, ",%" PRId64, cluster < k ? cluster : -1);
}

static void add_csv_name(buffer *b, const ddsc_diff *d, int side, int64_t cluster)
{
    const ddsc_report *r = d->side[side].result;
    buffer name = {.ctx = b->ctx};
    buffer_add(b, ",");
    if (cluster < r->k && report_page_has_name(r, cluster)) {
        report_add_name(&name, r, cluster);
        if (name.status < 0)
            b->status = name.status;
        else
            buffer_add_csv(b, name.bytes);
    }
    buffer_free(&name);
}

static void add_csv_rows(buffer *b, const ddsc_diff *d, int side)
{
    int64_t from, to;
    for (int64_t i = 0; b->status >= 0 && i < d->side[side].result->n_rows; i++) {
        diff_change change = diff_of_row(d, side, i, &from, &to);
        if (change == DIFF_SAME || (side == 1 && change != DIFF_ADDED))
            continue;
        buffer_add_csv(b, text_table_get(&d->side[side].id, i));
        add_csv_end(b, d, 0, from);
        add_csv_end(b, d, 1, to);
        buffer_addf(b, ",%s", diff_change_name(change));
        add_csv_name(b, d, 0, from);
        add_csv_name(b, d, 1, to);
        buffer_add(b, "\n");
    }
}

static void diff_add_csv(buffer *b, const ddsc_diff *d)
{
    buffer_add(b, "id,from,to,change,from_name,to_name\n");
    add_csv_rows(b, d, 0);
    add_csv_rows(b, d, 1);
}

static void add_diff_json(buffer *b, const ddsc_diff *d)
{
    char *dump = json_dumps(d->tree, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    if (dump) {
        buffer_add(b, dump);
        buffer_add(b, "\n");
    } else {
        b->status = ctx_fail(b->ctx, DDSC_ERROR_MEMORY, "out of memory for JSON");
    }
    free(dump);
}

ddsc_status ddsc_diff_write(ddsc_context *context, const ddsc_diff *diff, ddsc_diff_form form,
                            ddsc_write_fn write, void *user)
{
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    result_call call = result_call_begin(context);
    buffer b = {.ctx = context};
    if (!diff || !write)
        b.status = ctx_fail(context, DDSC_ERROR_ARGUMENT, "diff or write is NULL");
    else if (form == DDSC_DIFF_JSON)
        add_diff_json(&b, diff);
    else if (form == DDSC_DIFF_TEXT || form == DDSC_DIFF_TEXT_ALL)
        diff_add_text(&b, diff, form == DDSC_DIFF_TEXT_ALL);
    else if (form == DDSC_DIFF_CSV)
        diff_add_csv(&b, diff);
    else if (form == DDSC_DIFF_HTML)
        diff_add_page(&b, diff);
    else
        b.status = ctx_fail(context, DDSC_ERROR_ARGUMENT, "a diff has no form %d", (int)form);
    ddsc_status status = report_hand_out(&b, write, user);
    result_call_end(&call);
    return status;
}
