/* The d2 reader. d2.c reads records, d2_phases.c finds the number of phases and assembles objects,
 * and d2_tables.c reads the tables in the folder of the file. */
#ifndef DDSC_IO_FORMAT_D2_H
#define DDSC_IO_FORMAT_D2_H

#include "io/format/format.h"

enum { D2_MAX_PHASES = 16, D2_MAX_DIM = 1 << 20 };

/* Splits a file into tokens, counts blank lines, and tracks the position. */
typedef struct d2_tokens {
    io_stream *s;
    char *line, *at;
    int64_t n_blank; /* blank lines before the last token */
} d2_tokens;

/* Returns the next token, or NULL at the end. */
ddsc_status d2_next(d2_tokens *t, char **token);
ddsc_status d2_next_number(d2_tokens *t, double *value, const char *what);
ddsc_status d2_next_integer(d2_tokens *t, int64_t *value, int64_t most, const char *what);

/* One distribution of the file. The values of a distribution are stored in a pool: n weights,
 * followed by n x dim coordinates or, if a table exists and is not dense, by n ids. */
typedef struct d2_record {
    int64_t dim, n, at, line;
    bool blank_before;
    const d2_table *table;
} d2_record;

typedef struct d2_file {
    ddsc_context *ctx;
    io_stream *s;
    d2_record *record;
    int64_t n_records, record_capacity;
    double *pool;
    int64_t n_pool, pool_capacity;
    d2_table table[D2_MAX_PHASES];
    int n_tables; /* highest phase with a table, counted from 1 */
} d2_file;

/* Finds the tables next to the file, at most one per phase. */
ddsc_status d2_find_tables(d2_file *f);
/* Finds the number of phases per object. */
ddsc_status d2_find_phases(d2_file *f, int *phases, int phase);
/* Builds objects from their records, using one phase, or the product of all phases if `phase` is
 * 0. */
ddsc_status d2_assemble(d2_file *f, measures_parts *out, int phases, int phase);

#endif
