/* Writes report.html from result.json, the labels, the map and the items. The page first answers
 * the main questions: how many clusters there are, what they contain, whether they are reliable,
 * which items are ambiguous, and what to do next. The map, the clusters and a section on the
 * computation follow. A script fills in the interactive parts: the map, the legend, the tables and
 * the heat map. */
#include "report/render/page.h"

#include <inttypes.h>
#include <string.h>

#include "report/render/charts.h"
#include "report/render/html.h"
#include "report/traits/traits.h"

enum { CARD_PARTS = 8 };

const json_t *report_page_get(const ddsc_report *r, const char *key, const char *inner)
{
    const json_t *found = json_object_get(r->tree, key);
    return inner ? json_object_get(found, inner) : found;
}

const char *report_page_text(const json_t *value)
{
    const char *words = json_string_value(value);
    return words ? words : "";
}

/* Returns the name of a file without its folder, because the folder may be private. */
static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void add_files(buffer *t, const ddsc_report *r)
{
    const json_t *files = report_page_get(r, "input", NULL);
    buffer_add(t, "<p class=\"faint\">");
    for (size_t i = 0; i < json_array_size(files) && i < 8; i++) {
        buffer_add(t, i ? ", " : "");
        buffer_add_html(t, base_of(report_page_text(json_array_get(files, i))));
    }
    if (json_array_size(files) > 8)
        buffer_addf(t, " and %zu more", json_array_size(files) - 8);
    buffer_add(t, "</p>\n");
}

/* ---- map ---- */

/* Adds a slider over the K of a sweep, or over the cuts of the cluster tree if there is no sweep.
 * */
static void add_slider(buffer *t, const ddsc_report *r)
{
    if (r->n_tried < 2 && !report_has_merges(r))
        return;
    buffer_add(t, "<label>clusters <input id=\"k\" type=\"range\" min=\"0\"> <output "
                  "id=\"k-words\" for=\"k\"></output></label>\n");
}

static void add_map(buffer *t, const ddsc_report *r)
{
    if (!r->xy)
        return;
    html_heading(t, "Map");
    html_paragraph(
        t, "Each mark is an item, and similar items are close to each other. Large distances "
           "on the map are not to scale. Click a mark to see its details, or draw a "
           "frame around several items to select them.");
    buffer_add(t,
               "<div class=\"controls\">\n<label>find <input id=\"search\" "
               "type=\"search\"></label>\n<label>color by <select id=\"by\"></select></label>\n");
    add_slider(t, r);
    buffer_add(
        t,
        "<button id=\"frame\" aria-pressed=\"false\">draw a frame</button>\n<button "
        "id=\"reset\">reset</button>\n</div>\n<p id=\"count\" class=\"faint\" "
        "role=\"status\"></p>\n<div id=\"stage\"><div id=\"map\"><canvas id=\"view\" "
        "tabindex=\"0\" role=\"application\" aria-label=\"Map of the items\" "
        "aria-describedby=\"keys\"></canvas><div id=\"tip\" hidden></div></div>\n<ul id=\"legend\" "
        "aria-label=\"Clusters: select one or more\"></ul></div>\n<p id=\"keys\" "
        "class=\"faint\">Zoom with the wheel after a click on the map, or with Ctrl held. Drag to "
        "move the map, or drag with Shift held to draw a frame. Keys: left and right select the "
        "previous or next item, Enter opens the current item, + and - zoom, 0 shows all items, and "
        "Escape clears the selection.</p>\n<p id=\"said\" class=\"hushed\" "
        "aria-live=\"polite\"></p>\n");
}

/* ---- clusters ---- */

static void add_item(buffer *t, const ddsc_report *r, const json_t *item)
{
    int64_t row = report_page_row(r, item);
    const json_t *next = json_object_get(item, "next");
    if (row < 0)
        return;
    buffer_addf(t, "<li><button class=\"item\" data-row=\"%" PRId64 "\">", row);
    if (r->xy && result_has_pictures(r))
        buffer_addf(t, "<canvas class=\"picture\" data-row=\"%" PRId64 "\"></canvas>", row);
    report_page_item(t, item);
    json_int_t copies = json_integer_value(json_object_get(item, "copies"));
    if (copies > 1)
        buffer_addf(t, " <span class=\"faint\">(%" JSON_INTEGER_FORMAT " copies)</span>", copies);
    if (next) {
        buffer_add(t, " <span class=\"faint\">(or ");
        report_page_name(t, r, json_integer_value(next));
        buffer_add(t, ")</span>");
    }
    buffer_add(t, "</button></li>\n");
}

