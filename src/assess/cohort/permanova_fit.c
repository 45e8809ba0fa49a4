/* Fits one model of the distance-based analysis of variance: basis, statistics and permutations. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "assess/cohort/permanova.h"
#include "numeric/linalg/linalg.h"

/* Number of permutations in a batch, whose products with G are computed together; maximum number of
 * entries of the columns of a batch; and maximum number of entries of a chunk of permutations. */
enum { FIT_BATCH = 16, FIT_BATCH_ENTRIES = 1 << 20, FIT_CHUNK = 1 << 22 };

/* A column is linearly dependent on the others if its residual is less than this fraction of its
 * length, as in R's qr. */
static const double FIT_DEPENDENT = 1e-7;

typedef struct model_fit {
    ddsc_context *ctx;
    const permanova_model *model;
    int64_t n, m;
    double *gram;   /* n x n */
    double *basis;  /* (m + 1) x n; row 0 is constant */
    double **own;   /* per variable: df x m, basis of the variable after removing all others */
    double **alone; /* per variable: basis of the variable alone, or NULL */
    int64_t *n_alone;
    double *points;      /* n: log number of points, centered, with length 1; NULL if not needed */
    dispersion *spreads; /* per variable; code is NULL if dispersion is not tested */
    permanova_effect *effect; /* per variable */
    double total, residual;
    int64_t residual_df;
    /* one chunk of permutations */
    int64_t begin, count, batch;
    const int32_t *source;
    double *work;  /* per worker */
    double *value; /* count x n_variables x FIT_VALUES */
} model_fit;

enum { FIT_F, FIT_DISPERSION, FIT_POINTS, FIT_VALUES };

static double value_at(const model_fit *f, int64_t variable_number, int64_t i)
{
    return f->model->variables[variable_number]->x[f->model->item[i]];
}

static int64_t degrees_of(const variable *v)
{
    return v->number ? 1 : BASE_MAX(v->n_levels - 1, 0);
}

/* Appends an orthonormal basis of variable k to the *m orthonormal rows. */
static void basis_add_variable(const model_fit *f, double *rows, int64_t *m, int64_t k)
{
    const variable *v = f->model->variables[k];
    for (int64_t c = 0; c < degrees_of(v); c++) {
        double *x = rows + *m * f->n, mean = 0, largest = 0;
        for (int64_t i = 0; i < f->n; i++) {
            double value = value_at(f, k, i);
            x[i] = v->number ? value : (value >= (double)c + 1 && value <= (double)c + 1);
            mean += x[i] / (double)f->n;
            largest = fmax(largest, fabs(x[i]));
        }
        for (int64_t i = 0; i < f->n; i++)
            x[i] -= mean;
        double length = la_norm(f->n, x);
        if (!(length > 1e-12 * largest))
            continue;
        for (int64_t i = 0; i < f->n; i++)
            x[i] /= length;
        *m += la_orthogonalize(rows, *m, f->n) > FIT_DEPENDENT;
    }
}

static void basis_add_constant(const model_fit *f, double *rows, int64_t *m)
{
    for (int64_t i = 0; i < f->n; i++)
        rows[i] = 1 / sqrt((double)f->n);
    *m = 1;
}

/* Computes the coordinates of rows [from, to) in the basis. out has (to - from) x m entries. */
static ddsc_status express(const model_fit *f, double **out, const double *rows, int64_t from,
                           int64_t to)
{
    CHECK(MEM_ZERO(f->ctx, *out, BASE_MAX((to - from) * f->m, 1)));
    if (to > from && f->m > 0)
        la_gemm(false, true, to - from, f->m, f->n, 1, rows + from * f->n, f->n, f->basis + f->n,
                f->n, 0, *out, f->m);
    return DDSC_OK;
}

static ddsc_status check_freedom(const model_fit *f)
{
    const permanova_model *p = f->model;
    if (f->residual_df >= 1)
        return DDSC_OK;
    return ctx_fail(f->ctx, DDSC_ERROR_INPUT,
                    "the columns need %lld coefficients, but only %lld items are used, so no "
                    "degrees of freedom remain%s",
                    (long long)f->m + 1, (long long)f->n,
                    p->n_variables > 1 ? "; test fewer columns at a time" : "");
}

