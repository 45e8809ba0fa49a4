/* Writes the section about the order of the items along the main direction. The script draws the
 * curves. The numbers come from result.json, which may have been edited, so their sizes are checked
 * first. */
#include <math.h>

#include "report/render/html.h"
#include "report/render/page.h"

enum { CURVE_POINTS = 21, MOST_CURVES = 24 };

static bool is_curve(const json_t *row, const char *key)
{
    const json_t *list = json_object_get(row, key);
    if (json_array_size(list) != CURVE_POINTS)
        return false;
    for (size_t i = 0; i < CURVE_POINTS; i++)
        if (!json_is_number(json_array_get(list, i)) ||
            !isfinite(json_number_value(json_array_get(list, i))))
            return false;
    return true;
}

/* Returns the checked description, or NULL. */
static const json_t *order_of(const ddsc_report *r)
{
    const json_t *order = report_page_get(r, "order", NULL), *row;
    const json_t *list = json_object_get(order, "coordinates");
    size_t i;
    json_array_foreach(list, i, row)
    {
        if (!is_curve(row, "mean") || !is_curve(row, "half") ||
            !json_is_string(json_object_get(row, "name")) ||
            !json_is_number(json_object_get(row, "rho")))
            return NULL;
    }
    return i > 0 && i <= MOST_CURVES ? order : NULL;
}

bool report_page_leads(const ddsc_report *r)
{
    return json_is_true(json_object_get(order_of(r), "leads"));
}

static void add_numbers(buffer *t, const char *key, const json_t *list)
{
    buffer_addf(t, ",\"%s\":[", key);
    for (size_t i = 0; i < json_array_size(list); i++)
        buffer_addf(t, "%s%.5g", i ? "," : "", json_number_value(json_array_get(list, i)));
    buffer_add(t, "]");
}

void report_data_order(buffer *t, const ddsc_report *r)
{
    const json_t *order = order_of(r), *row;
    size_t i;
    if (!order)
        return;
    buffer_add(t, ",\n\"order\":[");
    json_array_foreach(json_object_get(order, "coordinates"), i, row)
    {
        buffer_add(t, i ? ",{\"name\":" : "{\"name\":");
        report_data_string(t, report_page_text(json_object_get(row, "name")));
        buffer_addf(t, ",\"rho\":%.3g", json_number_value(json_object_get(row, "rho")));
        add_numbers(t, "mean", json_object_get(row, "mean"));
        add_numbers(t, "half", json_object_get(row, "half"));
        buffer_add(t, "}");
    }
    buffer_add(t, "]");
}

void report_page_answer_order(buffer *t, const ddsc_report *r)
{
    const json_t *rho = report_page_get(r, "order", "stability");
    if (!report_page_leads(r) || !json_is_number(rho))
        return;
    buffer_addf(
        t,
        "<div><dt>How do the items differ?</dt><dd>They follow an <a href=\"#order\">order"
        "</a> instead of forming separate clusters. The order is stable: random halves of the "
        "points of each item give nearly the same order (rank correlation <b>%.2f</b>).</dd></div>"
        "\n",
        json_number_value(rho));
}

void report_page_order(buffer *t, const ddsc_report *r)
{
    const json_t *order = order_of(r), *rho = json_object_get(order, "stability");
    if (!order)
        return;
    buffer_add(t, "<h2 id=\"order\">Order of the items</h2>\n<p>");
    if (json_is_number(rho))
        buffer_addf(t,
                    "The rank correlation between the orders from two random halves of the points "
                    "of each item is %.2f (0.8 or more is stable). ",
                    json_number_value(rho));
    buffer_add(
        t,
        "The curves show the mean of each coordinate along the order, from the first item to the "
        "last, with a 95% band and the range. They are sorted by rank correlation, largest first. "
        "This figure is descriptive, because the order was computed from the same data. <code>ddsc "
        "order</code> compares the order with metadata columns, and <code>--start</code> "
        "sets its direction.</p>\n<div id=\"order-curves\" class=\"multiples\"></div>\n");
}
