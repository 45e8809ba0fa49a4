/* Writes the sections of the page about points with named coordinates, such as cells with markers:
 * a heat map of clusters and coordinates, densities, the composition of the items by state, and the
 * flows between clusters. The script draws these figures from the data block. The numbers come from
 * result.json, which may have been edited, so their sizes are checked first. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/traits/cells.h"
#include "report/render/html.h"
#include "report/render/page.h"

/* ---- checks ---- */

/* Returns true if `list` has n entries, all of them finite numbers. */
static bool are_numbers(const json_t *list, size_t n)
{
    if (!json_is_array(list) || json_array_size(list) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!json_is_number(json_array_get(list, i)) ||
            !isfinite(json_number_value(json_array_get(list, i))))
            return false;
    return true;
}

static bool is_label(const ddsc_report *r, const json_t *label)
{
    return json_is_integer(label) && json_integer_value(label) >= 0 &&
           json_integer_value(label) < r->k;
}

static bool are_named(const json_t *list, size_t most)
{
    size_t n = json_array_size(list);
    for (size_t i = 0; i < n; i++)
        if (!json_is_string(json_object_get(json_array_get(list, i), "name")))
            return false;
    return n > 0 && n <= most;
}

static bool good_clusters(const ddsc_report *r, const json_t *cells, size_t n_coordinates,
                          size_t n_states)
{
    const json_t *list = json_object_get(cells, "clusters"), *row;
    size_t i;
    json_array_foreach(list, i, row)
    {
        if (!is_label(r, json_object_get(row, "label")) ||
            !are_numbers(json_object_get(row, "means"), n_coordinates) ||
            (n_states > 0 && !are_numbers(json_object_get(row, "shares"), n_states)))
            return false;
    }
    return i > 0 && i <= CELLS_CLUSTERS;
}

static bool good_densities(const json_t *cells)
{
    const json_t *all = json_object_get(cells, "densities"), *row, *list;
    size_t i, k, n = json_array_size(json_object_get(cells, "clusters"));
    json_array_foreach(json_object_get(all, "coordinates"), i, row)
    {
        const json_t *clusters = json_object_get(row, "clusters");
        if (!json_is_integer(json_object_get(row, "coordinate")) || json_array_size(clusters) != n)
            return false;
        json_array_foreach(clusters, k, list)
        {
            if (!json_is_null(list) && !are_numbers(list, CELLS_LEVELS))
                return false;
        }
    }
    return i <= CELLS_DENSITIES && are_numbers(json_object_get(all, "levels"), CELLS_LEVELS);
}

static bool good_states(const ddsc_report *r, const json_t *states, size_t n_coordinates)
{
    const json_t *list = json_object_get(states, "list"), *row, *line;
    size_t i, s, n = json_array_size(list);
    json_array_foreach(list, i, row)
    {
        if (!json_is_number(json_object_get(row, "share")) ||
            !are_numbers(json_object_get(row, "means"), n_coordinates))
            return false;
        const json_t *distances = json_object_get(row, "distances"); /* not in older results */
        if (distances && !are_numbers(distances, n))
            return false;
    }
    json_array_foreach(json_object_get(states, "items"), i, row)
    {
        if (report_page_row(r, row) < 0 || !are_numbers(json_object_get(row, "shares"), n))
            return false;
    }
    if (i > CELLS_ITEMS)
        return false;
    json_array_foreach(json_object_get(states, "flows"), i, row)
    {
        const json_t *mass = json_object_get(row, "mass");
        if (!is_label(r, json_object_get(row, "from")) ||
            !is_label(r, json_object_get(row, "to")) || json_array_size(mass) != n)
            return false;
        json_array_foreach(mass, s, line)
        {
            if (!are_numbers(line, n))
                return false;
        }
    }
    return i <= CELLS_PAIRS && are_named(list, CELLS_STATES);
}

/* Returns the checked description, or NULL. *states is NULL if there are no states. */
static const json_t *cells_of(const ddsc_report *r, const json_t **states)
{
    const json_t *cells = report_page_get(r, "cells", NULL);
    const json_t *names = json_object_get(cells, "coordinates");
    size_t n = json_array_size(names);
    *states = json_object_get(cells, "states");
    if (!are_named(names, CELLS_COORDINATES) || !good_densities(cells) ||
        !good_clusters(r, cells, n, json_array_size(json_object_get(*states, "list"))) ||
        (*states && !good_states(r, *states, n)))
        return NULL;
    return cells;
}