/* Returns true if the item counts as ambiguous in the answers. */
static bool lies_between(const json_t *item)
{
    return json_number_value(json_object_get(item, "ambiguity")) > RESULT_AMBIGUOUS;
}

/* Lists all items, or only the ambiguous ones. */
static void add_items(buffer *t, const ddsc_report *r, const json_t *items, bool ambiguous)
{
    int n = 0;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        if (ambiguous && !lies_between(item))
            continue;
        if (n++ == 0)
            buffer_addf(t, "<h4>%s</h4><ul>\n", ambiguous ? "ambiguous" : "typical");
        add_item(t, r, item);
    }
    buffer_add(t, n > 0 ? "</ul>\n" : "");
}

static void add_traits_of(buffer *t, const json_t *cluster)
{
    buffer traits = {.ctx = t->ctx};
    traits_add(&traits, cluster, CARD_PARTS);
    if (traits.status < 0)
        t->status = traits.status;
    if (traits.status >= 0 && traits.length > 0) {
        buffer_add(t, "<p class=\"traits\">");
        buffer_add_html(t, traits.bytes);
        buffer_add(t, "</p>\n");
    }
    buffer_free(&traits);
}

static void add_heavier(buffer *t, const char *before, const json_t *words)
{
    const json_t *word;
    size_t i;
    json_array_foreach(words, i, word)
    {
        buffer_add(t, i ? ", " : before);
        buffer_add_html(t, report_page_text(word));
    }
}

/* Adds the words that differ most between a cluster and its nearest cluster. */
static void add_nearest(buffer *t, const ddsc_report *r, const json_t *cluster)
{
    const json_t *nearest = json_object_get(cluster, "nearest");
    const json_t *label = json_object_get(nearest, "label");
    if (!json_is_integer(label))
        return;
    buffer_add(t, "<p class=\"faint\">nearest: ");
    report_page_name(t, r, json_integer_value(label));
    add_heavier(t, "; more here: ", json_object_get(nearest, "more"));
    add_heavier(t, "; more there: ", json_object_get(nearest, "less"));
    buffer_add(t, "</p>\n");
}

/* Writes an explanation of the words and numbers on the cards. */
static void explain_traits(buffer *t, const json_t *cluster)
{
    if (json_object_get(cluster, "words"))
        html_paragraph(t, "Words: words with a larger share in this cluster than elsewhere, most "
                          "distinctive first. Nearest: the nearest other cluster of most of its "
                          "items, and the words in which the two clusters differ most.");
    if (json_object_get(cluster, "markers"))
        html_paragraph(
            t, "Coordinates: how much the values in this cluster differ from those elsewhere, in "
               "standard deviations (+ is higher, - is lower). Effect sizes are not tests, because "
               "the clusters were computed from the same data.");
}

static void add_card(buffer *t, const ddsc_report *r, int64_t c)
{
    const json_t *cluster = report_page_cluster(r, c);
    buffer_addf(t, "<section class=\"card\" id=\"cluster-%" PRId64 "\"><h3><span class=\"swatch ",
                c);
    plot_class(t, (int32_t)c);
    buffer_addf(t, "\" data-value=\"%" PRId64 "\"></span> ", c);
    report_page_name(t, r, c);
    buffer_add(t, "</h3>\n<p class=\"faint\">");
    if (report_page_has_name(r, c))
        buffer_addf(t, "cluster %" PRId64 ", ", c);
    buffer_add_count(t, json_integer_value(json_object_get(cluster, "size")));
    buffer_addf(t, " items<span class=\"picked\" data-cluster=\"%" PRId64 "\"></span></p>\n", c);
    add_traits_of(t, cluster);
    add_nearest(t, r, cluster);
    const json_t *typical = json_object_get(cluster, "representatives");
    add_items(t, r, typical, false);
    add_items(t, r, json_object_get(cluster, "borderline"), true);
    buffer_add(t, "</section>\n");
}

