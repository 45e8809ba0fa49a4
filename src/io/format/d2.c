/* Reads .d2 files (AD2-clustering project, Ye et al. 2017), which contain numbers separated by
 * whitespace. An object consists of one or more consecutive phases. A phase consists of the
 * dimension, the number of points n, n weights, and n rows of coordinates. */
#include "io/format/d2.h"

#include <math.h>
#include <string.h>

/* ---- tokens ---- */

static const char blanks[] = " \t\r\v\f";

ddsc_status d2_next(d2_tokens *t, char **token)
{
    *token = NULL;
    t->n_blank = 0;
    for (;;) {
        if (t->at)
            t->at += strspn(t->at, blanks);
        if (t->at && *t->at)
            break;
        size_t n;
        ddsc_status status = stream_line(t->s, &t->line, &n);
        if (status < 0 || !t->line)
            return status;
        t->at = t->line;
        t->n_blank += t->line[strspn(t->line, blanks)] == '\0';
    }
    char *end = t->at + strcspn(t->at, blanks);
    *token = t->at;
    t->at = *end ? end + 1 : end;
    *end = '\0';
    return DDSC_OK;
}

static ddsc_status d2_refuse(d2_tokens *t, const char *token, const char *what, const char *wanted)
{
    return stream_fail_line(t->s, ", column %lld: \"%s\" is not %s (%s)",
                            (long long)(token - t->line) + 1, QUOTE(token), wanted, what);
}

static ddsc_status next_needed(d2_tokens *t, char **token, const char *what)
{
    ddsc_status status = d2_next(t, token);
    if (status >= 0 && !*token)
        return stream_fail(t->s, "ends early at line %lld (while reading %s)",
                           (long long)stream_line_number(t->s), what);
    return status;
}

ddsc_status d2_next_number(d2_tokens *t, double *value, const char *what)
{
    char *token;
    CHECK(next_needed(t, &token, what));
    if (!number_parse(token, value))
        return d2_refuse(t, token, what, "a number");
    return isfinite(*value) ? DDSC_OK : d2_refuse(t, token, what, "a finite number");
}

static ddsc_status take_integer(d2_tokens *t, const char *token, int64_t *value, int64_t most,
                                const char *what)
{
    if (!number_parse_integer(token, value))
        return d2_refuse(t, token, what, "an integer");
    if (*value < 0 || *value > most)
        return stream_fail_line(t->s, ", column %lld: %lld is not between 0 and %lld (%s)",
                                (long long)(token - t->line) + 1, (long long)*value,
                                (long long)most, what);
    return DDSC_OK;
}

ddsc_status d2_next_integer(d2_tokens *t, int64_t *value, int64_t most, const char *what)
{
    char *token;
    CHECK(next_needed(t, &token, what));
    return take_integer(t, token, value, most, what);
}

/* ---- records ---- */

static ddsc_status pool_add(d2_file *f, double value)
{
    ddsc_status status = MEM_RESERVE(f->ctx, f->pool, &f->pool_capacity, f->n_pool + 1);
    if (status >= 0)
        f->pool[f->n_pool++] = value;
    return status;
}

static ddsc_status read_weights(d2_file *f, d2_tokens *t, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        double w;
        CHECK(d2_next_number(t, &w, "a weight"));
        if (w < 0)
            return stream_fail_line(f->s, ": the weight is negative (%g); weights must be >= 0", w);
        CHECK(pool_add(f, w));
    }
    return DDSC_OK;
}

static ddsc_status read_points(d2_file *f, d2_tokens *t, const d2_record *r)
{
    double x;
    int64_t id;
    if (r->table && r->table->dense)
        return DDSC_OK;
    for (int64_t k = 0; r->table && k < r->n; k++) {
        CHECK(d2_next_integer(t, &id, r->table->n, "a point id, counted from 1"));
        CHECK(pool_add(f, (double)id));
    }
    for (int64_t k = 0; !r->table && k < r->n * r->dim; k++) {
        CHECK(d2_next_number(t, &x, "a coordinate"));
        CHECK(pool_add(f, x));
    }
    return DDSC_OK;
}

/* Returns the table that a record refers to: the table of its phase, or the only table. Returns
 * NULL if there is no such table or if its dimension does not match. */
static const d2_table *table_of(const d2_file *f, int64_t record, int64_t dim, int phases)
{
    int n_there = 0;
    const d2_table *table = NULL;
    for (int k = 0; k < D2_MAX_PHASES; k++)
        if (f->table[k].point) {
            n_there++;
            table = &f->table[k];
        }
    if (n_there > 1 && phases == 0)
        phases = f->n_tables;
    if (phases > 0) {
        int64_t k = record % phases;
        table = k < D2_MAX_PHASES && f->table[k].point ? &f->table[k] : NULL;
    }
    bool fits = table && (dim == 0 || (!table->dense && dim == table->dim));
    return fits ? table : NULL;
}

static ddsc_status check_record(d2_file *f, const d2_record *r)
{
    if (r->dim == 0 && !r->table)
        return stream_fail(
            f->s,
            "line %lld: a distribution of dimension 0 needs a table; put it next to the file, with "
            ".vocab0 (points) or .hist0 (costs) added to the file's name",
            (long long)r->line);
    if (r->table && r->table->dense && r->n != r->table->n)
        return stream_fail(f->s, "line %lld: found %lld bins, but the table of costs has %lld",
                           (long long)r->line, (long long)r->n, (long long)r->table->n);
    return DDSC_OK;
}

static ddsc_status read_record(d2_file *f, d2_tokens *t, char *token, int phases)
{
    d2_record r = {.at = f->n_pool, .blank_before = t->n_blank > 0 && f->n_records > 0};
    r.line = stream_line_number(f->s);
    CHECK(take_integer(t, token, &r.dim, D2_MAX_DIM, "the dimension of a distribution"));
    CHECK(d2_next_integer(t, &r.n, INT32_MAX, "the number of points of a distribution"));
    r.table = table_of(f, f->n_records, r.dim, phases);
    CHECK(check_record(f, &r));
    CHECK(read_weights(f, t, r.n));
    CHECK(read_points(f, t, &r));
    CHECK(MEM_RESERVE(f->ctx, f->record, &f->record_capacity, f->n_records + 1));
    f->record[f->n_records++] = r;
    return DDSC_OK;
}

static ddsc_status read_records(d2_file *f, int phases)
{
    d2_tokens t = {.s = f->s};
    for (;;) {
        char *token;
        CHECK(d2_next(&t, &token));
        if (!token)
            break;
        CHECK(read_record(f, &t, token, phases));
    }
    if (f->n_records == 0)
        return stream_fail(f->s, "contains no distributions");
    return DDSC_OK;
}

ddsc_status d2_read(ddsc_context *ctx, measures_parts *out, io_stream *s, int phases, int phase)
{
    ddsc_status status = DDSC_OK;
    d2_file f = {.ctx = ctx, .s = s};
    TRY(d2_find_tables(&f));
    TRY(read_records(&f, phases));
    TRY(d2_find_phases(&f, &phases, phase));
    TRY(d2_assemble(&f, out, phases, phase));
done:
    for (int k = 0; k < D2_MAX_PHASES; k++)
        mem_free(ctx, f.table[k].point);
    MEM_FREE(ctx, f.record, f.pool);
    return status;
}
