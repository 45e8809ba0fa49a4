/* report.html: one page from result.json, the labels, the map and the items. First what a reader asks
 * (how many groups, what are they, can I believe it, which items are doubtful, what next), then the map and the
 * groups, and last how it was computed. The script of the page fills in what can be changed by hand:
 * map, legend, table of items, classes against clusters, heat map. */
#include "report/render/page.h"

#include <inttypes.h>
#include <string.h>

#include "report/render/charts.h"
#include "report/render/html.h"

/* Below this doubt an item is well inside its group; 0.5 is the fence. */
static const double LITTLE_DOUBT = 0.3;

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

/* Names of files without their folders, which are nobody else's business. */
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

/* Over the K of a sweep, or where there was none over the cuts of the tree of clusters. */
static void add_slider(buffer *t, const ddsc_report *r)
{
    if (r->n_tried < 2 && !report_has_merges(r))
        return;
    buffer_add(t, "<label>groups <input id=\"k\" type=\"range\" min=\"0\"> <output id=\"k-words\" "
                  "for=\"k\"></output></label>\n");
}

static void add_map(buffer *t, const ddsc_report *r)
{
    if (!r->xy)
        return;
    html_heading(t, "Map");
    html_paragraph(t, "Each mark is an item; items that are alike lie near each other. What lies "
                      "far apart differs, but how far says little. Click a mark to read about it, "
                      "or draw a frame around several.");
    buffer_add(t, "<div class=\"controls\">\n"
                  "<label>find <input id=\"search\" type=\"search\"></label>\n"
                  "<label>colour by <select id=\"by\"></select></label>\n");
    add_slider(t, r);
    buffer_add(
        t,
        "<button id=\"frame\" aria-pressed=\"false\">draw a frame</button>\n"
        "<button id=\"reset\">reset</button>\n</div>\n"
        "<p id=\"count\" class=\"faint\" role=\"status\"></p>\n"
        "<div id=\"stage\"><div id=\"map\"><canvas id=\"view\" tabindex=\"0\" "
        "role=\"application\" aria-label=\"Map of the items\" aria-describedby=\"keys\"></canvas>"
        "<div id=\"tip\" hidden></div></div>\n"
        "<ul id=\"legend\" aria-label=\"Groups: choose some to look at\"></ul></div>\n"
        "<p id=\"keys\" class=\"faint\">Wheel, after a click on the map or with Ctrl held: zoom. "
        "Drag: move; with shift held: frame. "
        "Keys: left and right go from item to item, Enter opens it, + and - zoom, 0 shows all, "
        "Escape lets go.</p>\n"
        "<p id=\"said\" class=\"hushed\" aria-live=\"polite\"></p>\n");
}

/* ---- groups ---- */

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
    if (next) {
        buffer_add(t, " <span class=\"faint\">(or ");
        report_page_name(t, r, json_integer_value(next));
        buffer_add(t, ")</span>");
    }
    buffer_add(t, "</button></li>\n");
}

/* An item that is well inside, or shown as typical, is not doubtful. */
static bool lies_between(const json_t *item, const json_t *typical)
{
    const json_t *row = json_object_get(item, "row");
    for (size_t i = 0; i < json_array_size(typical); i++)
        if (json_equal(json_object_get(json_array_get(typical, i), "row"), row))
            return false;
    return json_number_value(json_object_get(item, "doubt")) > LITTLE_DOUBT;
}

/* typical NULL: all of them, else those that are doubtful. */
static void add_items(buffer *t, const ddsc_report *r, const json_t *items, const json_t *typical)
{
    int n = 0;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        if (typical && !lies_between(item, typical))
            continue;
        if (n++ == 0)
            buffer_addf(t, "<h4>%s</h4><ul>\n", typical ? "doubtful" : "typical");
        add_item(t, r, item);
    }
    buffer_add(t, n > 0 ? "</ul>\n" : "");
}

static void add_traits_of(buffer *t, const json_t *cluster)
{
    buffer traits = {.ctx = t->ctx};
    result_add_traits(&traits, cluster, CARD_PARTS);
    if (traits.status < 0)
        t->status = traits.status;
    if (traits.status >= 0 && traits.length > 0) {
        buffer_add(t, "<p class=\"traits\">");
        buffer_add_html(t, traits.bytes);
        buffer_add(t, "</p>\n");
    }
    buffer_free(&traits);
}

static void add_moves_of(buffer *t, const json_t *cluster)
{
    const json_t *moves = json_object_get(cluster, "moves"), *row;
    size_t i;
    json_array_foreach(moves, i, row)
    {
        buffer_add(t, i ? ", " : "<p class=\"faint\">moves: ");
        buffer_add_html(t, report_page_text(json_object_get(row, "word")));
        buffer_add(t, " \xe2\x86\x92 ");
        buffer_add_html(t, report_page_text(json_object_get(row, "to")));
    }
    buffer_add(t, i ? "</p>\n" : "");
    if (json_is_true(json_object_get(cluster, "moves_left_out")))
        html_paragraph(t, "Moves were not looked at: there are too many clusters.");
}

