/* Writes the tables of the page: the metadata columns, and the details of the computation. */
#include <inttypes.h>
#include <math.h>

#include "report/render/charts.h"
#include "report/render/html.h"
#include "report/render/page.h"

static void add_share(buffer *t, const json_t *value)
{
    buffer_addf(t, "<td class=\"number\">%.3f</td>", json_number_value(value));
}

void report_page_about(buffer *t, const ddsc_report *r)
{
    static const char *const heads[] = {"column", "effect", "", "p", "p (Holm)", "items", "", NULL};
    const json_t *about = report_page_get(r, "about", NULL);
    if (json_array_size(about) == 0)
        return;
    html_heading(t, "Columns associated with the clusters");
    html_paragraph(
        t,
        "Metadata columns were not used for clustering. Effect: 0 means no association, and "
        "1 means complete association. p: the share of random permutations of the labels with an "
        "effect at least as large. Holm: p corrected for the number of columns. If the number "
        "of points or the batch predicts the clusters, the clusters may be an artifact.");
    html_table_begin(t, heads);
    for (size_t i = 0; i < json_array_size(about); i++) {
        const json_t *row = json_array_get(about, i);
        html_row_begin(t);
        html_cell(t, report_page_text(json_object_get(row, "column")));
        html_cell(t, report_page_text(json_object_get(row, "effect")));
        add_share(t, json_object_get(row, "value"));
        add_share(t, json_object_get(row, "p"));
        add_share(t, json_object_get(row, "p_holm"));
        html_cell_count(t, json_integer_value(json_object_get(row, "items")));
        html_cell(t, json_is_true(json_object_get(row, "predicts")) ? "predicts the clusters" : "");
        html_row_end(t);
    }
    html_table_end(t);
}

static void add_chart(buffer *t, const ddsc_report *r, const char *heading, chart_fn chart,
                      const char *words)
{
    plot p = {.ctx = t->ctx};
    if (chart(&p, r)) {
        html_heading(t, heading);
        buffer_add(t, "<figure>");
        plot_svg(t, &p);
        buffer_add(t, "<figcaption>");
        buffer_add_html(t, words);
        buffer_add(t, "</figcaption></figure>\n");
    }
    plot_free(&p);
}

static void add_fact(buffer *t, const char *value, const char *name)
{
    buffer_add(t, "<li><b>");
    buffer_add_html(t, value);
    buffer_add(t, "</b>");
    buffer_add_html(t, name);
    buffer_add(t, "</li>\n");
}

static void add_real_fact(buffer *t, const json_t *value, const char *name)
{
    if (json_is_number(value))
        buffer_addf(t, "<li><b>%.3g</b>%s</li>\n", json_number_value(value), name);
}

static void add_count_fact(buffer *t, const json_t *value, const char *name)
{
    if (!json_is_integer(value))
        return;
    buffer_add(t, "<li><b>");
    buffer_add_count(t, json_integer_value(value));
    buffer_addf(t, "</b>%s</li>\n", name);
}

static void add_facts(buffer *t, const ddsc_report *r)
{
    const json_t *metric = report_page_get(r, "settings", "metric");
    bool certified = json_is_true(report_page_get(r, "certificates", "certified"));
    buffer_add(t, "<ul class=\"facts\">\n");
    if (metric)
        add_fact(t, report_page_text(metric), "metric");
    else
        add_fact(t, report_page_text(report_page_get(r, "settings", "method")), "method");
    add_count_fact(t, report_page_get(r, "sizes", "dim"), "dimensions");
    add_count_fact(t, report_page_get(r, "chosen", "tau"), "neighbors per item");
    add_count_fact(t, report_page_get(r, "components", NULL), "graph components");
    add_real_fact(t, report_page_get(r, "gaps", "relative_gap"), "relative gap after K");
    add_real_fact(t, report_page_get(r, "seconds", "total"), "seconds");
    add_fact(t, certified ? "yes" : "no", "computed exactly as requested");
    buffer_add(t, "</ul>\n");
}

