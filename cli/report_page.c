/* report.html: one page from result.json, the labels, the map and the items. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "charts.h"
#include "report_page.h"

static const json_t *get(const report_data *d, const char *key, const char *inner)
{
    const json_t *found = json_object_get(d->result, key);
    return inner ? json_object_get(found, inner) : found;
}

static void add_fact(text *t, const char *value, const char *name)
{
    text_add(t, "<li><b>");
    text_add_html(t, value);
    text_add(t, "</b>");
    text_add_html(t, name);
    text_add(t, "</li>\n");
}

static void add_real_fact(text *t, const json_t *value, const char *name)
{
    text words = {0};
    if (!json_is_number(value))
        return;
    text_addf(&words, "%.3g", json_number_value(value));
    add_fact(t, text_get(&words), name);
    text_free(&words);
}

static void add_count_fact(text *t, const json_t *value, const char *name)
{
    text words = {0};
    if (!json_is_integer(value))
        return;
    text_add_count(&words, json_integer_value(value));
    add_fact(t, text_get(&words), name);
    text_free(&words);
}

static const char *string_of(const json_t *value)
{
    const char *words = json_string_value(value);
    return words ? words : "";
}

static void add_advice(text *t, const char *words, bool bad)
{
    text_addf(t, "<p class=\"advice%s\">", bad ? " bad" : "");
    text_add_html(t, words);
    text_add(t, "</p>\n");
}

static void add_summary(text *t, const report_data *d)
{
    const json_t *files = get(d, "input", NULL), *metric = get(d, "settings", "metric");
    const char *advice = string_of(get(d, "advice", NULL));
    bool certified = json_is_true(get(d, "certificates", "certified"));
    text_add(t, "<p class=\"faint\">");
    for (size_t i = 0; i < json_array_size(files) && i < 8; i++) {
        text_add(t, i ? ", " : "");
        text_add_html(t, string_of(json_array_get(files, i)));
    }
    if (json_array_size(files) > 8)
        text_addf(t, " and %zu more", json_array_size(files) - 8);
    text_add(t, "</p>\n<ul class=\"facts\">\n");
    if (metric)
        add_fact(t, string_of(metric), "metric");
    else
        add_fact(t, string_of(get(d, "settings", "method")), "method");
    add_count_fact(t, get(d, "chosen", "tau"), "neighbours kept");
    add_count_fact(t, get(d, "components", NULL), "graph components");
    add_real_fact(t, get(d, "gaps", "relative_gap"), "relative gap after K");
    add_real_fact(t, get(d, "scores", "ami"), "AMI");
    add_real_fact(t, get(d, "scores", "ari"), "ARI");
    add_real_fact(t, get(d, "seconds", "total"), "seconds");
    add_fact(t, certified ? "yes" : "no", "certified");
    text_add(t, "</ul>\n");
    if (!certified)
        add_advice(t, "Not converged: these results are marked, see result.json.", true);
    if (*advice)
        add_advice(t, advice, false);
}

static void add_chart(text *t, const report_data *d, const char *heading, chart_fn chart,
                      const char *words)
{
    plot p;
    if (chart(&p, d)) {
        html_heading(t, heading);
        text_add(t, "<figure>");
        plot_svg(t, &p);
        text_add(t, "<figcaption>");
        text_add_html(t, words);
        text_add(t, "</figcaption></figure>\n");
    }
    plot_free(&p);
}

static void add_legend(text *t, const report_data *d)
{
    for (int64_t c = 0; c < d->k; c++) {
        text_addf(t,
                  "<button data-cluster=\"%" PRId64
                  "\" aria-pressed=\"true\" title=\"click: show or hide; shift-click: this one "
                  "alone\"><span class=\"",
                  c);
        plot_class(t, (int32_t)c);
        text_addf(t, "\">&#9679;</span> %" PRId64 "</button>\n", c);
    }
}

static void add_map(text *t, const report_data *d)
{
    if (!d->xy)
        return;
    html_heading(t, "Map");
    html_paragraph(t, "Each dot is an item; neighbours of the graph lie near each other. What lies "
                      "far apart differs, but how far says little.");
    text_add(t, "<div class=\"controls\">\n");
    add_legend(t, d);
    text_add(t, "<label>find <input id=\"search\" type=\"search\" "
                "title=\"show only ids with these letters\"></label>\n");
    if (report_page_has_classes(d))
        text_add(t,
                 "<select id=\"by\" aria-label=\"colour by\"><option value=\"cluster\">colour by "
                 "cluster</option><option value=\"class\">colour by class</option></select>\n");
    text_add(
        t, "<button id=\"reset\">reset</button>\n<span id=\"count\" class=\"faint\"></span></div>\n"
           "<div id=\"map\"><canvas id=\"view\" tabindex=\"0\" role=\"img\" aria-label=\"map of "
           "the items; arrow keys go from item to item, plus and minus zoom, 0 resets\"></canvas>"
           "<div id=\"tip\" hidden></div></div>\n"
           "<p class=\"faint\">Wheel zooms, dragging moves, double click resets; shift-click a "
           "cluster to see it alone. Keys: arrows, +, -, 0.</p>\n"
           "<p id=\"said\" class=\"faint\" aria-live=\"polite\"></p>\n"
           "<noscript><p>The map and the small pictures need the script of this page.</p>"
           "</noscript>\n");
}

static void add_item(text *t, const report_data *d, const json_t *item)
{
    int64_t row = json_integer_value(json_object_get(item, "row"));
    const json_t *next = json_object_get(item, "next");
    if (row < 0 || row >= d->n_rows)
        return;
    text_addf(t, "<li><button class=\"item\" data-row=\"%" PRId64 "\">", row);
    if (report_has_pictures(d))
        text_addf(t, "<canvas class=\"picture\" data-row=\"%" PRId64 "\"></canvas>", row);
    text_add_html(t, string_of(json_object_get(item, "id")));
    if (next)
        text_addf(t, " <span class=\"faint\">or %" JSON_INTEGER_FORMAT "</span>",
                  json_integer_value(next));
    text_add(t, "</button></li>\n");
}

static void add_items(text *t, const report_data *d, const json_t *items, const char *words)
{
    text_addf(t, "<div class=\"faint\">%s</div><ul>\n", words);
    for (size_t i = 0; i < json_array_size(items); i++)
        add_item(t, d, json_array_get(items, i));
    text_add(t, "</ul>\n");
}

static void add_cards(text *t, const report_data *d)
{
    const json_t *clusters = get(d, "clusters", NULL);
    html_heading(t, "Clusters");
    if (json_array_size(clusters) == 0)
        return;
    html_paragraph(t, "Typical items lie nearest to the centre of their cluster in the spectral "
                      "embedding; doubtful ones lie almost as near to another centre.");
    text_add(t, "<div class=\"cards\">\n");
    for (size_t c = 0; c < json_array_size(clusters); c++) {
        const json_t *cluster = json_array_get(clusters, c);
        text_add(t, "<section class=\"card\"><h3><span class=\"");
        plot_class(t, (int32_t)c);
        text_addf(t, "\">&#9679;</span> cluster %zu: ", c);
        text_add_count(t, json_integer_value(json_object_get(cluster, "size")));
        text_add(t, " items</h3>\n");
        add_items(t, d, json_object_get(cluster, "representatives"), "typical");
        add_items(t, d, json_object_get(cluster, "borderline"), "doubtful");
        text_add(t, "</section>\n");
    }
    text_add(t, "</div>\n");
}

static void add_sizes(text *t, const report_data *d)
{
    plot p;
    if (chart_sizes(&p, d))
        plot_svg(t, &p);
    plot_free(&p);
}

static double real_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void add_sweep(text *t, const report_data *d)
{
    static const char *const heads[] = {
        "K",        "gap",     "relative gap", "modularity", "inertia", "stability",
        "smallest", "largest", "AMI",          "ARI",        NULL};
    static const char *const keys[] = {"gap",     "relative_gap", "modularity",
                                       "inertia", "stability",    NULL};
    const json_t *sweep = get(d, "sweep", NULL);
    if (json_array_size(sweep) < 2)
        return;
    html_heading(t, "Numbers of clusters tried");
    html_table_begin(t, heads);
    for (size_t i = 0; i < json_array_size(sweep); i++) {
        const json_t *row = json_array_get(sweep, i), *scores = json_object_get(row, "scores");
        html_row_begin(t);
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

static void add_object(text *t, const report_data *d, const char *key, const char *heading)
{
    const json_t *object = get(d, key, NULL);
    if (json_object_size(object) == 0)
        return;
    html_heading(t, heading);
    html_object(t, object);
}

static void add_stability(text *t, const report_data *d)
{
    const char *words = string_of(get(d, "stability", "words"));
    if (!*words)
        return;
    html_heading(t, "Stability");
    html_paragraph(t, "The points of every item were drawn anew and the whole chain run again.");
    html_paragraph(t, words);
}

static void add_command(text *t, const report_data *d)
{
    const char *command = string_of(get(d, "command", NULL));
    if (!*command)
        return;
    html_heading(t, "To repeat it");
    text_add(t, "<pre>");
    text_add_html(t, command);
    text_add(t, "</pre>\n");
}

void report_page(text *t, const report_data *d)
{
    text title = {0};
    text_add_count(&title, json_integer_value(get(d, "sizes", "items")));
    text_addf(&title, " items in %" PRId64 " clusters", d->k);
    html_begin(t, text_get(&title));
    text_free(&title);
    add_summary(t, d);
    add_map(t, d);
    add_cards(t, d);
    add_sizes(t, d);
    add_chart(t, d, "Classes against clusters", chart_confusion,
              "Rows: the classes given; columns: the clusters found. Strong colour: much of the "
              "class.");
    add_chart(t, d, "Eigenvalues", chart_eigenvalues,
              "As many values near 0 as there are well separated groups; a jump after the K-th "
              "speaks for K.");
    add_sweep(t, d);
    add_chart(t, d, "Distances between neighbours", chart_neighbours,
              "All edges of the neighbour graph. A long tail to the right: items far from all "
              "others.");
    add_stability(t, d);
    add_object(t, d, "chosen", "Chosen from the data");
    add_object(t, d, "settings", "Settings");
    add_object(t, d, "pairs", "Pairs");
    add_object(t, d, "certificates", "Certificates");
    add_command(t, d);
    add_object(t, d, "seconds", "Seconds by stage");
    report_page_data(t, d);
    html_end(t, true);
}
