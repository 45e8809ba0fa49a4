/* Builds objects from records. The format does not state the number of phases per object, so it is
 * inferred from the tables, from blank lines between objects, from repeating dimensions, or from
 * alternating distributions. */
#include "io/format/d2.h"

#include <math.h>
#include <string.h>

enum { PRODUCT_MAX = 1 << 16 };

static int64_t record_dim(const d2_record *r)
{
    return r->table ? r->table->dim : r->dim;
}

/* ---- number of phases ---- */

/* Returns the number of records between blank lines if it is constant, else 0. */
static int64_t phases_by_blank(const d2_file *f)
{
    int64_t size = 0, begin = 0;
    for (int64_t r = 1; r <= f->n_records; r++) {
        if (r < f->n_records && !f->record[r].blank_before)
            continue;
        if (size > 0 && r - begin != size)
            return 0;
        size = r - begin;
        begin = r;
    }
    return size < f->n_records ? size : 0;
}

/* Returns the number of tables if all distributions refer to tables, because each phase then has
 * one table. Otherwise returns 0. */
static int64_t phases_by_table(const d2_file *f)
{
    for (int64_t r = 0; r < f->n_records; r++)
        if (!f->record[r].table)
            return 0;
    return f->n_tables;
}

/* Returns the shortest period of the dimensions that occurs at least twice, else 0. */
static int64_t phases_by_dimension(const d2_file *f)
{
    for (int64_t p = 1; p <= D2_MAX_PHASES; p++) {
        bool repeats = f->n_records % p == 0 && (p == 1 || 2 * p <= f->n_records);
        for (int64_t r = p; repeats && r < f->n_records; r++)
            repeats = record_dim(&f->record[r]) == record_dim(&f->record[r - p]);
        if (repeats)
            return p;
    }
    return 0;
}

static const double *record_point(const d2_file *f, const d2_record *r, int64_t k)
{
    if (!r->table)
        return f->pool + r->at + r->n + k * r->dim;
    int64_t row = r->table->dense ? k : (int64_t)f->pool[r->at + r->n + k] - 1;
    return row < 0 ? NULL : r->table->point + row * r->table->dim;
}

static double record_mean(const d2_file *f, const d2_record *r, int64_t coordinate)
{
    double sum = 0, mass = 0;
    for (int64_t k = 0; k < r->n; k++) {
        const double *x = record_point(f, r, k);
        double w = x ? f->pool[r->at + k] : 0;
        sum += x ? w * x[coordinate] : 0;
        mass += w;
    }
    return mass > 0 ? sum / mass : 0;
}

/* Returns the fraction of the variance of the means that the phase index r mod p explains. */
static double explained_share(const double *mean, int64_t n, int64_t p)
{
    double center[D2_MAX_PHASES] = {0}, all = 0, total = 0, between = 0;
    for (int64_t r = 0; r < n; r++) {
        all += mean[r] / (double)n;
        center[r % p] += mean[r] * (double)p / (double)n;
    }
    for (int64_t r = 0; r < n; r++) {
        total += (mean[r] - all) * (mean[r] - all);
        between += (center[r % p] - all) * (center[r % p] - all);
    }
    return total > 0 && isfinite(total) ? between / total : 0;
}

/* Infers the number of phases from alternating distributions: the smallest period for which the
 * phase index explains more than 80% of the variance of the means in some coordinate. Sets *phases
 * to 1 if there is no such period. */
static ddsc_status phases_by_turns(d2_file *f, int64_t *phases)
{
    ddsc_status status = DDSC_OK;
    double *mean = NULL;
    int64_t best = D2_MAX_PHASES + 1, dim = record_dim(&f->record[0]);
    TRY(MEM_NEW(f->ctx, mean, f->n_records));
    for (int64_t c = 0; c < dim; c++) {
        for (int64_t r = 0; r < f->n_records; r++)
            mean[r] = record_mean(f, &f->record[r], c);
        for (int64_t p = 2; p < best && 10 * p <= f->n_records; p++)
            if (f->n_records % p == 0 && explained_share(mean, f->n_records, p) > 0.8)
                best = p;
    }
    *phases = best <= D2_MAX_PHASES ? best : 1;
done:
    mem_free(f->ctx, mean);
    return status;
}

ddsc_status d2_find_phases(d2_file *f, int *phases, int phase)
{
    int64_t found = *phases;
    if (found == 0)
        found = phases_by_table(f);
    if (found == 0)
        found = phases_by_blank(f);
    if (found == 0) {
        found = phases_by_dimension(f);
        if (found == 0)
            return stream_fail(f->s,
                               "the dimensions of its %lld distributions change without a pattern; "
                               "specify the number of phases per object (--phases)",
                               (long long)f->n_records);
        if (found == 1)
            CHECK(phases_by_turns(f, &found));
    }
    if (found > D2_MAX_PHASES || f->n_records % found != 0)
        return stream_fail(f->s,
                           "%lld distributions cannot be split into objects with %lld phases each; "
                           "correct --phases",
                           (long long)f->n_records, (long long)found);
    if (phase > found)
        return stream_fail(f->s,
                           "phase %d was requested, but an object has %lld (if that is wrong, "
                           "specify the number of phases with --phases)",
                           phase, (long long)found);
    *phases = (int)found;
    return DDSC_OK;
}

/* ---- objects ---- */

