/* html: writes self-contained pages. All text is escaped. */
#ifndef DDSC_REPORT_RENDER_HTML_H
#define DDSC_REPORT_RENDER_HTML_H

#include <jansson.h>

#include "report/result/buffer.h"

void html_begin(buffer *b, const char *title);
void html_end(buffer *b, bool script);
void html_heading(buffer *b, const char *heading);
void html_paragraph(buffer *b, const char *words);
/* Functions that begin a table, write rows of cells, and end the table. Numbers are
 * right-aligned. */
void html_table_begin(buffer *b,
                      const char *const *heads); /* NULL-terminated; NULL for no header */
void html_row_begin(buffer *b);
void html_cell(buffer *b, const char *words);
void html_cell_count(buffer *b, int64_t count);
void html_cell_real(buffer *b, double value);
void html_row_end(buffer *b);
void html_table_end(buffer *b);
/* Writes every key of a flat object as a row of two cells. */
void html_object(buffer *b, const json_t *object);

#endif