static void add_cards(buffer *t, const ddsc_report *r)
{
    size_t n = json_array_size(report_page_get(r, "clusters", NULL));
    n = BASE_MIN(n, (size_t)r->k);
    html_heading(t, "Clusters");
    if (n == 0) {
        plot p = {.ctx = t->ctx};
        if (chart_sizes(&p, r))
            plot_svg(t, &p);
        plot_free(&p);
        return;
    }
    html_paragraph(t, "Typical items are near the center of their cluster. Ambiguous items are "
                      "almost as close to the center of another cluster, whose name is shown.");
    explain_traits(t, report_page_cluster(r, 0));
    buffer_add(t, "<div class=\"cards\" id=\"cards\">\n");
    for (size_t c = 0; c < n; c++)
        add_card(t, r, (int64_t)c);
    buffer_add(t, "</div>\n<div class=\"cards\" id=\"other-cards\" hidden></div>\n");
}

/* ---- parts that the script fills in ---- */

static void add_joints(buffer *t, const ddsc_report *r)
{
    if (!r->xy || !report_has_merges(r))
        return;
    html_heading(t, "How the clusters merge");
    html_paragraph(
        t, "The clusters with the strongest links merge first, from left to right. At height 0, "
           "there is no gap between two clusters; at 0.5, they have as many links as expected by "
           "chance; at 1, they have no links. Click a joint to select the items that it merges.");
    buffer_add(t, "<div class=\"wide\" id=\"tree\"><svg></svg></div>\n");
}

static void add_views(buffer *t, const ddsc_report *r)
{
    const json_t *ami = report_page_get(r, "scores", "ami");
    if (!r->xy)
        return;
    html_heading(t, "Items");
    if (json_is_integer(report_page_get(r, "ambiguous", NULL)))
        html_paragraph(t, "Ambiguity: 0 at the center of the item's cluster, 0.5 on the boundary "
                          "with the nearest other cluster.");
    buffer_add(t, "<div class=\"wide\" id=\"items\"></div>\n");
    if (r->class) {
        html_heading(t, "Classes and clusters");
        html_paragraph(t, "Rows are the known classes, and columns are the clusters. Click a "
                          "number to select its items.");
        buffer_add(t, "<div class=\"wide\" id=\"classes\"></div>\n");
        if (json_is_number(ami))
            buffer_addf(t,
                        "<p class=\"faint\">Agreement between clusters and classes, corrected for "
                        "chance: AMI %.3f, ARI %.3f (1 is perfect agreement, 0 is chance).</p>\n",
                        json_number_value(ami),
                        json_number_value(report_page_get(r, "scores", "ari")));
    }
    if (r->coords) {
        buffer_add(t, "<div id=\"heat\" hidden>\n");
        html_heading(t, "Distances between all items");
        html_paragraph(t, "Dark cells represent pairs of similar items. Items are sorted by "
                          "cluster. Distances are "
                          "measured in the embedding from which the clusters were computed.");
        buffer_add(t, "<div class=\"wide\"><canvas id=\"heat-view\" role=\"img\" "
                      "aria-label=\"Heat map of the distances between items\"></canvas></div>\n"
                      "<p id=\"heat-said\" class=\"faint\"></p></div>\n");
    }
}

static void begin_page(buffer *t, const ddsc_report *r)
{
    buffer title = {.ctx = t->ctx};
    buffer_add_count(&title, json_integer_value(report_page_get(r, "sizes", "items")));
    buffer_addf(&title, " items in %" PRId64 " clusters", r->k);
    if (title.status < 0)
        t->status = title.status;
    else
        html_begin(t, title.bytes);
    buffer_free(&title);
}

void report_page(buffer *t, const ddsc_report *r, const buffer *data)
{
    begin_page(t, r);
    add_files(t, r);
    report_page_answers(t, r);
    if (report_page_leads(r))
        report_page_order(t, r);
    add_map(t, r);
    buffer_add(t, "<noscript><p>The map, the tables and the small pictures require "
                  "JavaScript.</p></noscript>\n");
    add_cards(t, r);
    if (!report_page_leads(r))
        report_page_order(t, r);
    report_page_cells(t, r);
    report_page_over(t, r);
    add_joints(t, r);
    add_views(t, r);
    report_page_about(t, r);
    report_page_how(t, r);
    buffer_add(t, "<dialog id=\"drawer\" aria-labelledby=\"drawer-name\"></dialog>\n");
    if (!data)
        report_page_data(t, r);
    else if (data->status < 0)
        t->status = data->status;
    else
        buffer_add_bytes(t, data->bytes, (size_t)data->length);
    html_end(t, true);
}