/* Computes the basis of the model, and the bases of each variable alone and after all others. */
static ddsc_status make_basis(model_fit *f)
{
    ddsc_status status = DDSC_OK;
    const permanova_model *p = f->model;
    double *rows = NULL;
    int64_t most = 1, m;
    for (int64_t k = 0; k < p->n_variables; k++)
        most += degrees_of(p->variables[k]);
    TRY(MEM_NEW(f->ctx, f->basis, (most + 1) * f->n));
    TRY(MEM_NEW(f->ctx, rows, (most + 1) * f->n));
    basis_add_constant(f, f->basis, &m);
    for (int64_t k = 0; k < p->n_variables; k++)
        basis_add_variable(f, f->basis, &m, k);
    f->m = m - 1;
    f->residual_df = f->n - m;
    TRY(check_freedom(f));
    for (int64_t k = 0; k < p->n_variables; k++) {
        basis_add_constant(f, rows, &m);
        for (int64_t other = 0; other < p->n_variables; other++)
            if (other != k)
                basis_add_variable(f, rows, &m, other);
        int64_t before = m;
        basis_add_variable(f, rows, &m, k);
        f->effect[k].df = m - before;
        TRY(express(f, &f->own[k], rows, before, m));
        if (!f->points)
            continue;
        basis_add_constant(f, rows, &m);
        basis_add_variable(f, rows, &m, k);
        f->n_alone[k] = m - 1;
        TRY(express(f, &f->alone[k], rows, 1, m));
    }
done:
    mem_free(f->ctx, rows);
    return status;
}

static ddsc_status make_gram(model_fit *f)
{
    const permanova_model *p = f->model;
    double *mean = NULL;
    CHECK(MEM_NEW(f->ctx, f->gram, f->n * f->n));
    CHECK(MEM_NEW(f->ctx, mean, f->n));
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t j = 0; j < f->n; j++) {
            double d = p->distances[p->item[i] * p->n_all + p->item[j]];
            f->gram[i * f->n + j] = i == j ? 0 : p->squared ? d : d * d;
        }
    double all = la_center_distances(f->n, f->gram, mean, f->gram);
    mem_free(f->ctx, mean);
    for (int64_t i = 0; i < f->n; i++)
        f->total += f->gram[i * f->n + i];
    if (!(all > 0) || !(f->total > 0))
        return ctx_fail(
            f->ctx, DDSC_ERROR_INPUT,
            "all distances between the %lld items used are 0, so there is no variance to explain",
            (long long)f->n);
    return DDSC_OK;
}

/* ---- permutations ---- */

/* Computes the statistics of one permutation from w, the permuted basis (m x n), and wg = w G. */
static void take_values(const model_fit *f, const int32_t *source, const double *w,
                        const double *wg, double *y, double *out)
{
    const permanova_model *p = f->model;
    double *space = y + f->m * f->m, model = 0;
    la_gemm(false, true, f->m, f->m, f->n, 1, wg, f->n, w, f->n, 0, y, f->m);
    for (int64_t a = 0; a < f->m; a++)
        model += y[a * f->m + a];
    double residual = (f->total - model) / (double)f->residual_df;
    for (int64_t k = 0; k < p->n_variables; k++, out += FIT_VALUES) {
        int64_t df = f->effect[k].df;
        double sum = 0;
        const double *b = f->own[k];
        for (int64_t r = 0; r < df && b; r++)
            for (int64_t a = 0; a < f->m; a++) {
                double part = 0;
                for (int64_t c = 0; c < f->m; c++)
                    part += y[a * f->m + c] * b[r * f->m + c];
                sum += part * b[r * f->m + a];
            }
        out[FIT_F] = sum / (double)BASE_MAX(df, 1) / residual;
        out[FIT_DISPERSION] =
            f->spreads[k].code ? dispersion_permuted(&f->spreads[k], source, space) : (double)NAN;
        out[FIT_POINTS] = 0;
        for (int64_t a = 0; f->points && a < f->m; a++)
            space[a] = la_dot(f->n, w + a * f->n, f->points);
        for (int64_t r = 0; f->points && r < f->n_alone[k]; r++) {
            double part = la_dot(f->m, f->alone[k] + r * f->m, space);
            out[FIT_POINTS] += part * part;
        }
    }
}