/* ---- data ---- */

static void add_dump(buffer *t, const char *key, const json_t *value)
{
    buffer_addf(t, ",\"%s\":", key);
    report_data_json(t, value);
}

static void add_named(buffer *t, const char *key, const json_t *list)
{
    buffer_addf(t, "\"%s\":[", key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        buffer_add(t, i ? "," : "");
        report_data_string(t, report_page_text(json_object_get(json_array_get(list, i), "name")));
    }
    buffer_add(t, "]");
}

/* Returns true if the page can compute the transport between two items. */
static bool has_distances(const json_t *states)
{
    const json_t *list = json_object_get(states, "list"), *row;
    size_t i;
    json_array_foreach(list, i, row)
    {
        if (!json_object_get(row, "distances"))
            return false;
    }
    return json_array_size(json_object_get(states, "items")) > 1;
}

/* Adds the means of the states as a separate table without names. */
static void add_states(buffer *t, const json_t *states)
{
    static const char *const columns[] = {"share", "means", "distances"};
    const json_t *list = json_object_get(states, "list");
    buffer_add(t, ",\"states\":{");
    add_named(t, "names", list);
    for (int column = 0; column < (has_distances(states) ? 3 : 2); column++) {
        const char *key = columns[column];
        json_t *values = json_array();
        for (size_t s = 0; s < json_array_size(list); s++)
            json_array_append(values, json_object_get(json_array_get(list, s), key));
        add_dump(t, key, values);
        json_decref(values);
    }
    add_dump(t, "items", json_object_get(states, "items"));
    add_dump(t, "flows", json_object_get(states, "flows"));
    buffer_add(t, "}");
}

void report_data_cells(buffer *t, const ddsc_report *r)
{
    const json_t *states, *cells = cells_of(r, &states);
    if (!cells)
        return;
    buffer_add(t, ",\n\"cells\":{");
    add_named(t, "names", json_object_get(cells, "coordinates"));
    json_t *numbers = json_array();
    for (size_t i = 0; i < json_array_size(json_object_get(cells, "coordinates")); i++)
        json_array_append(numbers,
                          json_object_get(json_array_get(json_object_get(cells, "coordinates"), i),
                                          "coordinate"));
    add_dump(t, "coordinates", numbers);
    json_decref(numbers);
    add_dump(t, "clusters", json_object_get(cells, "clusters"));
    add_dump(t, "levels", json_object_get(json_object_get(cells, "densities"), "levels"));
    add_dump(t, "densities", json_object_get(json_object_get(cells, "densities"), "coordinates"));
    if (states)
        add_states(t, states);
    buffer_add(t, "}");
}

/* ---- sections ---- */

static void add_limits(buffer *t, const ddsc_report *r, const json_t *cells)
{
    size_t n = json_array_size(json_object_get(cells, "coordinates"));
    json_int_t dim = json_integer_value(json_object_get(cells, "dimension"));
    size_t n_clusters = json_array_size(json_object_get(cells, "clusters"));
    if (dim > (json_int_t)n)
        buffer_addf(t,
                    "<p class=\"faint\">The figure shows the %zu coordinates that differ most, of "
                    "%" JSON_INTEGER_FORMAT ".</p>\n",
                    n, dim);
    if (n_clusters == CELLS_CLUSTERS && r->k > CELLS_CLUSTERS)
        buffer_addf(
            t, "<p class=\"faint\">The figure shows the first %zu clusters of %" PRId64 ".</p>\n",
            n_clusters, r->k);
}

/* Writes how the states were obtained. */
static void explain_states(buffer *t, const json_t *states)
{
    const json_t *tried = json_object_get(states, "tried");
    size_t n = json_array_size(json_object_get(states, "list"));
    if (json_is_true(json_object_get(states, "given"))) {
        html_paragraph(t, "States are the types of the points given in the input.");
        return;
    }
    buffer_addf(t,
                "<p>States are %zu k-means clusters of a sample of %" JSON_INTEGER_FORMAT
                " points from all items. ",
                n, json_integer_value(json_object_get(states, "sampled")));
    buffer_add(t, "Their number is the largest for which two random halves of the sample agree "
                  "(every state overlaps with a state of the other half by at least 0.75). ");
    for (size_t i = 0; i < json_array_size(tried); i++) {
        const json_t *row = json_array_get(tried, i);
        buffer_addf(t, "%s%" JSON_INTEGER_FORMAT ": %.2f", i ? ", " : "Agreement by number: ",
                    json_integer_value(json_object_get(row, "n")),
                    json_number_value(json_object_get(row, "agreement")));
    }
    buffer_add(t, ". <code>ddsc states</code> lists them and compares classes.</p>\n");
}

