/* The roles of the columns while a csv table is read. */
#ifndef DDSC_IO_FORMAT_TABLE_H
#define DDSC_IO_FORMAT_TABLE_H

#include "io/format/format.h"

/* The kind of a coordinate column according to the values read so far: no values, numbers, or
 * other text. */
typedef enum column_kind { COLUMN_OPEN, COLUMN_NUMBER, COLUMN_TEXT } column_kind;

typedef struct table_column {
    int64_t at;   /* column of the file */
    bool by_name; /* true if it was requested by its full name, so that text in it is an error */
    column_kind kind;
    int64_t n_numbers, n_texts, n_missing; /* numbers of rows */
    /* line and content of the first text; line of the first missing value */
    int64_t text_line, missing_line;
    char text[QUOTE_TEXT], missing[QUOTE_TEXT];
} table_column;

typedef struct table_columns {
    text_table names;
    int64_t n;   /* number of columns of the file */
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

/* Assigns roles to the columns of a header that was split into fields. Messages contain the number
 * of the last line read. */
#define TABLE_META "meta:"
ddsc_status table_choose(ddsc_context *ctx, table_columns *c, io_stream *s,
                         const field_list *header, const ddsc_read_settings *set);
const char *table_name(const table_columns *c, int64_t column);
void table_free(ddsc_context *ctx, table_columns *c);

#endif
