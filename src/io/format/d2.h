/* The d2 reader in three files: d2.c reads records, d2_phases.c finds how they make up objects and
 * puts the objects together, d2_tables.c reads what lies beside the file. */
#ifndef DDSC_IO_FORMAT_D2_H
#define DDSC_IO_FORMAT_D2_H

#include "io/format/format.h"

enum { D2_MAX_PHASES = 16, D2_MAX_DIM = 1 << 20 };

/* Numbers and blank lines of a text, with their places. */
typedef struct d2_tokens {
    io_stream *s;
    char *line, *at;
    int64_t n_blank; /* blank lines passed before the token last read */
} d2_tokens;

/* *token NULL at the end. */
ddsc_status d2_next(d2_tokens *t, char **token);
ddsc_status d2_next_number(d2_tokens *t, double *value, const char *what);
ddsc_status d2_next_integer(d2_tokens *t, int64_t *value, int64_t most, const char *what);

/* One distribution of the file. Values lie in a pool: n weights, then n x dim coordinates, or n ids
 * when there is a table and it is no dense one. */
typedef struct d2_record {
    int64_t dim, n, at, line;
    bool blank_before;
    const d2_table *table;
} d2_record;

typedef struct d2_file {
    ddsc_context *ctx;
    io_stream *s;
    d2_record *record;
    int64_t n_records, record_room;
    double *pool;
    int64_t n_pool, pool_room;
    d2_table table[D2_MAX_PHASES];
    int n_tables; /* the highest phase with a table, from 1 */
} d2_file;

/* Tables beside the file, one a phase at most. */
ddsc_status d2_find_tables(d2_file *f);
/* How many phases an object has. */
ddsc_status d2_find_phases(d2_file *f, int *phases, int phase);
/* Objects from their records: one phase, or with phase 0 the product of all. */
ddsc_status d2_assemble(d2_file *f, measures_parts *out, int phases, int phase);

#endif