static void add_composition(buffer *t, const ddsc_report *r, const json_t *states)
{
    size_t shown = json_array_size(json_object_get(states, "items"));
    html_heading(t, "States of the points");
    explain_states(t, states);
    buffer_add(t, "<div class=\"wide\" id=\"state-heat\"></div>\n");
    html_heading(t, "Composition of the items");
    buffer_addf(t,
                "<p>Each column represents an item and is divided by the shares of the states. The "
                "bar above the columns shows the clusters. Items %s. Select a state to sort the "
                "items by its share.",
                json_is_true(json_object_get(states, "ordered"))
                    ? "follow the order along the main direction"
                    : "are in input order");
    if ((int64_t)shown < json_integer_value(report_page_get(r, "sizes", "items")))
        buffer_addf(t, " The figure shows %zu evenly spaced items.", shown);
    buffer_add(t, "</p>\n<ul id=\"mix-states\" class=\"states\"></ul>\n<div class=\"wide\"><canvas "
                  "id=\"mix\" tabindex=\"0\" role=\"application\" aria-label=\"Composition of the "
                  "items: left and right select an item, Enter opens it\"></canvas></div>\n"
                  "<p id=\"mix-said\" class=\"faint\" aria-live=\"polite\">Point at a column, or "
                  "use the arrow keys.</p>\n");
}

static void add_item_flows(buffer *t, const json_t *states)
{
    if (!has_distances(states))
        return;
    html_heading(t, "Transport between two items");
    buffer_add(t,
               "<p>The figure shows the smallest mass that must change its state to turn the "
               "shares of one item into those of the other. Mass moves to the nearest possible "
               "states. <code>ddsc states DIR FROM TO</code> computes an optimal transport plan "
               "between the points of both items, and lists the coordinates that change within "
               "each state.</p>\n<div class=\"controls\" id=\"pair\"><label>from <select "
               "id=\"pair-from\"></select></label><label>to <select "
               "id=\"pair-to\"></select></label></div>\n<div class=\"flows\"><div class=\"wide\" "
               "id=\"pair-flow\"></div><div class=\"wide\" id=\"pair-table\"></div></div>\n");
}

static void add_cluster_flows(buffer *t, const json_t *states)
{
    if (json_array_size(json_object_get(states, "flows")) == 0)
        return;
    html_heading(t, "Transport between clusters");
    html_paragraph(t, "The diagram shows an optimal transport plan between the pooled points of "
                      "two clusters, summed by state. Bands between different states represent "
                      "mass that changes its state; other mass moves within its state. This figure "
                      "is descriptive, because the clusters were computed from the same data.");
    buffer_add(t, "<div class=\"controls\"><label>clusters <select id=\"flow-pair\"></select>"
                  "</label></div>\n<div class=\"flows\"><div class=\"wide\" id=\"flow\"></div>"
                  "<div class=\"wide\" id=\"flow-table\"></div></div>\n");
}

void report_page_cells(buffer *t, const ddsc_report *r)
{
    const json_t *states, *cells = cells_of(r, &states);
    if (!cells)
        return;
    html_heading(t, "Coordinates by cluster");
    html_paragraph(t, "The heat map shows the mean of each coordinate in each cluster, as the "
                      "difference from the overall mean in standard deviations of all points. "
                      "Similar rows and columns are adjacent. This figure is descriptive, because "
                      "the clusters were computed from the same data.");
    add_limits(t, r, cells);
    buffer_add(t, "<div class=\"wide\" id=\"marker-heat\"></div>\n");
    if (json_array_size(json_object_get(json_object_get(cells, "densities"), "coordinates")) > 0) {
        html_heading(t, "Densities by cluster");
        buffer_addf(
            t,
            "<p>The curves show the distribution of the points of each cluster, from the 1%% to "
            "the 99%% quantile, for the coordinates that differ most (at most %d) and the largest "
            "clusters (at most %d). Clusters with fewer than 50 points are omitted.</p>"
            "\n<div id=\"densities\"></div>\n",
            CELLS_DENSITIES, CELLS_DENSITY_CLUSTERS);
    }
    if (states) {
        add_composition(t, r, states);
        add_item_flows(t, states);
        add_cluster_flows(t, states);
    }
}
