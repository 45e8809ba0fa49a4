/* Copies, compares, checks and applies the list of transforms that is stored with a set. */
#include "data/recipe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/parts.h"
#include "numeric/linalg/linalg.h"

/* ---- the list ---- */

const char *recipe_name(int64_t kind)
{
    static const char *const names[RECIPE_KINDS] = {
        "",    "per-item",     "arcsinh",    "log1p",        "standard",        "robust",  "rank",
        "pca", "align center", "align size", "align deskew", "align principal", "logicle", "batch"};
    return kind > 0 && kind < RECIPE_KINDS ? names[kind] : "";
}

int64_t recipe_count(int64_t kind, int64_t argument, int64_t d, int64_t *d_out)
{
    if (d_out)
        *d_out = kind == RECIPE_PCA ? argument : d;
    switch (kind) {
    case RECIPE_ARCSINH:
    case RECIPE_CENTER:
    case RECIPE_SIZE:
    case RECIPE_DESKEW:
    case RECIPE_PRINCIPAL: return d;
    case RECIPE_LOGICLE: return 4 * d;
    case RECIPE_STANDARD:
    case RECIPE_ROBUST: return 2 * d;
    case RECIPE_RANK: return RECIPE_KNOTS * d;
    case RECIPE_PCA: return d + argument * d;
    case RECIPE_BATCH: return (argument + 1) * RECIPE_KNOTS * d;
    default: return 0;
    }
}

int recipe_exponent(double largest)
{
    int exponent = 0;
    if (largest > 0 && (largest < 1e-80 || largest > 1e80))
        frexp(largest, &exponent);
    return exponent;
}

ddsc_status recipe_add(ddsc_context *ctx, measures_recipe *r, recipe_kind kind, int64_t argument,
                       int64_t count, double **value)
{
    CHECK(mem_resize(ctx, &r->step, 3 * (r->n + 1), sizeof *r->step));
    CHECK(mem_resize(ctx, &r->value, r->n_values + count, sizeof *r->value));
    int64_t *step = r->step + 3 * r->n++;
    step[0] = kind;
    step[1] = argument;
    step[2] = count;
    *value = r->value + r->n_values;
    r->n_values += count;
    return DDSC_OK;
}

ddsc_status measures_recipe_copy(ddsc_context *ctx, measures_recipe *to,
                                 const measures_recipe *from)
{
    ddsc_status status = DDSC_OK;
    measures_recipe fresh = {.n = from->n, .n_values = from->n_values};
    TRY(MEM_COPY(ctx, fresh.step, from->step, 3 * from->n));
    TRY(MEM_COPY(ctx, fresh.value, from->value, from->n_values));
    TRY(texts_copy(ctx, &fresh.inputs, &from->inputs));
    TRY(texts_copy(ctx, &fresh.batches, &from->batches));
    *to = fresh;
    fresh = (measures_recipe){0};
done:
    measures_recipe_free(ctx, &fresh);
    return status;
}

bool measures_recipe_equal(const measures_recipe *a, const measures_recipe *b)
{
    return a->n == b->n && a->n_values == b->n_values &&
           (a->n == 0 || memcmp(a->step, b->step, 3 * (size_t)a->n * sizeof *a->step) == 0) &&
           (a->n_values == 0 ||
            memcmp(a->value, b->value, (size_t)a->n_values * sizeof *a->value) == 0) &&
           texts_equal(&a->batches, &b->batches);
}

void measures_recipe_free(ddsc_context *ctx, measures_recipe *r)
{
    MEM_FREE(ctx, r->step, r->value);
    texts_free(ctx, &r->inputs);
    texts_free(ctx, &r->batches);
    *r = (measures_recipe){0};
}

/* Only a PCA step changes the dimension. The input dimension of this step follows from its number
 * of values. */
