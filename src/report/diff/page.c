/* Writes the comparison of two results as a page: a summary, the flow diagram, the clusters, the
 * items that moved, and the settings that differ. The page needs no script. */
#include <inttypes.h>

#include "report/diff/diff.h"
#include "report/render/html.h"
#include "report/render/page.h"
#include "report/render/plot.h"

enum { MOST_FLOWS = 500, MOST_IDS = 50 };

static void begin_diff_answer(buffer *b, const char *question)
{
    buffer_addf(b, "<div><dt>%s</dt><dd>", question);
}

static void end_diff_answer(buffer *b)
{
    buffer_add(b, "</dd></div>\n");
}

static void add_shared(buffer *b, const ddsc_diff *d)
{
    begin_diff_answer(b, "Which items are compared?");
    buffer_add_count(b, d->n_shared);
    buffer_add(b, d->numbers ? " items are in both results (matched by row number)"
                             : " items are in both results (matched by id)");
    buffer_add(b, "; ");
    buffer_add_count(b, d->count[DIFF_REMOVED]);
    buffer_add(b, " are only in the first and ");
    buffer_add_count(b, d->count[DIFF_ADDED]);
    buffer_add(b, " only in the second result");
    end_diff_answer(b);
}

static void add_changed(buffer *b, const ddsc_diff *d)
{
    begin_diff_answer(b, "How many items changed?");
    buffer_add_count(b, d->count[DIFF_SAME]);
    buffer_addf(b,
                " shared items (%.1f%%) stay in their cluster. %" PRId64
                " follow a split of their cluster, %" PRId64 " a merge, and %" PRId64
                " move to another cluster",
                100 * (double)d->count[DIFF_SAME] / (double)d->n_shared, d->count[DIFF_SPLIT],
                d->count[DIFF_MERGED], d->count[DIFF_MOVED]);
    if (d->count[DIFF_ENTERED] + d->count[DIFF_LEFT] > 0)
        buffer_addf(b, ". %" PRId64 " enter and %" PRId64 " leave the clusters",
                    d->count[DIFF_ENTERED], d->count[DIFF_LEFT]);
    end_diff_answer(b);
}

static void add_agreement(buffer *b, const ddsc_diff *d)
{
    begin_diff_answer(b, "How well do the clusters agree?");
    buffer_addf(b,
                "AMI %.3f, ARI %.3f. Both are corrected for chance: 1 is perfect agreement, and 0 "
                "is the agreement of random clusters of the same sizes",
                d->scores.ami, d->scores.ari);
    end_diff_answer(b);
}

static void add_cluster_counts(buffer *b, const ddsc_diff *d)
{
    const json_t *counts = json_object_get(d->tree, "clusters");
    begin_diff_answer(b, "What happened to the clusters?");
    for (int kind = 0; kind <= DDSC_IDENTITY_VANISHED; kind++) {
        const char *name = ddsc_identity_get_kind_name((ddsc_identity_kind)kind);
        buffer_addf(b, "%s%" JSON_INTEGER_FORMAT " %s%s", kind ? ", " : "",
                    json_integer_value(json_object_get(counts, name)), kind ? "" : "the ", name);
    }
    end_diff_answer(b);
}

static void add_event_row(buffer *b, const ddsc_diff *d, const ddsc_identity_event *event)
{
    int side = event->kind != DDSC_IDENTITY_SPLIT && event->kind != DDSC_IDENTITY_VANISHED;
    buffer name = {.ctx = b->ctx};
    html_row_begin(b);
    html_cell(b, ddsc_identity_get_kind_name(event->kind));
    diff_add_end(&name, d, side, event->cluster);
    buffer_add(b, "<td><svg viewBox=\"0 0 14 14\" class=\"swatch ");
    plot_class(b, diff_color(d, side, event->cluster));
    buffer_add(b,
               "\" aria-hidden=\"true\"><rect class=\"mark\" width=\"14\" height=\"14\"/></svg> ");
    if (name.status < 0)
        b->status = name.status;
    else
        buffer_add_html(b, name.bytes);
    buffer_add(b, "</td>");
    html_cell_count(b, event->n_shared);
    buffer_addf(b, "<td class=\"number\">%.2f</td>", event->overlap);
    html_cell(b, event->words);
    html_row_end(b);
    buffer_free(&name);
}