static int64_t most_levels(const model_fit *f)
{
    int64_t most = 1;
    for (int64_t k = 0; k < f->model->n_variables; k++)
        most = BASE_MAX(most, f->model->variables[k]->n_levels);
    return most;
}

static int64_t work_size(const model_fit *f)
{
    return 2 * f->batch * f->m * f->n + f->m * f->m + BASE_MAX(most_levels(f), f->m) + 1;
}

/* Computes batches [begin, end) of the chunk. The contents of a batch do not depend on the number
 * of threads. */
static ddsc_status run_batches(void *arg, int64_t begin, int64_t end, int worker)
{
    const model_fit *f = arg;
    int64_t rows = f->m * f->n, step = f->model->n_variables * FIT_VALUES;
    double *w = f->work + worker * work_size(f), *wg = w + f->batch * rows,
           *y = wg + f->batch * rows;
    for (int64_t at = begin; at < end; at++) {
        int64_t first = at * f->batch, n = BASE_MIN(f->batch, f->count - first);
        for (int64_t b = 0; b < n; b++)
            for (int64_t a = 0; a < f->m; a++) {
                const double *from = f->basis + (a + 1) * f->n;
                const int32_t *source = f->source + (first + b) * f->n;
                double *to = w + b * rows + a * f->n;
                for (int64_t i = 0; i < f->n; i++)
                    to[i] = from[source[i]];
            }
        la_gemm(false, false, n * f->m, f->n, f->n, 1, w, f->n, f->gram, f->n, 0, wg, f->n);
        for (int64_t b = 0; b < n; b++)
            take_values(f, f->source + (first + b) * f->n, w + b * rows, wg + b * rows, y,
                        f->value + (first + b) * step);
    }
    return DDSC_OK;
}

/* Counts the permutations whose statistic reaches the observed one. */
typedef struct counter {
    double observed, largest;
    int64_t n_no_smaller, n_largest;
} counter;

/* Values that differ by rounding errors are ties. The tolerance is that of vegan; for values above
 * 1, it is relative. */
static double tie(double value)
{
    return sqrt(DBL_EPSILON) * fmax(1, fabs(value));
}

static void counter_add(counter *c, double value)
{
    c->n_no_smaller += value >= c->observed - tie(c->observed);
    if (c->n_largest == 0 || value > c->largest + tie(c->largest))
        c->n_largest = 0;
    if (c->n_largest == 0 || value >= c->largest - tie(c->largest)) {
        c->largest = c->n_largest == 0 ? value : fmax(value, c->largest);
        c->n_largest++;
    }
}

static double p_value(const counter *c, const shuffle *s)
{
    if (isnan(c->observed))
        return NAN;
    if (s->exhaustive)
        return (double)c->n_no_smaller / (double)s->n_draws;
    return (double)(1 + c->n_no_smaller) / (double)(1 + s->n_draws);
}

static ddsc_status count_permutations(model_fit *f, shuffle *s, counter *count, const bool *wanted)
{
    ddsc_status status = DDSC_OK;
    const permanova_model *p = f->model;
    int64_t step = p->n_variables * FIT_VALUES;
    int64_t chunk = BASE_MAX(FIT_CHUNK / f->n / f->batch, 1) * f->batch;
    int32_t *source = NULL;
    chunk = BASE_MIN(chunk, s->n_draws);
    TRY(MEM_NEW(f->ctx, source, chunk * f->n));
    TRY(MEM_NEW(f->ctx, f->value, chunk * step));
    f->source = source;
    for (int64_t begin = 0; begin < s->n_draws; begin += chunk) {
        f->count = BASE_MIN(chunk, s->n_draws - begin);
        shuffle_fill(s, source, begin, f->count);
        TRY(parallel_for(f->ctx, (f->count + f->batch - 1) / f->batch, 1, run_batches, f));
        for (int64_t b = 0; b < f->count; b++)
            for (int64_t k = 0; k < step; k++)
                if (wanted[k / FIT_VALUES])
                    counter_add(&count[k], f->value[b * step + k]);
        progress_add(f->ctx, f->count);
        TRY(progress_poll(f->ctx));
    }
done:
    MEM_FREE(f->ctx, source, f->value);
    f->value = NULL;
    f->source = NULL;
    return status;
}

