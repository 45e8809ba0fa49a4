/* A device in plain C, for tests on machines without a GPU: libddsc_reference.so. Its cheap product
 * type has the largest permitted error, up or down depending on the pair, so that tests detect any
 * missing margin; its strips are short. DDSC_REFERENCE in the environment selects a fault: no device
 * (driver), too little memory (memory), a failure in the second strip (late), wrong lists (lists),
 * only the cheap product type (cheap), another version of the table (version), its first version
 * (old), a failure in the second call for pairs (within), wrong pairs (pairs), too little memory for
 * a grid (grid), a failure in the second call for bounds (bounds), bounds that are not numbers
 * (numbers), no memory for frames (frames), a failure in the bounds from frames (framed), no memory
 * for a sparse matrix (sparse), a failure in the second call for products with it (filter), products
 * that are not numbers (vectors). */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/device_table.h"

enum { STRIP = 96, LONGEST = 200 };

typedef struct reference {
    int way;
    device_rows r; /* copies */
    double *length;
    device_frames f;
    device_grid g; /* the arrays of these four stay the caller's */
    device_points p;
    device_sparse m;
    int n_within, n_bounds, n_filters; /* calls */
} reference;

static int faulty(const char *fault)
{
    const char *asked = getenv("DDSC_REFERENCE");
    return asked && strcmp(asked, fault) == 0;
}

static int fail(char *why, const char *words)
{
    snprintf(why, DEVICE_WORDS, "%s", words);
    return 1;
}

static void drop(reference *d)
{
    free((void *)(uintptr_t)d->r.rows);
    free((void *)(uintptr_t)d->r.start);
    free((void *)(uintptr_t)d->r.weight);
    free(d->length);
    d->r = (device_rows){0};
    d->length = NULL;
}

static void reference_close(void *state)
{
    drop(state);
    free(state);
}

static int reference_open(void **state, int number, device_about *about, char *why)
{
    if (faulty("driver") || number != 0)
        return fail(why, number ? "there is no device of this number" : "no driver");
    *state = calloc(1, sizeof(reference));
    *about = (device_about){.name = "reference",
                            .memory = 1 << 30,
                            .n_ways = faulty("cheap") ? 1 : 2,
                            .longest = LONGEST};
    return *state ? 0 : fail(why, "no memory");
}

static const char *reference_way(void *state, int way, int64_t columns, double *radius)
{
    (void)state;
    *radius = way == 0 ? 1e-3 : 0x1.02p-24 * (double)(columns + 1);
    return way == 0 ? "coarse" : "float";
}