static ddsc_status check_dims(d2_file *f, int64_t step, int64_t first)
{
    for (int64_t r = first; r < f->n_records; r += step)
        if (record_dim(&f->record[r]) != record_dim(&f->record[first]))
            return stream_fail(
                f->s, "line %lld: the dimension is %lld, but that of the first object is %lld",
                (long long)f->record[r].line, (long long)record_dim(&f->record[r]),
                (long long)record_dim(&f->record[first]));
    return DDSC_OK;
}

/* Returns the table that all records of the phase refer to, or NULL if they refer to different
 * tables. A common table becomes the support. */
static const d2_table *common_table(const d2_file *f, int64_t step, int64_t first)
{
    const d2_table *table = f->record[first].table;
    for (int64_t r = first; r < f->n_records; r += step)
        if (f->record[r].table != table)
            return NULL;
    return table;
}

static ddsc_status assemble_shared(d2_file *f, measures_parts *out, const d2_table *table,
                                   int64_t step, int64_t first)
{
    int64_t most = 0, i = 0;
    for (int64_t r = first; r < f->n_records; r += step)
        most += f->record[r].n;
    CHECK(MEM_NEW(f->ctx, out->index, most));
    CHECK(MEM_NEW(f->ctx, out->weight, most));
    CHECK(MEM_COPY(f->ctx, out->support, table->point, table->n * table->dim));
    out->v = table->n;
    for (int64_t r = first; r < f->n_records; r += step) {
        const d2_record *d = &f->record[r];
        for (int64_t k = 0; k < d->n; k++) {
            int64_t row = table->dense ? k : (int64_t)f->pool[d->at + d->n + k] - 1;
            if (row < 0)
                continue;
            out->index[out->nnz] = (int32_t)row;
            out->weight[out->nnz++] = f->pool[d->at + k];
        }
        out->offset[++i] = out->nnz;
    }
    return DDSC_OK;
}

/* An object of a d2 file. It is the product distribution of its records. For product distributions, W2^2 is the
 * sum of W2^2 over the phases, which is how Ye et al. combine phases. */
typedef struct product {
    const d2_record *record;
    int64_t count, size, dim;
    double scale[D2_MAX_PHASES]; /* factor that makes the weights of a phase sum to 1 */
} product;

static ddsc_status make_product(d2_file *f, product *p, const d2_record *record, int64_t count)
{
    *p = (product){.record = record, .count = count, .size = 1};
    for (int64_t q = 0; q < count; q++) {
        const d2_record *r = &record[q];
        double sum = 0;
        for (int64_t k = 0; k < r->n; k++)
            sum += f->pool[r->at + k];
        p->scale[q] = count > 1 && sum > 0 && isfinite(sum) ? 1 / sum : 1;
        p->dim += record_dim(r);
        if (!mul_ok(p->size, r->n, &p->size) || (count > 1 && p->size > PRODUCT_MAX))
            return stream_fail(f->s,
                               "line %lld: joining the phases of this object gives more than %d "
                               "points; choose one phase (--phase)",
                               (long long)record->line, PRODUCT_MAX);
    }
    return DDSC_OK;
}

/* Computes the weight and the point of one cell of the product. Returns false if the cell must be
 * skipped. */
static bool take_cell(const d2_file *f, const product *p, int64_t cell, double *weight,
                      double *point)
{
    int64_t end = p->dim;
    *weight = 1;
    for (int64_t q = p->count - 1; q >= 0; q--) {
        const d2_record *r = &p->record[q];
        const double *x = record_point(f, r, cell % r->n);
        if (!x)
            return false;
        end -= record_dim(r);
        memcpy(point + end, x, (size_t)record_dim(r) * sizeof *x);
        *weight *= f->pool[r->at + cell % r->n] * p->scale[q];
        cell /= r->n;
    }
    return *weight > 0 || p->count == 1;
}

static ddsc_status assemble_own(d2_file *f, measures_parts *out, int64_t step, int64_t first,
                                int64_t count)
{
    int64_t point_capacity = 0, weight_capacity = 0;
    for (int64_t i = 0; i < out->n; i++) {
        product p;
        CHECK(make_product(f, &p, f->record + i * step + first, count));
        CHECK(MEM_RESERVE(f->ctx, out->support, &point_capacity, (out->nnz + p.size) * p.dim));
        CHECK(MEM_RESERVE(f->ctx, out->weight, &weight_capacity, out->nnz + p.size));
        for (int64_t cell = 0; cell < p.size; cell++)
            out->nnz +=
                take_cell(f, &p, cell, out->weight + out->nnz, out->support + out->nnz * p.dim);
        out->offset[i + 1] = out->nnz;
        out->d = p.dim;
    }
    out->v = out->nnz;
    return DDSC_OK;
}

ddsc_status d2_assemble(d2_file *f, measures_parts *out, int phases, int phase)
{
    int64_t first = phase > 0 ? phase - 1 : 0, count = phase > 0 ? 1 : phases;
    out->n = f->n_records / phases;
    for (int64_t q = first; q < first + count; q++)
        CHECK(check_dims(f, phases, q));
    CHECK(MEM_NEW(f->ctx, out->offset, out->n + 1));
    out->offset[0] = 0;
    const d2_table *table = count == 1 ? common_table(f, phases, first) : NULL;
    if (table) {
        out->d = table->dim;
        CHECK(assemble_shared(f, out, table, phases, first));
    } else {
        CHECK(assemble_own(f, out, phases, first, count));
    }
    return DDSC_OK;
}