/* Computes the statistics of the unpermuted data, and the residual sum of squares. */
static ddsc_status observe(model_fit *f, counter *count)
{
    ddsc_status status = DDSC_OK;
    int32_t *same = NULL;
    TRY(MEM_NEW(f->ctx, same, f->n));
    TRY(MEM_NEW(f->ctx, f->value, f->model->n_variables * FIT_VALUES));
    for (int64_t i = 0; i < f->n; i++)
        same[i] = (int32_t)i;
    f->source = same;
    f->count = 1;
    TRY(run_batches(f, 0, 1, 0));
    const double *y = f->work + 2 * f->batch * f->m * f->n; /* Y of the only permutation */
    f->residual = f->total;
    for (int64_t a = 0; a < f->m; a++)
        f->residual -= y[a * f->m + a];
    for (int64_t k = 0; k < f->model->n_variables * FIT_VALUES; k++)
        count[k] = (counter){.observed = f->value[k]};
done:
    MEM_FREE(f->ctx, same, f->value);
    f->value = NULL;
    f->source = NULL;
    return status;
}

/* Returns true if the variable is constant within each block. */
static bool is_whole(const model_fit *f, int64_t k)
{
    const permanova_model *p = f->model;
    for (int64_t i = 0; p->block && i < f->n; i++)
        for (int64_t j = 0; j < i; j++) {
            double a = p->block->x[p->item[i]], b = p->block->x[p->item[j]];
            double x = value_at(f, k, i), y = value_at(f, k, j);
            if (!(a < b || a > b) && (x < y || x > y))
                return false;
        }
    return p->block != NULL;
}

static ddsc_status check_arrangements(const model_fit *f, const shuffle *s,
                                      const permanova_effect *e, bool whole)
{
    for (int64_t k = 0; k < f->model->n_variables; k++)
        if (e[k].whole_blocks == whole && f->model->variables[k]->role == DDSC_COLUMN_BY &&
            !s->given && s->n_arrangements < 2)
            return ctx_fail(f->ctx, DDSC_ERROR_INPUT,
                            "column \"%.100s\" cannot be tested: no permutation within the blocks "
                            "of \"%.100s\" changes it%s",
                            f->model->variables[k]->name, f->model->block->name,
                            whole
                                ? "; it is constant within blocks, and only whole blocks of equal "
                                  "size can be exchanged"
                                : "");
    return DDSC_OK;
}

/* Tests the variables that need the same kind of permutation: items within blocks, or whole
 * blocks. */
static ddsc_status test_one_way(model_fit *f, permanova_effect *e, counter *count, bool whole)
{
    ddsc_status status = DDSC_OK;
    const permanova_model *p = f->model;
    shuffle s = {0};
    bool any = false, *wanted = NULL;
    shuffle_model of = {p->item, p->n, p->n_variables, p->variables, p->block, whole};
    TRY(MEM_ZERO(f->ctx, wanted, p->n_variables));
    for (int64_t k = 0; k < p->n_variables; k++) {
        wanted[k] = e[k].whole_blocks == whole;
        any = any || wanted[k];
    }
    if (!any)
        goto done;
    TRY(shuffle_open(f->ctx, &s, &of, p->permutations, p->part << 1 | (uint64_t)whole));
    if (p->given) {
        s.given = p->given;
        s.exhaustive = false;
        s.n_draws = p->n_given;
    }
    TRY(check_arrangements(f, &s, e, whole));
    TRY(count_permutations(f, &s, count, wanted));
    for (int64_t k = 0; k < p->n_variables; k++) {
        const counter *c = count + k * FIT_VALUES;
        if (!wanted[k])
            continue;
        e[k].p = e[k].df > 0 ? p_value(&c[FIT_F], &s) : (double)NAN;
        e[k].dispersion_p = p_value(&c[FIT_DISPERSION], &s);
        e[k].points_p = f->points ? p_value(&c[FIT_POINTS], &s) : (double)NAN;
        e[k].n_permutations = s.n_draws;
        e[k].exhaustive = s.exhaustive;
        e[k].smallest_p = s.exhaustive ? (double)c[FIT_F].n_largest / (double)s.n_draws
                                       : 1 / (double)(1 + s.n_draws);
    }
done:
    shuffle_close(&s);
    mem_free(f->ctx, wanted);
    return status;
}