int64_t recipe_dimension(const measures_recipe *r, int64_t d)
{
    int64_t values = 0;
    for (int64_t k = r->n; k-- > 0;) {
        const int64_t *step = r->step + 3 * k;
        if (step[0] < 1 || step[0] >= RECIPE_KINDS || step[1] < 0 || step[2] < 0 ||
            step[2] > r->n_values - values) /* prevents overflow of the sums and products below */
            return -1;
        if (step[0] == RECIPE_PCA) {
            if (step[1] != d || step[2] % (d + 1) != 0)
                return -1;
            d = step[2] / (d + 1);
        }
        if (step[0] == RECIPE_BATCH && (step[1] < 1 || step[1] > RECIPE_BATCHES))
            return -1;
        if (recipe_count(step[0], step[1], d, NULL) != step[2] ||
            (step[0] == RECIPE_PER_ITEM && step[1] < 1))
            return -1;
        values += step[2];
    }
    return values == r->n_values ? d : -1;
}

/* ---- steps that transform each point separately ---- */

double recipe_rank(const double *knot, double x)
{
    int64_t low = 0, high = RECIPE_KNOTS; /* number of knots below x; number of knots not above x */
    for (int64_t a = 0, b = RECIPE_KNOTS; a < b;) {
        int64_t middle = (a + b) / 2;
        if (knot[middle] < x)
            a = middle + 1;
        else
            b = middle;
        low = a;
    }
    for (int64_t a = 0, b = RECIPE_KNOTS; a < b;) {
        int64_t middle = (a + b) / 2;
        if (knot[middle] <= x)
            a = middle + 1;
        else
            b = middle;
        high = a;
    }
    if (high > low) /* x equals one or more knots, so the rank is the middle of theirs */
        return (double)(low + high - 1) / 2;
    if (low == 0 || low == RECIPE_KNOTS)
        return low == 0 ? 0 : RECIPE_KNOTS - 1;
    double part = (x - knot[low - 1]) / (knot[low] - knot[low - 1]);
    return (double)(low - 1) + part;
}

static double one_value(int64_t kind, const double *value, int64_t d, int64_t k, double x)
{
    switch (kind) {
    case RECIPE_ARCSINH: return value[k] > 0 ? asinh(x / value[k]) : x;
    case RECIPE_LOG1P: return log1p(x);
    case RECIPE_RANK: return recipe_rank(value + RECIPE_KNOTS * k, x) / (RECIPE_KNOTS - 1);
    default: return (x - value[k]) * value[d + k];
    }
}

static ddsc_status each_value(ddsc_context *ctx, measures_parts *p, int64_t kind,
                              const double *value)
{
    for (int64_t r = 0; r < p->v; r++)
        for (int64_t k = 0; k < p->d; k++) {
            double *x = p->support + r * p->d + k;
            if (kind == RECIPE_LOG1P && *x <= -1)
                return ctx_fail(ctx, DDSC_ERROR_INPUT,
                                "log1p: coordinate %lld contains %g, but log(1 + x) requires "
                                "values above -1",
                                (long long)k + 1, *x);
            *x = one_value(kind, value, p->d, k, *x);
        }
    return DDSC_OK;
}

static void each_logicle(measures_parts *p, const double *value)
{
    for (int64_t k = 0; k < p->d; k++) {
        if (!(value[4 * k] > 0))
            continue;
        logicle_scale s = recipe_logicle(value + 4 * k);
        for (int64_t r = 0; r < p->v; r++)
            p->support[r * p->d + k] = recipe_logicle_at(&s, p->support[r * p->d + k]);
    }
}

static ddsc_status project_points(ddsc_context *ctx, measures_parts *p, int64_t d_out,
                                  const double *value)
{
    double *image = NULL;
    if (d_out > INT64_MAX / 8 / BASE_MAX(p->v, 1))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY, "%lld points with %lld coordinates are too many",
                        (long long)p->v, (long long)d_out);
    CHECK(MEM_NEW(ctx, image, p->v * d_out));
    for (int64_t r = 0; r < p->v; r++)
        for (int64_t k = 0; k < p->d; k++)
            p->support[r * p->d + k] -= value[k];
    la_gemm(false, true, p->v, d_out, p->d, 1, p->support, p->d, value + p->d, p->d, 0, image,
            d_out);
    mem_free(ctx, p->support);
    p->support = image;
    p->d = d_out;
    return DDSC_OK;
}

