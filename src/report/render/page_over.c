/* Writes the clusters per period of a column: a chart, and a table for each cluster. */
#include <inttypes.h>

#include "report/render/charts.h"
#include "report/render/html.h"
#include "report/render/page.h"

/* Adds the words of a list, or its coordinates with their effects. */
static void add_period_traits(buffer *t, const json_t *list)
{
    const json_t *row;
    size_t i;
    buffer_add(t, "<td>");
    json_array_foreach(list, i, row)
    {
        const char *word = report_page_text(json_object_get(row, "word"));
        const char *name = report_page_text(json_object_get(row, "name"));
        buffer_add(t, i ? ", " : "");
        buffer_add_html(t, *word ? word : name);
        if (!*word && !*name)
            buffer_addf(t, "coordinate %" JSON_INTEGER_FORMAT,
                        json_integer_value(json_object_get(row, "coordinate")));
        if (!*word)
            buffer_addf(t, " %+.2g", json_number_value(json_object_get(row, "effect")));
    }
    buffer_add(t, "</td>");
}

static void add_period_row(buffer *t, const char *name, const json_t *row)
{
    const json_t *words = json_object_get(row, "words");
    html_row_begin(t);
    html_cell(t, name);
    html_cell_count(t, json_integer_value(json_object_get(row, "items")));
    buffer_addf(t, "<td class=\"number\">%.1f%%</td><td class=\"number\">%.1f to %.1f%%</td>",
                100 * json_number_value(json_object_get(row, "share")),
                100 * json_number_value(json_object_get(row, "low")),
                100 * json_number_value(json_object_get(row, "high")));
    add_period_traits(t, words ? words : json_object_get(row, "markers"));
    add_period_traits(t, json_object_get(row, "changed"));
    html_row_end(t);
}

/* Adds the first period of a new cluster, and the last period of a vanished cluster. */
static void add_life(buffer *t, const json_t *cluster, const json_t *names)
{
    static const char *const keys[] = {"new", "vanished"}, *const ends[] = {"first", "last"};
    static const char *const words[] = {", new since ", ", vanished after "};
    for (int k = 0; k < 2; k++) {
        json_int_t at = json_integer_value(json_object_get(cluster, ends[k]));
        if (!json_is_true(json_object_get(cluster, keys[k])) || at < 0)
            continue;
        buffer_add(t, words[k]);
        buffer_add_html(
            t, report_page_text(json_object_get(json_array_get(names, (size_t)at), "name")));
        buffer_addf(t, " (p %.2g)",
                    json_number_value(json_object_get(cluster, k ? "p_vanished" : "p_new")));
    }
}

static void add_period_table(buffer *t, const ddsc_report *r, const json_t *over, int64_t c)
{
    static const char *const heads[] = {"period",  "items",   "share", "95% interval",
                                        "typical", "changed", NULL};
    const json_t *cluster = json_array_get(json_object_get(over, "clusters"), (size_t)c), *row;
    const json_t *names = json_object_get(over, "periods");
    size_t i;
    buffer_add(t, "<details class=\"period\"><summary>");
    report_page_name(t, r, c);
    add_life(t, cluster, names);
    buffer_add(t, "</summary>\n");
    html_table_begin(t, heads);
    json_array_foreach(json_object_get(cluster, "periods"), i, row)
        add_period_row(t, report_page_text(json_object_get(json_array_get(names, i), "name")), row);
    html_table_end(t);
    buffer_add(t, "</details>\n");
}

void report_page_over(buffer *t, const ddsc_report *r)
{
    const json_t *over = report_page_get(r, "over", NULL);
    int64_t n = (int64_t)json_array_size(json_object_get(over, "clusters"));
    plot p = {.ctx = t->ctx};
    if (n == 0)
        return;
    buffer_add(t, "<h2>Clusters over ");
    buffer_add_html(t, report_page_text(json_object_get(over, "column")));
    buffer_add(t, "</h2>\n");
    html_paragraph(
        t,
        "The bars show the share of each cluster among the items of a period, and the lines show "
        "95% confidence intervals (Wilson). A cluster is marked as new or vanished if its absence "
        "from the first or last periods is unlikely in random order (p, corrected for the number "
        "of clusters, at most 0.05). Typical: words or coordinates in which the items differ from "
        "the other clusters. Changed: words or coordinates in which they differ from other periods "
        "of the cluster.");
    if (chart_over(&p, r))
        plot_svg(t, &p);
    plot_free(&p);
    if (n > CHART_OVER_CLUSTERS)
        buffer_addf(
            t, "<p class=\"faint\">The chart shows the first %d of %" PRId64 " clusters.</p>\n",
            CHART_OVER_CLUSTERS, n);
    json_int_t missing = json_integer_value(json_object_get(over, "missing"));
    if (missing > 0)
        buffer_addf(
            t, "<p class=\"faint\">%" JSON_INTEGER_FORMAT " item%s no value and %s left out.</p>\n",
            missing, missing == 1 ? " has" : "s have", missing == 1 ? "is" : "are");
    for (int64_t c = 0; c < BASE_MIN(n, r->k); c++)
        add_period_table(t, r, over, c);
}
