/* A csv table being read: what its columns are. */
#ifndef DDSC_IO_FORMAT_TABLE_H
#define DDSC_IO_FORMAT_TABLE_H

#include "io/format/format.h"

/* What the values of a coordinate have turned out to be: none seen, numbers, or other text. */
typedef enum column_kind { COLUMN_OPEN, COLUMN_NUMBER, COLUMN_TEXT } column_kind;

typedef struct table_column {
    int64_t at;   /* which of the file's columns */
    bool by_name; /* asked for by its full name: text in it is an error */
    column_kind kind;
    int64_t n_numbers, n_texts, n_missing; /* rows */
    /* the first text, and the first missing value: where and what */
    int64_t text_line, missing_line;
    char text[QUOTE_TEXT], missing[QUOTE_TEXT];
} table_column;

typedef struct table_columns {
    text_table names;
    int64_t n;                                        /* columns of the file */
    int64_t *id;                                      /* columns that name an item together */
    int64_t n_id, weight, label, title, point, where; /* -1: there is none */
    const char *where_value;
    int64_t *meta; /* columns about items: the n_asked for by name, then meta:NAME */
    int64_t n_meta, n_asked;
    table_column *coordinate;
    int64_t n_coordinates;
} table_columns;

/* From a header that was split into fields; messages name the line last read. */
#define TABLE_META "meta:"
ddsc_status table_choose(ddsc_context *ctx, table_columns *c, io_stream *s,
                         const field_list *header, const ddsc_read_settings *set);
const char *table_name(const table_columns *c, int64_t column);
void table_free(ddsc_context *ctx, table_columns *c);

#endif