/* What the words and numbers on the cards mean. */
static void explain_traits(buffer *t, const json_t *cluster)
{
    if (json_object_get(cluster, "words"))
        html_paragraph(t, "Words: those that are heavier here than elsewhere, the most telling "
                          "first. Moves: the words that have the longest way to go if what is "
                          "heavier here becomes, by the least work, what is heavier elsewhere, and "
                          "the word that takes most of each.");
    if (json_object_get(cluster, "markers"))
        html_paragraph(t, "Coordinates: how far their values here lie from those elsewhere, in "
                          "standard deviations; + is higher, - lower. They were found on the data "
                          "that made the clusters: effects, not tests.");
}

static void add_card(buffer *t, const ddsc_report *r, int64_t c)
{
    const json_t *cluster = report_page_cluster(r, c);
    buffer_addf(t, "<section class=\"card\" id=\"cluster-%" PRId64 "\"><h3><span class=\"swatch ",
                c);
    plot_class(t, (int32_t)c);
    buffer_addf(t, "\" data-group=\"%" PRId64 "\"></span> ", c);
    report_page_name(t, r, c);
    buffer_add(t, "</h3>\n<p class=\"faint\">");
    if (report_page_has_name(r, c))
        buffer_addf(t, "cluster %" PRId64 ", ", c);
    buffer_add_count(t, json_integer_value(json_object_get(cluster, "size")));
    buffer_addf(t, " items<span class=\"picked\" data-cluster=\"%" PRId64 "\"></span></p>\n", c);
    add_traits_of(t, cluster);
    add_moves_of(t, cluster);
    const json_t *typical = json_object_get(cluster, "representatives");
    add_items(t, r, typical, NULL);
    add_items(t, r, json_object_get(cluster, "borderline"), typical);
    buffer_add(t, "</section>\n");
}

static void add_cards(buffer *t, const ddsc_report *r)
{
    size_t n = json_array_size(report_page_get(r, "clusters", NULL));
    n = BASE_MIN(n, (size_t)r->k);
    html_heading(t, "Groups");
    if (n == 0) {
        plot p = {.ctx = t->ctx};
        if (chart_sizes(&p, r))
            plot_svg(t, &p);
        plot_free(&p);
        return;
    }
    html_paragraph(t, "Typical items lie in the middle of their group; doubtful ones lie almost as "
                      "near to the middle of another, whose name is given.");
    explain_traits(t, report_page_cluster(r, 0));
    buffer_add(t, "<div class=\"cards\" id=\"cards\">\n");
    for (size_t c = 0; c < n; c++)
        add_card(t, r, (int64_t)c);
    buffer_add(t, "</div>\n<div class=\"cards\" id=\"other-cards\" hidden></div>\n");
}

/* ---- what the script fills in ---- */

static void add_joints(buffer *t, const ddsc_report *r)
{
    if (!r->xy || !report_has_merges(r))
        return;
    html_heading(t, "How the groups join");
    html_paragraph(t, "Groups that are linked most join first, from left to right: near 0 they run "
                      "into each other, at 0.5 they are linked as much as by chance, at 1 not at "
                      "all. Click a joint to choose the items it joins.");
    buffer_add(t, "<div class=\"wide\" id=\"tree\"><svg></svg></div>\n");
}

static void add_views(buffer *t, const ddsc_report *r)
{
    const json_t *ami = report_page_get(r, "scores", "ami");
    if (!r->xy)
        return;
    html_heading(t, "Items");
    if (json_is_integer(report_page_get(r, "doubtful", NULL)))
        html_paragraph(t, "Doubt: 0 in the middle of its group, 0.5 on the fence to the next.");
    buffer_add(t, "<div class=\"wide\" id=\"items\"></div>\n");
    if (r->class) {
        html_heading(t, "Classes against groups");
        html_paragraph(t, "Rows: the classes given; columns: the groups found. Click a number to "
                          "see these items.");
        buffer_add(t, "<div class=\"wide\" id=\"classes\"></div>\n");
        if (json_is_number(ami))
            buffer_addf(t,
                        "<p class=\"faint\">Agreement of groups and classes, beyond chance: AMI "
                        "%.3f, ARI %.3f (1 is complete, 0 is chance).</p>\n",
                        json_number_value(ami),
                        json_number_value(report_page_get(r, "scores", "ari")));
    }
    if (r->coords) {
        buffer_add(t, "<div id=\"heat\" hidden>\n");
        html_heading(t, "Every item beside every other");
        html_paragraph(t, "Dark: alike. Items stand by group; distances are those of the embedding "
                          "that the groups were cut from.");
        buffer_add(t, "<div class=\"wide\"><canvas id=\"heat-view\" role=\"img\" "
                      "aria-label=\"Heat map of the distances between items\"></canvas></div>\n"
                      "<p id=\"heat-said\" class=\"faint\"></p></div>\n");
    }
}

static void begin_page(buffer *t, const ddsc_report *r)
{
    buffer title = {.ctx = t->ctx};
    buffer_add_count(&title, json_integer_value(report_page_get(r, "sizes", "items")));
    buffer_addf(&title, " items in %" PRId64 " groups", r->k);
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
    add_map(t, r);
    buffer_add(t, "<noscript><p>Map, table and small pictures need the script of this page.</p>"
                  "</noscript>\n");
    add_cards(t, r);
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