static void add_event_rows(buffer *b, const ddsc_diff *d)
{
    static const char *const heads[] = {"change",  "cluster",  "shared items",
                                        "overlap", "evidence", NULL};
    html_heading(b, "Clusters");
    html_paragraph(b, "Two clusters are the same if they share at least half of their combined "
                      "items (overlap: the Jaccard index on shared items). A part of a split or "
                      "merged cluster contains at least a fifth of its items.");
    html_table_begin(b, heads);
    for (int same = 0; same < 2; same++) /* changes first */
        for (int64_t e = 0; e < d->view.n_events; e++)
            if ((d->view.events[e]->kind == DDSC_IDENTITY_SAME) == (same == 1))
                add_event_row(b, d, d->view.events[e]);
    html_table_end(b);
}

static void add_end_cell(buffer *b, const ddsc_diff *d, int side, int64_t cluster)
{
    buffer name = {.ctx = b->ctx};
    diff_add_end(&name, d, side, cluster);
    if (name.status < 0)
        b->status = name.status;
    else
        html_cell(b, name.bytes);
    buffer_free(&name);
}

/* Lists the flows. The bands of the diagram link to these rows. */
static void add_flow_rows(buffer *b, const ddsc_diff *d)
{
    static const char *const heads[] = {"from", "to", "items", "change", "ids", NULL};
    html_heading(b, "Items");
    html_table_begin(b, heads);
    for (int64_t f = 0; f < d->n_flows && f < MOST_FLOWS; f++) {
        const diff_flow *flow = &d->flow[f];
        buffer ids = {.ctx = b->ctx};
        buffer_addf(b, "<tr id=\"flow-%" PRId64 "\" tabindex=\"-1\">", f);
        add_end_cell(b, d, 0, flow->from);
        add_end_cell(b, d, 1, flow->to);
        html_cell_count(b, flow->n);
        html_cell(b, diff_change_name(flow->change));
        diff_add_ids(&ids, d, flow, flow->change == DIFF_SAME ? 5 : MOST_IDS);
        if (ids.status < 0)
            b->status = ids.status;
        else
            html_cell(b, ids.bytes);
        html_row_end(b);
        buffer_free(&ids);
    }
    html_table_end(b);
    if (d->n_flows > MOST_FLOWS)
        buffer_addf(b, "<p class=\"faint\">and %" PRId64 " more pairs of clusters</p>\n",
                    d->n_flows - MOST_FLOWS);
}

static void add_setting_rows(buffer *b, const ddsc_diff *d)
{
    static const char *const heads[] = {"setting", "first", "second", NULL};
    const json_t *list = json_object_get(d->tree, "settings"), *row;
    size_t i;
    html_heading(b, "Settings that differ");
    if (json_array_size(list) == 0) {
        html_paragraph(b, "None.");
        return;
    }
    html_table_begin(b, heads);
    json_array_foreach(list, i, row)
    {
        html_row_begin(b);
        html_cell(b, report_page_text(json_object_get(row, "name")));
        html_cell(b, report_page_text(json_object_get(row, "first")));
        html_cell(b, report_page_text(json_object_get(row, "second")));
        html_row_end(b);
    }
    html_table_end(b);
}

void diff_add_page(buffer *b, const ddsc_diff *d)
{
    buffer title = {.ctx = b->ctx};
    buffer_addf(&title, "What changed: %s \xe2\x86\x92 %s", d->side[0].name, d->side[1].name);
    if (title.status < 0)
        b->status = title.status;
    else
        html_begin(b, title.bytes);
    buffer_free(&title);
    buffer_add(b, "<dl class=\"answers\">\n");
    add_shared(b, d);
    add_changed(b, d);
    add_agreement(b, d);
    add_cluster_counts(b, d);
    buffer_add(b, "</dl>\n");
    html_heading(b, "Flow of items");
    html_paragraph(
        b, "Each band represents the items that go from a cluster of the first result (left) to a "
           "cluster of the second result (right). A cluster that is the same in both results has "
           "the same color as in the first report. Dark bands are changes. "
           "Select a band to see its items.");
    diff_add_flows(b, d, MOST_FLOWS);
    add_event_rows(b, d);
    add_flow_rows(b, d);
    add_setting_rows(b, d);
    html_end(b, false);
}
