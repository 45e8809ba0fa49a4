#include "report.h"

#include <math.h>

static const char page_style[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1d1f23;--rule:#d9dce1;--soft:#f4f5f7}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#16181c;--ink:#e2e4e8;--rule:#383c44;"
    "--soft:#202329}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:58rem;margin:2rem auto;padding:0 1rem;"
    "background:var(--paper);color:var(--ink)}\n"
    "h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}\n"
    "table{border-collapse:collapse;margin:.5rem 0}\n"
    "th,td{padding:.2rem .8rem;border-bottom:1px solid var(--rule);text-align:left}\n"
    "th{background:var(--soft)}td.number{text-align:right;font-variant-numeric:tabular-nums}\n"
    "svg{width:100%;height:auto;max-height:70vh;border:1px solid var(--rule)}\n"
    ".wide{overflow-x:auto}\n";

void html_begin(text *t, const char *title)
{
    text_add(t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    text_add_html(t, title);
    text_add(t, "</title>\n<style>\n");
    text_add(t, page_style);
    svg_style(t);
    text_add(t, "\n</style>\n</head>\n<body>\n<h1>");
    text_add_html(t, title);
    text_add(t, "</h1>\n");
}

void html_end(text *t)
{
    text_addf(t, "<p><small>ddsc %s</small></p>\n</body>\n</html>\n", ddsc_version());
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
    svg_class(t, label);
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