static ddsc_status scale_points(model_fit *f)
{
    const permanova_model *p = f->model;
    double mean = 0;
    if (!p->log_points)
        return DDSC_OK;
    CHECK(MEM_NEW(f->ctx, f->points, f->n));
    for (int64_t i = 0; i < f->n; i++)
        mean += p->log_points[p->item[i]] / (double)f->n;
    for (int64_t i = 0; i < f->n; i++)
        f->points[i] = p->log_points[p->item[i]] - mean;
    double length = la_norm(f->n, f->points);
    for (int64_t i = 0; i < f->n; i++)
        f->points[i] /= length > 1e-12 ? length : 1;
    return DDSC_OK;
}

static ddsc_status open_model(model_fit *f)
{
    const permanova_model *p = f->model;
    permanova_effect *effect = f->effect;
    int64_t n = p->n_variables;
    CHECK(MEM_ZERO(f->ctx, f->own, n));
    CHECK(MEM_ZERO(f->ctx, f->alone, n));
    CHECK(MEM_ZERO(f->ctx, f->n_alone, n));
    CHECK(MEM_ZERO(f->ctx, f->spreads, n));
    CHECK(scale_points(f));
    CHECK(make_gram(f));
    CHECK(make_basis(f));
    for (int64_t k = 0; k < n; k++) {
        const variable *v = p->variables[k];
        effect[k].whole_blocks = is_whole(f, k);
        if (v->role == DDSC_COLUMN_BY && effect[k].df == 0)
            return ctx_fail(f->ctx, DDSC_ERROR_INPUT,
                            "column \"%.100s\" cannot be tested: it is determined by the other "
                            "columns of the model",
                            v->name);
        if (p->dispersion && v->role == DDSC_COLUMN_BY && !v->number)
            CHECK(dispersion_open(f->ctx, &f->spreads[k], v, p->item, f->n, f->gram));
    }
    f->batch = BASE_MAX(1, BASE_MIN(FIT_BATCH, FIT_BATCH_ENTRIES / BASE_MAX(f->m * f->n, 1)));
    return MEM_NEW(f->ctx, f->work, parallel_width(f->ctx) * work_size(f));
}

static void close_model(model_fit *f)
{
    for (int64_t k = 0; k < f->model->n_variables; k++) {
        if (f->own)
            mem_free(f->ctx, f->own[k]);
        if (f->alone)
            mem_free(f->ctx, f->alone[k]);
        if (f->spreads)
            dispersion_close(f->ctx, &f->spreads[k]);
    }
    MEM_FREE(f->ctx, f->gram, f->basis, f->own, f->alone, f->n_alone, f->points, f->spreads,
             f->work);
}

ddsc_status permanova_fit(ddsc_context *ctx, permanova_effect *effect, permanova_total *total,
                          const permanova_model *model)
{
    ddsc_status status = DDSC_OK;
    model_fit f = {.ctx = ctx, .model = model, .effect = effect, .n = model->n};
    counter *count = NULL;
    for (int64_t k = 0; k < model->n_variables; k++)
        effect[k] = (permanova_effect){.f = NAN,
                                       .p = NAN,
                                       .dispersion_f = NAN,
                                       .dispersion_p = NAN,
                                       .points_r2 = NAN,
                                       .points_p = NAN};
    TRY(open_model(&f));
    TRY(MEM_ZERO(ctx, count, model->n_variables * FIT_VALUES));
    TRY(observe(&f, count));
    *total = (permanova_total){f.total, f.residual, f.residual_df};
    for (int64_t k = 0; k < model->n_variables; k++) {
        permanova_effect *e = &effect[k];
        counter *c = count + k * FIT_VALUES;
        if (e->df > 0)
            e->f = c[FIT_F].observed;
        e->sum_of_squares =
            e->df > 0 ? e->f * (double)e->df * f.residual / (double)f.residual_df : 0;
        e->r2 = e->sum_of_squares / f.total;
        if (f.points)
            e->points_r2 = c[FIT_POINTS].observed;
        if (f.spreads[k].code)
            dispersion_give(&f.spreads[k], e);
        c[FIT_DISPERSION].observed = e->dispersion_f;
    }
    for (int whole = 0; whole < 2; whole++)
        TRY(test_one_way(&f, effect, count, whole != 0));
done:
    mem_free(ctx, count);
    close_model(&f);
    return status;
}
