#include "report.h"

#include <math.h>
#include <stdlib.h>

#include "plot.h"
#include "report_assets.h"

/* "ab12..." of CMake as the base64 that a content policy wants. */
static void add_hash(text *t, const char *hex)
{
    unsigned char bytes[32];
    for (int i = 0; i < 32; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], 0};
        bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    text_add(t, "'sha256-");
    text_add_base64(t, bytes, sizeof bytes);
    text_add(t, "'");
}

void html_begin(text *t, const char *title)
{
    text_add(t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                "base-uri 'none'; form-action 'none'; style-src ");
    add_hash(t, asset_report_css_sha256);
    text_add(t, "; script-src ");
    add_hash(t, asset_report_js_sha256);
    text_add(t, "\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    text_add_html(t, title);
    text_add(t, "</title>\n<style>");
    text_add_bytes(t, (const char *)asset_report_css, sizeof asset_report_css);
    text_add(t, "</style>\n</head>\n<body>\n<h1>");
    text_add_html(t, title);
    text_add(t, "</h1>\n");
}

void html_end(text *t, bool script)
{
    text_addf(t, "<p class=\"faint\"><small>ddsc %s</small></p>\n", ddsc_version());
    if (script) {
        text_add(t, "<script>");
        text_add_bytes(t, (const char *)asset_report_js, sizeof asset_report_js);
        text_add(t, "</script>\n");
    }
    text_add(t, "</body>\n</html>\n");
}

void html_heading(text *t, const char *heading)
{
    text_add(t, "<h2>");
    text_add_html(t, heading);
    text_add(t, "</h2>\n");
}

void html_paragraph(text *t, const char *words)
{
    text_add(t, "<p>");
    text_add_html(t, words);
    text_add(t, "</p>\n");
}

void html_table_begin(text *t, const char *const *heads)
{
    text_add(t, "<div class=\"wide\"><table>\n");
    if (!heads)
        return;
    text_add(t, "<tr>");
    for (; *heads; heads++) {
        text_add(t, "<th>");
        text_add_html(t, *heads);
        text_add(t, "</th>");
    }
    text_add(t, "</tr>\n");
}

void html_row_begin(text *t)
{
    text_add(t, "<tr>");
}

void html_cell(text *t, const char *words)
{
    text_add(t, "<td>");
    text_add_html(t, words);
    text_add(t, "</td>");
}

void html_cell_count(text *t, int64_t count)
{
    text_add(t, "<td class=\"number\">");
    text_add_count(t, count);
    text_add(t, "</td>");
}

void html_cell_real(text *t, double value)
{
    text_add(t, "<td class=\"number\">");
    if (isfinite(value))
        text_addf(t, "%.4g", value);
    else
        text_add(t, "&ndash;");
    text_add(t, "</td>");
}

void html_cell_cluster(text *t, int32_t label)
{
    text_add(t, "<td><span class=\"");
    plot_class(t, label);
    text_addf(t, "\">&#9679;</span> %d</td>", (int)label);
}

void html_row_end(text *t)
{
    text_add(t, "</tr>\n");
}

void html_table_end(text *t)
{
    text_add(t, "</table></div>\n");
}

void html_pair(text *t, const char *key, const char *value)
{
    html_row_begin(t);
    html_cell(t, key);
    html_cell(t, value);
    html_row_end(t);
}

void html_object(text *t, const json_t *object)
{
    html_table_begin(t, NULL);
    for (void *at = json_object_iter((json_t *)object); at;
         at = json_object_iter_next((json_t *)object, at)) {
        const json_t *value = json_object_iter_value(at);
        char *dump = json_is_string(value)
                         ? NULL
                         : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        html_pair(t, json_object_iter_key(at),
                  json_is_string(value) ? json_string_value(value)
                  : dump                ? dump
                                        : "");
        free(dump);
    }
    html_table_end(t);
}
