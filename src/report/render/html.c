/* Writes HTML pages. The content security policy of a page forbids all external resources and
 * all scripts except its own. */
#include "report/render/html.h"

#include <math.h>
#include <stdlib.h>

#include "report/render/plot.h"
#include "report_assets.h"

/* Appends a hash as a source of the content security policy. CMake provides the hash as hexadecimal
 * digits, but the policy requires base64. */
static void add_hash(buffer *t, const char *hex)
{
    unsigned char bytes[32];
    for (int i = 0; i < 32; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], 0};
        bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    buffer_add(t, "'sha256-");
    buffer_add_base64(t, bytes, sizeof bytes);
    buffer_add(t, "'");
}

void html_begin(buffer *t, const char *title)
{
    buffer_add(t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "base-uri 'none'; form-action 'none'; style-src ");
    add_hash(t, asset_css_sha256);
    buffer_add(t, "; script-src ");
    add_hash(t, asset_js_sha256);
    buffer_add(
        t, "\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
    buffer_add_html(t, title);
    buffer_add(t, "</title>\n<style>");
    buffer_add_bytes(t, asset_css, sizeof asset_css);
    buffer_add(t,
               "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to content</a>\n"
               "<header><h1>");
    buffer_add_html(t, title);
    buffer_add(t, "</h1>\n<nav id=\"contents\" aria-label=\"Contents\"></nav></header>\n"
                  "<main id=\"main\">\n");
}

void html_end(buffer *t, bool script)
{
    buffer_addf(t, "</main>\n<footer class=\"faint\"><small>ddsc %s</small></footer>\n",
                ddsc_version());
    if (script) {
        buffer_add(t, "<script>");
        buffer_add_bytes(t, asset_js, sizeof asset_js);
        buffer_add(t, "</script>\n");
    }
    buffer_add(t, "</body>\n</html>\n");
}

void html_heading(buffer *t, const char *heading)
{
    buffer_add(t, "<h2>");
    buffer_add_html(t, heading);
    buffer_add(t, "</h2>\n");
}

void html_paragraph(buffer *t, const char *words)
{
    buffer_add(t, "<p>");
    buffer_add_html(t, words);
    buffer_add(t, "</p>\n");
}

void html_table_begin(buffer *t, const char *const *heads)
{
    buffer_add(t, "<div class=\"wide\" tabindex=\"0\"><table>\n");
    if (!heads)
        return;
    buffer_add(t, "<tr>");
    for (; *heads; heads++) {
        buffer_add(t, "<th scope=\"col\">");
        buffer_add_html(t, *heads);
        buffer_add(t, "</th>");
    }
    buffer_add(t, "</tr>\n");
}

void html_row_begin(buffer *t)
{
    buffer_add(t, "<tr>");
}

void html_cell(buffer *t, const char *words)
{
    buffer_add(t, "<td>");
    buffer_add_html(t, words);
    buffer_add(t, "</td>");
}

void html_cell_count(buffer *t, int64_t count)
{
    buffer_add(t, "<td class=\"number\">");
    buffer_add_count(t, count);
    buffer_add(t, "</td>");
}

void html_cell_real(buffer *t, double value)
{
    buffer_add(t, "<td class=\"number\">");
    if (isfinite(value))
        buffer_addf(t, "%.4g", value);
    else
        buffer_add(t, "&ndash;");
    buffer_add(t, "</td>");
}

void html_row_end(buffer *t)
{
    buffer_add(t, "</tr>\n");
}

void html_table_end(buffer *t)
{
    buffer_add(t, "</table></div>\n");
}

static void html_pair(buffer *t, const char *key, const char *value)
{
    html_row_begin(t);
    html_cell(t, key);
    html_cell(t, value);
    html_row_end(t);
}

void html_object(buffer *t, const json_t *object)
{
    json_t *same = (json_t *)(uintptr_t)
        object; /* jansson's iterators take a non-const pointer but do not modify the object */
    html_table_begin(t, NULL);
    for (void *at = json_object_iter(same); at; at = json_object_iter_next(same, at)) {
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