static const float *copied(const float *from, int64_t n)
{
    float *to = from ? malloc((size_t)n * sizeof *to) : NULL;
    if (to)
        memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

static int reference_load(void *state, int way, const device_rows *rows, int64_t keep,
                          int64_t *strip, char *why)
{
    reference *d = state;
    if (faulty("memory") || keep > LONGEST)
        return fail(why, "too little memory: 12 GiB are needed, 1 is free");
    drop(d);
    d->f = (device_frames){0};
    d->way = way;
    d->r = (device_rows){rows->n, rows->columns, copied(rows->rows, rows->n * rows->columns),
                         copied(rows->start, rows->n), copied(rows->weight, rows->n)};
    d->length = calloc((size_t)rows->n, sizeof *d->length);
    for (int64_t i = 0; i < rows->n; i++) {
        for (int64_t k = 0; k < rows->columns; k++)
            d->length[i] += pow((double)rows->rows[i * rows->columns + k], 2);
        d->length[i] = sqrt(d->length[i]);
    }
    *strip = STRIP;
    return 0;
}

static float product(const reference *d, int64_t i, int64_t j)
{
    const float *x = d->r.rows + i * d->r.columns, *y = d->r.rows + j * d->r.columns;
    float sum = 0;
    double exact = 0, radius;
    for (int64_t k = 0; k < d->r.columns; k++) {
        sum += x[k] * y[k];
        exact += (double)x[k] * (double)y[k];
    }
    if (d->way == 1)
        return sum;
    reference_way(NULL, 0, d->r.columns, &radius);
    radius -= 0x1p-23;
    return (float)(exact +
                   ((i * 7 + j * 13) % 5 < 2 ? -1 : 1) * radius * d->length[i] * d->length[j]);
}

/* Sorts by (key, j). Entries arrive in order of j, so equal keys are inserted after existing ones.
 * */
static void insert(float *key, int32_t *index, int64_t keep, int64_t held, float k, int32_t j)
{
    int64_t at = held < keep ? held : keep - 1;
    if (held == keep && k >= key[at])
        return;
    for (; at > 0 && key[at - 1] > k; at--) {
        key[at] = key[at - 1];
        index[at] = index[at - 1];
    }
    key[at] = k;
    index[at] = j;
}

static int reference_nearest(void *state, int64_t begin, int64_t end, int64_t keep, float *key,
                             int32_t *index, char *why)
{
    const reference *d = state;
    const device_rows *r = &d->r;
    if (faulty("late") && begin > 0)
        return fail(why, "an illegal memory access was encountered");
    for (int64_t i = begin; i < end; i++) {
        int64_t held = 0;
        float *own_key = key + (i - begin) * keep;
        int32_t *own_index = index + (i - begin) * keep;
        for (int64_t j = 0; j < r->n; j++) {
            if (j == i)
                continue;
            float low = (r->start[i] + r->start[j]) - 2.0F * product(d, i, j);
            insert(own_key, own_index, keep, held, r->weight ? low * r->weight[j] : low,
                   (int32_t)j);
            held += held < keep;
        }
        if (faulty("lists"))
            own_index[0] = (int32_t)i;
    }
    return 0;
}

/* By the last of the frames. */
static double frame_key(const reference *d, int64_t i, int64_t j)
{
    const device_frames *f = &d->f;
    double d2 = 0;
    for (int64_t k = (f->n_frames - 1) * f->length; k < f->n_frames * f->length; k++)
        d2 += pow((double)f->rows[i * f->n_frames * f->length + k] -
                      (double)f->rows[j * f->n_frames * f->length + k],
                  2);
    return pow(fmax(0, f->keep * sqrt(d2) - f->slack), 2);
}

/* Reports little memory, so callers must split their requests. */
static int reference_within(void *state, const int64_t row[2], const int64_t column[2],
                            const float *reach, int64_t most, int32_t *pair, float *key,
                            int64_t *found, char *why)
{
    reference *d = state;
    const device_rows *r = &d->r;
    *found = 0;
    if (faulty("within") && ++d->n_within > 1)
        return fail(why, "an illegal memory access was encountered");
    for (int64_t i = row[0]; i < row[1]; i++)
        for (int64_t j = column[0] > i ? column[0] : i + 1; j < column[1]; j++) {
            float low = (r->start[i] + r->start[j]) - 2.0F * product(d, i, j);
            if ((low > reach[i] && low > reach[j]) ||
                (d->f.n > 0 && frame_key(d, i, j) > (double)fmaxf(reach[i], reach[j])))
                continue;
            if (*found < most) {
                pair[2 * *found] = (int32_t)i;
                pair[2 * *found + 1] = (int32_t)(faulty("pairs") ? r->n : j);
                key[*found] = low;
            }
            ++*found;
        }
    if (*found > (column[1] - column[0]) * 512) /* so that callers request less */
        *found = most + 1;
    if (faulty("flood"))
        *found = most + 1;
    if (faulty("negative"))
        *found = -1;
    return 0;
}

static int reference_load_frames(void *state, const device_frames *frames, char *why)
{
    if (faulty("frames"))
        return fail(why, "too little memory");
    ((reference *)state)->f = *frames;
    return 0;
}

static int reference_framed(void *state, int64_t n, const int32_t *pair, float *key, char *why)
{
    const reference *d = state;
    if (faulty("framed"))
        return fail(why, "an illegal memory access was encountered");
    for (int64_t k = 0; k < n; k++)
        key[k] = (1 - 0x1p-23F) * (float)frame_key(d, pair[2 * k], pair[2 * k + 1]);
    return 0;
}

/* ---- bounds of transport ---- */

static int reference_load_grid(void *state, const device_grid *grid, char *why)
{
    if (faulty("grid"))
        return fail(why, "too little memory: 12 GiB are needed, 1 is free");
    ((reference *)state)->g = *grid;
    return 0;
}

/* Returns |x - y|^2 of two entries, each relative to the mean of its item. */
static double centered_cost(const device_grid *g, const int32_t *pair, int64_t x, int64_t y)
{
    double sum = 0;
    for (int axis = 0; axis < 2; axis++) {
        double at_x = axis == 0 ? (double)(g->cell[x] / g->side) : (double)(g->cell[x] % g->side);
        double at_y = axis == 0 ? (double)(g->cell[y] / g->side) : (double)(g->cell[y] % g->side);
        double gap = at_x - g->mean[2 * pair[0] + axis] - (at_y - g->mean[2 * pair[1] + axis]);
        sum += pow(g->step[axis] * gap, 2);
    }
    return sum;
}

/* The distance of the means, and the potentials that two transforms of f = 0 give. */
static double transport_bound(const device_grid *g, const int32_t *pair)
{
    int64_t a = g->offset[pair[0]], n = g->offset[pair[0] + 1] - a;
    int64_t b = g->offset[pair[1]], m = g->offset[pair[1] + 1] - b;
    double *other = calloc((size_t)m, sizeof *other), value = -g->rounding;
    for (int64_t y = 0; y < m; y++) {
        other[y] = INFINITY;
        for (int64_t x = 0; x < n; x++)
            other[y] = fmin(other[y], centered_cost(g, pair, a + x, b + y));
        value += g->weight[b + y] * other[y];
    }
    for (int64_t x = 0; x < n; x++) {
        double own = INFINITY;
        for (int64_t y = 0; y < m; y++)
            own = fmin(own, centered_cost(g, pair, a + x, b + y) - other[y]);
        value += g->weight[a + x] * own;
    }
    for (int axis = 0; axis < 2; axis++)
        value +=
            pow(g->step[axis] * (g->mean[2 * pair[0] + axis] - g->mean[2 * pair[1] + axis]), 2);
    free(other);
    return g->unit * value;
}

/* Lowers a bound by a random share, up to all of it. */
static int reference_bounds(void *state, int kind, int64_t n, const int32_t *pair,
                            const double *enough, double *bound, char *why)
{
    reference *d = state;
    (void)enough;
    if (faulty("bounds") && ++d->n_bounds > 1)
        return fail(why, "an illegal memory access was encountered");
    for (int64_t k = 0; k < n; k++) {
        double part = (pair[2 * k] * 3 + pair[2 * k + 1] * 5) % 4 / 4.0 + 0.25;
        bound[k] = (kind == DEVICE_TIGHT ? 1 : part) * transport_bound(&d->g, pair + 2 * k);
        if (faulty("numbers"))
            bound[k] = NAN;
    }
    return 0;
}

/* Solves entropic transport by plain iterations on a dense kernel. The costs (n x m) are
 * overwritten. */
static void scale_dense(const device_rule *rule, int64_t n, int64_t m, const double *a,
                        const double *b, double *cost, device_scaled *found)
{
    double *kernel = calloc((size_t)(n * m + n + m), sizeof *kernel);
    double *u = kernel + n * m, *v = u + n, dual = 0, sharp = 0;
    *found = (device_scaled){.marginal_error = 1};
    for (int64_t e = 0; e < n * m; e++)
        kernel[e] = exp(-cost[e] / rule->epsilon);
    for (int64_t y = 0; y < m; y++)
        v[y] = b[y];
    for (int64_t k = 1; k <= rule->max_iterations && found->marginal_error > rule->tolerance; k++) {
        double error = 0;
        for (int64_t x = 0; x < n; x++) {
            double sum = 0;
            for (int64_t y = 0; y < m; y++)
                sum += kernel[x * m + y] * v[y];
            error += fabs(u[x] * sum - a[x]);
            u[x] = a[x] / sum;
        }
        for (int64_t y = 0; y < m; y++) {
            double sum = 0;
            for (int64_t x = 0; x < n; x++)
                sum += kernel[x * m + y] * u[x];
            v[y] = b[y] / sum;
        }
        found->marginal_error = error;
        found->iterations = k;
    }
    for (int64_t x = 0; x < n; x++)
        dual += a[x] * log(u[x] / a[x]);
    for (int64_t y = 0; y < m; y++)
        dual += b[y] * log(v[y] / b[y]);
    for (int64_t e = 0; e < n * m; e++)
        sharp += u[e / m] * kernel[e] * v[e % m] * cost[e];
    found->regularized = rule->epsilon * dual;
    found->sharp = rule->sharp ? sharp : 0;
    if (!(found->marginal_error <= rule->tolerance && isfinite(dual)))
        found->iterations = 0;
    free(kernel);
}

/* Every fifth pair is left to the CPU. */
static void scale_pair(const reference *d, bool points, const device_rule *rule,
                       const int32_t *pair, device_scaled *found)
{
    const device_grid *g = &d->g;
    const device_points *p = &d->p;
    const int64_t *offset = points ? p->offset : g->offset;
    const double *weight = points ? p->weight : g->weight;
    int64_t a = offset[pair[0]], n = offset[pair[0] + 1] - a;
    int64_t b = offset[pair[1]], m = offset[pair[1] + 1] - b;
    double *cost = calloc((size_t)(n * m), sizeof *cost), apart = 0;
    for (int axis = 0; axis < 2 && !points; axis++)
        apart +=
            pow(g->step[axis] * (g->mean[2 * pair[0] + axis] - g->mean[2 * pair[1] + axis]), 2);
    for (int64_t e = 0; e < n * m; e++) {
        int64_t x = a + e / m, y = b + e % m;
        cost[e] = points ? 0 : centered_cost(g, pair, x, y);
        for (int64_t k = 0; points && k < p->d; k++)
            cost[e] +=
                pow(p->support[p->index[x] * p->d + k] - p->support[p->index[y] * p->d + k], 2);
    }
    scale_dense(rule, n, m, weight + a, weight + b, cost, found);
    found->regularized += apart;
    found->sharp += rule->sharp ? apart : 0;
    if ((pair[0] + pair[1]) % 5 == 0)
        found->iterations = 0;
    free(cost);
}

static int scale_pairs(reference *d, bool points, const device_rule *rule, int64_t n,
                       const int32_t *pair, device_scaled *found, char *why)
{
    if (faulty("bounds"))
        return fail(why, "an illegal memory access was encountered");
    for (int64_t k = 0; k < n; k++) {
        scale_pair(d, points, rule, pair + 2 * k, &found[k]);
        if (faulty("numbers") && rule->sharp)
            found[k].sharp = NAN;
        else if (faulty("numbers"))
            found[k].regularized = NAN;
    }
    return 0;
}

static int reference_scale(void *state, const device_rule *rule, int64_t n, const int32_t *pair,
                           device_scaled *found, char *why)
{
    return scale_pairs(state, false, rule, n, pair, found, why);
}

static int reference_load_points(void *state, const device_points *points, char *why)
{
    if (faulty("grid"))
        return fail(why, "too little memory: 12 GiB are needed, 1 is free");
    ((reference *)state)->p = *points;
    return 0;
}

static int reference_scale_points(void *state, const device_rule *rule, int64_t n,
                                  const int32_t *pair, device_scaled *found, char *why)
{
    return scale_pairs(state, true, rule, n, pair, found, why);
}

/* ---- products with a sparse matrix ---- */

static int reference_load_sparse(void *state, const device_sparse *m, char *why)
{
    if (faulty("sparse"))
        return fail(why, "too little memory: 12 GiB are needed, 1 is free");
    ((reference *)state)->m = *m;
    return 0;
}

/* Computes y = scale (M x - shift x) - back y. */
static void sparse_step(const device_sparse *m, int64_t width, double scale, double shift, int back,
                        const double *x, double *y)
{
    for (int64_t at = 0; at < m->n * width; at++) {
        int64_t i = at / width;
        double sum = 0;
        for (int64_t p = m->offset[i]; p < m->offset[i + 1]; p++)
            sum += m->value[p] * x[m->column[p] * width + at % width];
        y[at] = scale * (sum - shift * x[at]) - (back ? y[at] : 0);
    }
}

static int reference_filter(void *state, int64_t width, double scale, double shift, int64_t degree,
                            const double *x, double *y, char *why)
{
    reference *d = state;
    size_t bytes = (size_t)(d->m.n * width) * sizeof(double);
    double *now = malloc(bytes), *before = malloc(bytes);
    memcpy(before, x, bytes);
    sparse_step(&d->m, width, scale, shift, 0, before, now);
    for (int64_t k = 1; k < degree; k++) {
        sparse_step(&d->m, width, 2 * scale, shift, 1, now, before);
        double *swap = now;
        now = before;
        before = swap;
    }
    memcpy(y, now, bytes);
    free(now);
    free(before);
    if (faulty("vectors"))
        y[d->m.n / 2] = NAN;
    return faulty("filter") && ++d->n_filters > 1
               ? fail(why, "an illegal memory access was encountered")
               : 0;
}

const device_table *ddsc_device_table(void);

const device_table *ddsc_device_table(void)
{
    static device_table table = {
        DEVICE_TABLE_VERSION, reference_open,    reference_close,       reference_way,
        reference_load,       reference_nearest, reference_within,      reference_load_frames,
        reference_load_grid,  reference_bounds,  reference_scale,       reference_load_sparse,
        reference_filter,     reference_framed,  reference_load_points, reference_scale_points};
    table.version = faulty("version") ? DEVICE_TABLE_VERSION + 1
                    : faulty("old")   ? 1
                                      : DEVICE_TABLE_VERSION;
    return &table;
}