static double real_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void add_sweep_table(buffer *t, const ddsc_report *r)
{
    static const char *const heads[] = {
        "K",        "gap",     "relative gap", "modularity", "inertia", "stability",
        "smallest", "largest", "AMI",          "ARI",        NULL};
    static const char *const keys[] = {"gap",     "relative_gap", "modularity",
                                       "inertia", "stability",    NULL};
    const json_t *sweep = report_page_get(r, "sweep", NULL);
    if (json_array_size(sweep) < 2)
        return;
    html_heading(t, "Values of K tried");
    html_table_begin(t, heads);
    for (size_t i = 0; i < json_array_size(sweep); i++) {
        const json_t *row = json_array_get(sweep, i), *scores = json_object_get(row, "scores");
        bool chosen = json_integer_value(json_object_get(row, "k")) == r->k;
        buffer_add(t, chosen ? "<tr class=\"chosen\">" : "<tr>");
        html_cell_count(t, json_integer_value(json_object_get(row, "k")));
        for (int c = 0; keys[c]; c++)
            html_cell_real(t, real_of(json_object_get(row, keys[c])));
        html_cell_count(t, json_integer_value(json_object_get(row, "smallest")));
        html_cell_count(t, json_integer_value(json_object_get(row, "largest")));
        if (scores) {
            html_cell_real(t, json_number_value(json_object_get(scores, "ami")));
            html_cell_real(t, json_number_value(json_object_get(scores, "ari")));
        }
        html_row_end(t);
    }
    html_table_end(t);
}

static void add_object(buffer *t, const ddsc_report *r, const char *key, const char *heading)
{
    const json_t *object = report_page_get(r, key, NULL);
    if (json_object_size(object) == 0)
        return;
    html_heading(t, heading);
    html_object(t, object);
}

/* Writes the times. Results of earlier versions contain fewer stages and no CPU times. */
static void add_seconds_table(buffer *t, const ddsc_report *r)
{
    static const char *const heads[] = {"stage", "wall", "CPU", NULL};
    const json_t *rows = report_page_get(r, "seconds", "stages");
    if (json_array_size(rows) == 0) {
        add_object(t, r, "seconds", "Seconds by stage");
        return;
    }
    html_heading(t, "Seconds by stage");
    html_table_begin(t, heads);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        html_row_begin(t);
        html_cell(t, report_page_text(json_object_get(row, "stage")));
        html_cell_real(t, real_of(json_object_get(row, "wall")));
        html_cell_real(t, real_of(json_object_get(row, "cpu")));
        html_row_end(t);
    }
    html_table_end(t);
}

static void add_stability(buffer *t, const ddsc_report *r)
{
    const char *words = report_page_text(report_page_get(r, "stability", "words"));
    if (!*words)
        return;
    html_heading(t, "Stability");
    html_paragraph(t,
                   "The points of every item were resampled, and the whole analysis was repeated.");
    html_paragraph(t, words);
}

static void add_command(buffer *t, const ddsc_report *r)
{
    const char *command = report_page_text(report_page_get(r, "command", NULL));
    if (!*command)
        return;
    html_heading(t, "Command to reproduce this result");
    buffer_add(t, "<pre>");
    buffer_add_html(t, command);
    buffer_add(t, "</pre>\n");
}

void report_page_how(buffer *t, const ddsc_report *r)
{
    buffer_add(t, "<details><summary id=\"how\">How this was computed</summary>\n");
    add_facts(t, r);
    add_sweep_table(t, r);
    add_stability(t, r);
    add_chart(t, r, "Eigenvalues", chart_eigenvalues,
              "Each well-separated cluster has one eigenvalue near 0. A jump after the K-th value "
              "supports K clusters.");
    add_chart(t, r, "Distances between neighbors", chart_neighbors,
              "The histogram shows the distances along all edges of the neighbor graph. A long "
              "tail to the right indicates items that are far from all others.");
    add_object(t, r, "chosen", "Chosen from the data");
    add_object(t, r, "settings", "Settings");
    add_object(t, r, "pairs", "Pairs");
    add_object(t, r, "certificates", "Certificates");
    add_command(t, r);
    add_seconds_table(t, r);
    buffer_add(t, "</details>\n");
}
