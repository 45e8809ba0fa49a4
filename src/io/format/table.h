/* The roles of the columns of a csv table. */
#ifndef DDSC_IO_FORMAT_TABLE_H
#define DDSC_IO_FORMAT_TABLE_H

#include "io/format/format.h"

/* The kind of a coordinate column, determined by its first value that is not missing: not yet
 * known, numbers, or text. */
typedef enum column_kind { COLUMN_OPEN, COLUMN_NUMBER, COLUMN_TEXT } column_kind;

typedef struct table_column {
    int64_t at;   /* index of the column in the file */
    bool by_name; /* true if requested by its full name, so that text in the column is an error */
    column_kind kind;
    int64_t n_numbers, n_texts, n_missing; /* number of rows with each kind of value */
    /* line and content of the first text; line of the first missing value */
    int64_t text_line, missing_line;
    char text[QUOTE_TEXT], missing[QUOTE_TEXT];
} table_column;

typedef struct table_columns {
    text_table names;
    int64_t n;   /* number of columns in the file */
    int64_t *id; /* columns that together identify an item */
    /* column indices, or -1 if there is no such column */
    int64_t n_id, weight, label, title, point, where;
    const char *where_value;
    int64_t *meta; /* metadata columns: the n_asked requested ones, followed by those named
                    * meta:NAME */
    int64_t n_meta, n_asked;
    table_column *coordinate;
    int64_t n_coordinates;
} table_columns;

/* Assigns roles to the columns, given the fields of the header. Messages state the number of the
 * last line read. */
#define TABLE_META "meta:"
ddsc_status table_choose(ddsc_context *ctx, table_columns *c, io_stream *s,
                         const field_list *header, const ddsc_read_settings *set);
const char *table_name(const table_columns *c, int64_t column);
void table_free(ddsc_context *ctx, table_columns *c);

#endif