ddsc_status recipe_apply_step(ddsc_context *ctx, measures_parts *p, const measures *m,
                              const measures_recipe *r, int64_t k)
{
    const int64_t *step = r->step + 3 * k;
    const double *value = r->value;
    for (int64_t j = 0; j < k; j++)
        value += r->step[3 * j + 2];
    p->points_distinct = false;
    switch (step[0]) {
    case RECIPE_PER_ITEM: return recipe_draw(ctx, p, step[1]);
    case RECIPE_PCA: return project_points(ctx, p, step[1], value);
    case RECIPE_LOGICLE: each_logicle(p, value); return DDSC_OK;
    case RECIPE_BATCH: return recipe_map_batches(ctx, p, r, m, value);
    case RECIPE_CENTER:
    case RECIPE_SIZE:
    case RECIPE_DESKEW:
    case RECIPE_PRINCIPAL: return recipe_align(ctx, p, (recipe_kind)step[0], value);
    default: return each_value(ctx, p, step[0], value);
    }
}

/* ---- a whole set ---- */

ddsc_status recipe_take_parts(ddsc_context *ctx, measures_parts *p, const measures *m)
{
    *p = (measures_parts){.n = m->n, .v = m->v, .nnz = m->nnz, .d = m->d, .points_distinct = true};
    CHECK(MEM_COPY(ctx, p->support, m->support, m->v * m->d));
    CHECK(MEM_COPY(ctx, p->offset, m->offset, m->n + 1));
    CHECK(MEM_COPY(ctx, p->index, m->index, m->nnz));
    CHECK(MEM_COPY(ctx, p->weight, m->weight, m->nnz));
    return texts_copy(ctx, &p->points, &m->points);
}

/* Names the components PC1, PC2, ..., because the old coordinate names no longer apply. */
static ddsc_status name_components(ddsc_context *ctx, measures_texts *t, int64_t d)
{
    ddsc_status status = DDSC_OK;
    const char **name = NULL;
    char(*text)[NUMBER_ID_SIZE + 2] = NULL;
    TRY(MEM_NEW(ctx, name, d));
    TRY(MEM_NEW(ctx, text, d));
    for (int64_t k = 0; k < d; k++) {
        snprintf(text[k], sizeof text[k], "PC%lld", (long long)k + 1);
        name[k] = text[k];
    }
    texts_free(ctx, t);
    TRY(texts_pack(ctx, t, d, name));
done:
    MEM_FREE(ctx, name, text);
    return status;
}

ddsc_status recipe_finish(ddsc_context *ctx, measures **out, measures_parts *p, const measures *m,
                          const measures_recipe *r)
{
    ddsc_status status = DDSC_OK;
    measures *made = NULL;
    measures_recipe whole = {0};
    bool components = p->d != m->d;
    for (int64_t k = m->recipe.n; k < r->n; k++)
        components = components || r->step[3 * k] == RECIPE_PCA;
    TRY(measures_build(ctx, &made, p, DDSC_EMPTY_ERROR, "transformed items"));
    TRY(measures_copy_names(ctx, made, m));
    made->n_zero_dropped = m->n_zero_dropped;
    made->n_merged = m->n_merged;
    if (components)
        TRY(name_components(ctx, &made->coordinates, made->d));
    TRY(measures_recipe_copy(ctx, &whole, r));
    if (m->recipe.n == 0 && whole.inputs.n == 0)
        TRY(texts_copy(ctx, &whole.inputs, &m->coordinates));
    measures_recipe_free(ctx, &made->recipe);
    made->recipe = whole;
    whole = (measures_recipe){0};
    *out = made;
    made = NULL;
done:
    measures_recipe_free(ctx, &whole);
    ddsc_measures_destroy(made);
    return status;
}

ddsc_status recipe_apply(ddsc_context *ctx, measures **out, const measures *m,
                         const measures_recipe *r)
{
    ddsc_status status = DDSC_OK;
    measures_parts p = {0};
    TRY(recipe_take_parts(ctx, &p, m));
    for (int64_t k = 0; k < r->n; k++)
        TRY(recipe_apply_step(ctx, &p, m, r, k));
    TRY(recipe_finish(ctx, out, &p, m, r));
done:
    measures_parts_free(ctx, &p);
    return status;
}
