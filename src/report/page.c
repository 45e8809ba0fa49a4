/* report.html: one page from result.json, the labels, the map and the items. */
#include <inttypes.h>
#include <math.h>

#include "report/charts.h"
#include "report/html.h"

static const json_t *tree_get(const ddsc_report *r, const char *key, const char *inner)
{
    const json_t *found = json_object_get(r->tree, key);
    return inner ? json_object_get(found, inner) : found;
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

static const char *string_of(const json_t *value)
{
    const char *words = json_string_value(value);
    return words ? words : "";
}

static void add_advice(buffer *t, const char *words, bool bad)
{
    buffer_addf(t, "<p class=\"advice%s\">", bad ? " bad" : "");
    buffer_add_html(t, words);
    buffer_add(t, "</p>\n");
}

/* The page in sentences, made from the numbers. */
static void add_sentences(buffer *t, const ddsc_report *r)
{
    const char *verdict = string_of(tree_get(r, "verdict", "text"));
    const json_t *doubtful = tree_get(r, "doubtful", NULL);
    bool certified = json_is_true(tree_get(r, "certificates", "certified"));
    buffer_addf(t, "<p class=\"verdict %s\"><b>", string_of(tree_get(r, "verdict", "structure")));
    buffer_add_html(t, verdict);
    buffer_add(t, "</b> ");
    if (json_is_integer(doubtful)) {
        buffer_add_count(t, json_integer_value(doubtful));
        buffer_add(t, json_integer_value(doubtful) == 1
                          ? " item lies nearly as close to another cluster as to its own. "
                          : " items lie nearly as close to another cluster as to their own. ");
    }
    buffer_add(t, certified ? "All of it was computed exactly as the settings ask."
                            : "Not all of it converged: these results are marked.");
    buffer_add(t, "</p>\n");
}

static void add_summary(buffer *t, const ddsc_report *r)
{
    const json_t *files = tree_get(r, "input", NULL), *metric = tree_get(r, "settings", "metric");
    const char *advice = string_of(tree_get(r, "advice", NULL));
    bool certified = json_is_true(tree_get(r, "certificates", "certified"));
    buffer_add(t, "<p class=\"faint\">");
    for (size_t i = 0; i < json_array_size(files) && i < 8; i++) {
        buffer_add(t, i ? ", " : "");
        buffer_add_html(t, string_of(json_array_get(files, i)));
    }
    if (json_array_size(files) > 8)
        buffer_addf(t, " and %zu more", json_array_size(files) - 8);
    buffer_add(t, "</p>\n<ul class=\"facts\">\n");
    if (metric)
        add_fact(t, string_of(metric), "metric");
    else
        add_fact(t, string_of(tree_get(r, "settings", "method")), "method");
    add_count_fact(t, tree_get(r, "chosen", "tau"), "neighbours kept");
    add_count_fact(t, tree_get(r, "components", NULL), "graph components");
    add_real_fact(t, tree_get(r, "gaps", "relative_gap"), "relative gap after K");
    add_real_fact(t, tree_get(r, "scores", "ami"), "AMI");
    add_real_fact(t, tree_get(r, "scores", "ari"), "ARI");
    add_real_fact(t, tree_get(r, "seconds", "total"), "seconds");
    add_fact(t, certified ? "yes" : "no", "computed exactly");
    buffer_add(t, "</ul>\n");
    if (!certified)
        add_advice(t, "Not converged: these results are marked, see result.json.", true);
    if (*advice)
        add_advice(t, advice, false);
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

static void add_legend(buffer *t, const ddsc_report *r)
{
    for (int64_t c = 0; c < r->k; c++) {
        buffer_addf(t,
                    "<button data-cluster=\"%" PRId64
                    "\" aria-pressed=\"true\" title=\"click: show or hide; shift-click: this one "
                    "alone\"><span class=\"",
                    c);
        plot_class(t, (int32_t)c);
        buffer_addf(t, "\">&#9679;</span> %" PRId64, c);
        const char *name =
            report_cluster_name(json_array_get(tree_get(r, "clusters", NULL), (size_t)c));
        buffer_add(t, name ? " " : "");
        buffer_add_html(t, name ? name : "");
        buffer_add(t, "</button>\n");
    }
}

static void add_map(buffer *t, const ddsc_report *r)
{
    if (!r->xy)
        return;
    html_heading(t, "Map");
    html_paragraph(t, "Each dot is an item; neighbours of the graph lie near each other. What lies "
                      "far apart differs, but how far says little.");
    buffer_add(t, "<div class=\"controls\">\n");
    add_legend(t, r);
    buffer_add(t, "<label>find <input id=\"search\" type=\"search\" "
                  "title=\"show only ids with these letters\"></label>\n");
    if (r->class)
        buffer_add(t,
                   "<select id=\"by\" aria-label=\"colour by\"><option value=\"cluster\">colour by "
                   "cluster</option><option value=\"class\">colour by class</option></select>\n");
    buffer_add(
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

static void add_item(buffer *t, const ddsc_report *r, const json_t *item)
{
    int64_t row = json_integer_value(json_object_get(item, "row"));
    const json_t *next = json_object_get(item, "next");
    if (row < 0 || row >= r->n_rows)
        return;
    buffer_addf(t, "<li><button class=\"item\" data-row=\"%" PRId64 "\">", row);
    if (report_has_pictures(r))
        buffer_addf(t, "<canvas class=\"picture\" data-row=\"%" PRId64 "\"></canvas>", row);
    const json_t *title = json_object_get(item, "title");
    buffer_add_html(t, string_of(title ? title : json_object_get(item, "id")));
    if (next)
        buffer_addf(t, " <span class=\"faint\">or %" JSON_INTEGER_FORMAT "</span>",
                    json_integer_value(next));
    buffer_add(t, "</button></li>\n");
}

static void add_items(buffer *t, const ddsc_report *r, const json_t *items, const char *words)
{
    buffer_addf(t, "<div class=\"faint\">%s</div><ul>\n", words);
    for (size_t i = 0; i < json_array_size(items); i++)
        add_item(t, r, json_array_get(items, i));
    buffer_add(t, "</ul>\n");
}

static void add_traits_of(buffer *t, const json_t *cluster)
{
    buffer traits = {.ctx = t->ctx};
    report_add_traits(&traits, cluster, 8);
    if (traits.status < 0)
        t->status = traits.status;
    if (traits.status >= 0 && traits.length > 0) {
        buffer_add(t, "<p class=\"traits\">");
        buffer_add_html(t, traits.bytes);
        buffer_add(t, "</p>\n");
    }
    buffer_free(&traits);
}

/* What the words and numbers on the cards mean. */
static void explain_traits(buffer *t, const json_t *cluster)
{
    if (json_object_get(cluster, "words"))
        html_paragraph(t, "Words: those that are heavier here than elsewhere, the most telling "
                          "first.");
    if (json_object_get(cluster, "markers"))
        html_paragraph(t, "Coordinates: how far their values here lie from those elsewhere, in "
                          "standard deviations; + is higher, - lower. They were found on the data "
                          "that made the clusters: effects, not tests.");
}

static void add_cards(buffer *t, const ddsc_report *r)
{
    const json_t *clusters = tree_get(r, "clusters", NULL);
    html_heading(t, "Clusters");
    if (json_array_size(clusters) == 0)
        return;
    html_paragraph(t, "Typical items lie nearest to the centre of their cluster in the spectral "
                      "embedding; doubtful ones lie almost as near to another centre.");
    explain_traits(t, json_array_get(clusters, 0));
    buffer_add(t, "<div class=\"cards\">\n");
    for (size_t c = 0; c < json_array_size(clusters); c++) {
        const json_t *cluster = json_array_get(clusters, c);
        buffer_addf(t, "<section class=\"card\" id=\"cluster-%zu\"><h3><span class=\"", c);
        plot_class(t, (int32_t)c);
        buffer_addf(t, "\">&#9679;</span> cluster %zu: ", c);
        if (report_cluster_name(cluster)) {
            buffer_add_html(t, report_cluster_name(cluster));
            buffer_add(t, ", ");
        }
        buffer_add_count(t, json_integer_value(json_object_get(cluster, "size")));
        buffer_add(t, " items</h3>\n");
        add_traits_of(t, cluster);
        add_items(t, r, json_object_get(cluster, "representatives"), "typical");
        add_items(t, r, json_object_get(cluster, "borderline"), "doubtful");
        buffer_add(t, "</section>\n");
    }
    buffer_add(t, "</div>\n");
}

/* Columns about items against the clusters. */
static void add_about_table(buffer *t, const ddsc_report *r)
{
    static const char *const heads[] = {"column", "effect", "", "p", "p (Holm)", "items", "", NULL};
    const json_t *about = tree_get(r, "about", NULL);
    if (json_array_size(about) == 0)
        return;
    html_heading(t, "What goes with the clusters");
    html_paragraph(t,
                   "Columns about items, which took no part in the clustering. Effect: 0 none, 1 "
                   "all. p: how often "
                   "labels in random order do as well; Holm: corrected for the number of columns. "
                   "If the number "
                   "of points or the batch predicts the clusters, these may be no more than that.");
    html_table_begin(t, heads);
    for (size_t i = 0; i < json_array_size(about); i++) {
        const json_t *row = json_array_get(about, i);
        html_row_begin(t);
        html_cell(t, string_of(json_object_get(row, "column")));
        html_cell(t, string_of(json_object_get(row, "effect")));
        html_cell_real(t, json_number_value(json_object_get(row, "value")));
        html_cell_real(t, json_number_value(json_object_get(row, "p")));
        html_cell_real(t, json_number_value(json_object_get(row, "p_holm")));
        html_cell_count(t, json_integer_value(json_object_get(row, "items")));
        html_cell(t, json_is_true(json_object_get(row, "predicts")) ? "predicts the clusters" : "");
        html_row_end(t);
    }
    html_table_end(t);
}

static void add_size_chart(buffer *t, const ddsc_report *r)
{
    plot p = {.ctx = t->ctx};
    if (chart_sizes(&p, r))
        plot_svg(t, &p);
    plot_free(&p);
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
    const json_t *sweep = tree_get(r, "sweep", NULL);
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

static void add_object(buffer *t, const ddsc_report *r, const char *key, const char *heading)
{
    const json_t *object = tree_get(r, key, NULL);
    if (json_object_size(object) == 0)
        return;
    html_heading(t, heading);
    html_object(t, object);
}

/* Results of earlier versions have a few of the stages, and no CPU seconds. */
static void add_seconds_table(buffer *t, const ddsc_report *r)
{
    static const char *const heads[] = {"stage", "wall", "CPU", NULL};
    const json_t *rows = tree_get(r, "seconds", "stages");
    if (json_array_size(rows) == 0) {
        add_object(t, r, "seconds", "Seconds by stage");
        return;
    }
    html_heading(t, "Seconds by stage");
    html_table_begin(t, heads);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        html_row_begin(t);
        html_cell(t, string_of(json_object_get(row, "stage")));
        html_cell_real(t, real_of(json_object_get(row, "wall")));
        html_cell_real(t, real_of(json_object_get(row, "cpu")));
        html_row_end(t);
    }
    html_table_end(t);
}

static void add_stability(buffer *t, const ddsc_report *r)
{
    const char *words = string_of(tree_get(r, "stability", "words"));
    if (!*words)
        return;
    html_heading(t, "Stability");
    html_paragraph(t, "The points of every item were drawn anew and the whole chain run again.");
    html_paragraph(t, words);
}

static void add_command(buffer *t, const ddsc_report *r)
{
    const char *command = string_of(tree_get(r, "command", NULL));
    if (!*command)
        return;
    html_heading(t, "To repeat it");
    buffer_add(t, "<pre>");
    buffer_add_html(t, command);
    buffer_add(t, "</pre>\n");
}

void report_page(buffer *t, const ddsc_report *r, const buffer *data)
{
    buffer title = {.ctx = t->ctx};
    buffer_add_count(&title, json_integer_value(tree_get(r, "sizes", "items")));
    buffer_addf(&title, " items in %" PRId64 " clusters", r->k);
    if (title.status < 0)
        t->status = title.status;
    else
        html_begin(t, title.bytes);
    buffer_free(&title);
    add_sentences(t, r);
    add_summary(t, r);
    add_map(t, r);
    add_cards(t, r);
    add_about_table(t, r);
    add_size_chart(t, r);
    add_chart(t, r, "Classes against clusters", chart_confusion,
              "Rows: the classes given; columns: the clusters found. Strong colour: much of the "
              "class.");
    add_chart(t, r, "Eigenvalues", chart_eigenvalues,
              "As many values near 0 as there are well separated groups; a jump after the K-th "
              "speaks for K.");
    add_sweep_table(t, r);
    add_chart(t, r, "Distances between neighbours", chart_neighbours,
              "All edges of the neighbour graph. A long tail to the right: items far from all "
              "others.");
    add_stability(t, r);
    buffer_add(t, "<details><summary>How this was computed</summary>\n");
    add_object(t, r, "chosen", "Chosen from the data");
    add_object(t, r, "settings", "Settings");
    add_object(t, r, "pairs", "Pairs");
    add_object(t, r, "certificates", "Certificates");
    add_command(t, r);
    add_seconds_table(t, r);
    buffer_add(t, "</details>\n");
    if (!data)
        report_page_data(t, r);
    else if (data->status < 0)
        t->status = data->status;
    else
        buffer_add_bytes(t, data->bytes, (size_t)data->length);
    html_end(t, true);
}
