/* Fits transforms to a set and applies them. The parameters are estimated from the mixture of the
 * items, with equal weight for each item, and are stored so that new items can be transformed in
 * the same way. The order is: sampling of points, arcsinh, logicle, log1p, batch, normalization,
 * principal components, alignment. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "base/text.h"
#include "data/parts.h"
#include "data/recipe.h"
#include "numeric/linalg/linalg.h"

static const ddsc_transform_settings defaults = {0};
SIZED_INIT(settings_struct, ddsc_transform_settings, align, &defaults);

typedef struct fitting {
    ddsc_context *ctx;
    const measures *m;
    measures_parts p;
    measures_recipe r;
    double *mass; /* mass of each support row in the mixture */
} fitting;

static ddsc_status find_mass(fitting *f)
{
    mem_free(f->ctx, f->mass);
    f->mass = NULL;
    CHECK(MEM_ZERO(f->ctx, f->mass, f->p.v));
    for (int64_t i = 0; i < f->p.n; i++) {
        double sum = 0;
        for (int64_t e = f->p.offset[i]; e < f->p.offset[i + 1]; e++)
            sum += f->p.weight[e];
        for (int64_t e = f->p.offset[i]; e < f->p.offset[i + 1]; e++)
            f->mass[f->p.index[e]] += f->p.weight[e] / sum / (double)f->p.n;
    }
    return DDSC_OK;
}

/* Adds a step, sets its values with `fit`, and applies it. */
typedef ddsc_status (*fit_fn)(fitting *f, recipe_kind kind, double *value);

static ddsc_status add_step(fitting *f, recipe_kind kind, int64_t argument, fit_fn fit)
{
    double *value;
    int64_t count = recipe_count(kind, argument, f->p.d, NULL);
    CHECK(recipe_add(f->ctx, &f->r, kind, argument, count, &value));
    if (fit)
        CHECK(fit(f, kind, value));
    return recipe_apply_step(f->ctx, &f->p, f->m, &f->r, f->r.n - 1);
}

/* ---- lists: VALUE, or PATTERN=VALUE for some coordinates ---- */

typedef struct pattern_list {
    ddsc_context *ctx;
    const char *transform;
    text_table seen;
} pattern_list;

static ddsc_status see_pattern(void *arg, const char *word)
{
    pattern_list *list = arg;
    const char *equals = strrchr(word, '=');
    char pattern[256];
    int64_t number;
    bool is_new;
    snprintf(pattern, sizeof pattern, "%.*s", equals ? (int)(equals - word) : 1,
             equals ? word : "*");
    for (char *at = pattern; *at; at++) /* ignores case */
        *at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
    CHECK(text_table_add(list->ctx, &list->seen, pattern, strlen(pattern), &number, &is_new));
    return is_new ? DDSC_OK
                  : ctx_fail(list->ctx, DDSC_ERROR_ARGUMENT, "%s: \"%s\" has two values",
                             list->transform, QUOTE(pattern));
}

/* Checks that no pattern occurs twice. If several patterns match a name, the last one applies. */
static ddsc_status check_patterns(ddsc_context *ctx, const char *transform, const char *list)
{
    pattern_list p = {.ctx = ctx, .transform = transform};
    ddsc_status status = text_each_listed(list, see_pattern, &p);
    text_table_free(ctx, &p.seen);
    return status;
}

/* ---- arcsinh: one cofactor, or PATTERN=COFACTOR for some coordinates ---- */

typedef struct cofactors {
    fitting *f;
    double *value;
} cofactors;

static ddsc_status take_cofactor(void *arg, const char *word)
{
    const cofactors *c = arg;
    const measures_texts *names = &c->f->m->coordinates;
    const char *equals = strrchr(word, '=');
    double value;
    char pattern[256] = "*";
    bool any = false;
    if (!number_parse(equals ? equals + 1 : word, &value) || !(value > 0) || isinf(value))
        return ctx_fail(c->f->ctx, DDSC_ERROR_ARGUMENT,
                        "arcsinh: \"%s\" is neither a positive number nor NAME=NUMBER",
                        QUOTE(word));
    if (equals)
        snprintf(pattern, sizeof pattern, "%.*s", (int)(equals - word), word);
    for (int64_t k = 0; k < c->f->p.d; k++)
        if (!equals || (names->n > 0 && text_glob(pattern, texts_get(names, k)))) {
            c->value[k] = value;
            any = true;
        }
    if (!any)
        return ctx_fail(c->f->ctx, DDSC_ERROR_ARGUMENT, "arcsinh: no coordinate matches \"%s\"",
                        QUOTE(pattern));
    return DDSC_OK;
}

static ddsc_status fit_arcsinh(fitting *f, const char *list)
{
    cofactors c = {.f = f};
    CHECK(check_patterns(f->ctx, "arcsinh", list));
    CHECK(recipe_add(f->ctx, &f->r, RECIPE_ARCSINH, 0, f->p.d, &c.value));
    memset(c.value, 0, (size_t)f->p.d * sizeof *c.value);
    CHECK(text_each_listed(list, take_cofactor, &c));
    return recipe_apply_step(f->ctx, &f->p, f->m, &f->r, f->r.n - 1);
}

/* ---- logicle: T:W:M:A, or PATTERN=T:W:M:A for some coordinates ---- */

/* Returns the width W = (M - log10(T / |r|)) / 2, where r is the 5% quantile of the negative
 * values (Parks 2006). The linear part of the scale then covers most negative values. */
static double fit_width(const fitting *f, int64_t k, double top, double decades, double *key,
                        int32_t *order)
{
    const measures_parts *p = &f->p;
    double negative = 0, upto = 0, reach = 0;
    for (int64_t r = 0; r < p->v; r++) {
        key[r] = p->support[r * p->d + k];
        negative += key[r] < 0 ? f->mass[r] : 0;
    }
    sort_order(order, key, p->v);
    for (int64_t r = 0; r < p->v && key[order[r]] < 0 && upto <= 0.05 * negative; r++) {
        upto += f->mass[order[r]];
        reach = -key[order[r]];
    }
    double width = reach > 0 ? (decades - log10(top / reach)) / 2 : 0;
    return BASE_MIN(BASE_MAX(width, 0), decades / 2);
}

static bool parse_logicle(const char *text, double parameter[4])
{
    char word[NUMBER_TEXT];
    int n = 0;
    for (; n < 4; n++) {
        size_t length = strcspn(text, ":");
        if (length >= sizeof word)
            return false;
        memcpy(word, text, length);
        word[length] = '\0';
        if (!(n == 1 && length == 0) &&
            (!number_parse(word, &parameter[n]) || (n == 1 && parameter[n] < 0)))
            return false;
        text += length;
        if (*text == '\0')
            break;
        text++;
    }
    double top = parameter[0], width = BASE_MAX(parameter[1], 0), decades = parameter[2];
    return n < 4 && top > 0 && !isinf(top) && decades > 0 && decades <= 30 &&
           2 * width <= decades && parameter[3] >= -width && parameter[3] <= decades - 2 * width;
}

static ddsc_status take_logicle(void *arg, const char *word)
{
    const cofactors *c = arg;
    const measures_texts *names = &c->f->m->coordinates;
    const char *equals = strrchr(word, '=');
    double parameter[4] = {0, -1, 4.5, 0}; /* W = -1: estimated from the data */
    char pattern[256] = "*";
    bool any = false;
    if (!parse_logicle(equals ? equals + 1 : word, parameter))
        return ctx_fail(c->f->ctx, DDSC_ERROR_ARGUMENT,
                        "logicle: \"%s\" is neither T:W:M:A (T > 0, 0 <= W <= M/2, -W <= A "
                        "<= M - 2W) nor NAME=T:W:M:A",
                        QUOTE(word));
    if (equals)
        snprintf(pattern, sizeof pattern, "%.*s", (int)(equals - word), word);
    for (int64_t k = 0; k < c->f->p.d; k++)
        if (!equals || (names->n > 0 && text_glob(pattern, texts_get(names, k)))) {
            memcpy(c->value + 4 * k, parameter, sizeof parameter);
            any = true;
        }
    return any ? DDSC_OK
               : ctx_fail(c->f->ctx, DDSC_ERROR_ARGUMENT, "logicle: no coordinate matches \"%s\"",
                          QUOTE(pattern));
}

static ddsc_status fit_logicle(fitting *f, const char *list)
{
    ddsc_status status = DDSC_OK;
    cofactors c = {.f = f};
    double *key = NULL;
    int32_t *order = NULL;
    TRY(check_patterns(f->ctx, "logicle", list));
    TRY(recipe_add(f->ctx, &f->r, RECIPE_LOGICLE, 0, 4 * f->p.d, &c.value));
    memset(c.value, 0, 4 * (size_t)f->p.d * sizeof *c.value);
    TRY(text_each_listed(list, take_logicle, &c));
    TRY(find_mass(f));
    TRY(MEM_NEW(f->ctx, key, f->p.v));
    TRY(MEM_NEW(f->ctx, order, f->p.v));
    for (int64_t k = 0; k < f->p.d; k++)
        if (c.value[4 * k] > 0 && c.value[4 * k + 1] < 0)
            c.value[4 * k + 1] = fit_width(f, k, c.value[4 * k], c.value[4 * k + 2], key, order);
    TRY(recipe_apply_step(f->ctx, &f->p, f->m, &f->r, f->r.n - 1));
done:
    MEM_FREE(f->ctx, key, order);
    return status;
}

/* ---- one scale for all coordinates ---- */

static ddsc_status fit_standard(fitting *f, recipe_kind kind, double *value)
{
    const measures_parts *p = &f->p;
    (void)kind;
    CHECK(find_mass(f));
    for (int64_t k = 0; k < p->d; k++) {
        double mean = 0, variance = 0, low = INFINITY, high = -INFINITY;
        for (int64_t r = 0; r < p->v; r++) {
            double x = p->support[r * p->d + k];
            mean += f->mass[r] * x;
            low = BASE_MIN(low, x);
            high = BASE_MAX(high, x);
        }
        int exponent = recipe_exponent(high - low);
        for (int64_t r = 0; r < p->v; r++) {
            double x = ldexp(p->support[r * p->d + k] - mean, -exponent);
            variance += f->mass[r] * x * x;
        }
        bool varies = low < high && variance > 0; /* false if constant up to rounding */
        value[k] = varies ? mean : low;
        value[p->d + k] = varies ? ldexp(1 / sqrt(variance), -exponent) : 1;
    }
    return DDSC_OK;
}

/* A range of rows, first .. end-1, with total mass `whole`. find_quantiles computes the quantiles
 * 0, 1/(n-1), ..., 1 of a coordinate in this range. The quantile q is the smallest value whose
 * cumulative mass is at least the fraction q. */
typedef struct span {
    int64_t first, end;
    double whole, *key; /* work space: values and their order */
    int32_t *order;
} span;

static void find_quantiles(const fitting *f, const span *s, int64_t k, int64_t n, double *out)
{
    const measures_parts *p = &f->p;
    const double *mass = f->mass + s->first;
    int64_t at = 0, v = s->end - s->first;
    double upto = 0;
    for (int64_t r = 0; r < v; r++)
        s->key[r] = p->support[(s->first + r) * p->d + k];
    sort_order(s->order, s->key, v);
    for (int64_t r = 0; r < v && at < n; r++) {
        if (mass[s->order[r]] <= 0)
            continue;
        upto += mass[s->order[r]] / s->whole;
        while (at < n &&
               (double)at / (double)(n - 1) <= upto + 1e-12) /* tolerates rounding of the sum */
            out[at++] = s->key[s->order[r]];
    }
    for (int64_t r = v;
         at < n && r-- > 0;) /* quantiles missed because of rounding become the largest value */
        while (at < n && mass[s->order[r]] > 0)
            out[at++] = s->key[s->order[r]];
}

static ddsc_status fit_quantiles(fitting *f, recipe_kind kind, double *value)
{
    ddsc_status status = DDSC_OK;
    const measures_parts *p = &f->p;
    double quarter[5];
    span all = {.end = p->v, .whole = 1};
    TRY(find_mass(f));
    TRY(MEM_NEW(f->ctx, all.key, p->v));
    TRY(MEM_NEW(f->ctx, all.order, p->v));
    for (int64_t k = 0; k < p->d; k++) {
        if (kind == RECIPE_RANK) {
            find_quantiles(f, &all, k, RECIPE_KNOTS, value + RECIPE_KNOTS * k);
            continue;
        }
        find_quantiles(f, &all, k, 5, quarter);
        double range = quarter[3] - quarter[1];
        value[k] = quarter[2];
        value[p->d + k] = range > 0 ? 1 / range : 1;
    }
done:
    MEM_FREE(f->ctx, all.key, all.order);
    return status;
}

/* ---- batches ---- */

static ddsc_status fit_batches(fitting *f, recipe_kind kind, double *value)
{
    ddsc_status status = DDSC_OK;
    measures_parts *p = &f->p;
    int64_t n = f->r.batches.n - 1, start[RECIPE_BATCHES + 1];
    span part = {0};
    (void)kind;
    TRY(recipe_split(f->ctx, p, &f->r, f->m, start));
    TRY(find_mass(f));
    TRY(MEM_NEW(f->ctx, part.key, p->v));
    TRY(MEM_NEW(f->ctx, part.order, p->v));
    for (int64_t b = -1; b < n; b++) { /* -1: all batches together */
        part.first = b < 0 ? 0 : start[b];
        part.end = b < 0 ? p->v : start[b + 1];
        part.whole = 0;
        for (int64_t r = part.first; r < part.end; r++)
            part.whole += f->mass[r];
        for (int64_t k = 0; k < p->d; k++)
            find_quantiles(f, &part, k, RECIPE_KNOTS, value + ((b + 1) * p->d + k) * RECIPE_KNOTS);
    }
done:
    MEM_FREE(f->ctx, part.key, part.order);
    return status;
}

/* ---- principal components of the mixture ---- */

static void point_components(double *direction, int64_t n, int64_t d)
{
    for (int64_t j = 0; j < n; j++) {
        double *x = direction + j * d;
        int64_t largest = 0;
        for (int64_t k = 1; k < d; k++)
            largest = fabs(x[k]) > fabs(x[largest]) ? k : largest;
        bool turn = x[largest] < 0;
        for (int64_t k = 0; k < d && turn; k++)
            x[k] = -x[k];
    }
}

/* Multiplies rows by the square roots of their masses, and scales them so that their squares do not
 * overflow. */
static void weigh_by_mass(double *rows, const double *mass, int64_t n, int64_t d)
{
    double largest = 0;
    for (int64_t p = 0; p < n * d; p++)
        largest = BASE_MAX(largest, fabs(rows[p]));
    int exponent = recipe_exponent(largest);
    for (int64_t r = 0; r < n; r++)
        for (int64_t k = 0; k < d; k++)
            rows[r * d + k] = sqrt(mass[r]) * ldexp(rows[r * d + k], -exponent);
}

static ddsc_status fit_components(fitting *f, recipe_kind kind, double *value)
{
    ddsc_status status = DDSC_OK;
    const measures_parts *p = &f->p;
    int64_t d = p->d, keep = f->r.step[3 * (f->r.n - 1) + 1];
    double *rows = NULL, *moments = NULL, *values = NULL, *vectors = NULL;
    (void)kind;
    TRY(find_mass(f));
    TRY(MEM_NEW(f->ctx, rows, p->v * d));
    TRY(MEM_NEW(f->ctx, moments, d * d));
    TRY(MEM_NEW(f->ctx, values, d));
    TRY(MEM_NEW(f->ctx, vectors, d * d));
    memset(value, 0, (size_t)d * sizeof *value);
    for (int64_t r = 0; r < p->v; r++)
        for (int64_t k = 0; k < d; k++)
            value[k] += f->mass[r] * p->support[r * d + k];
    for (int64_t r = 0; r < p->v; r++)
        for (int64_t k = 0; k < d; k++)
            rows[r * d + k] = p->support[r * d + k] - value[k];
    weigh_by_mass(rows, f->mass, p->v, d);
    la_gemm(true, false, d, d, p->v, 1, rows, d, rows, d, 0, moments, d);
    TRY(la_eigen_symmetric(f->ctx, d, moments, values, vectors));
    for (int64_t j = 0; j < keep; j++)
        memcpy(value + d + j * d, vectors + (d - 1 - j) * d, (size_t)d * sizeof *value);
    point_components(value + d, keep, d);
done:
    MEM_FREE(f->ctx, rows, moments, values, vectors);
    return status;
}

/* ---- align ---- */

static ddsc_status fit_align(fitting *f, recipe_kind kind, double *value)
{
    measures_grid grid = {0};
    CHECK(parts_find_grid(f->ctx, &grid, f->p.v, f->p.d, f->p.support));
    return recipe_fit_lattice(f->ctx, &f->p, kind, &grid, value);
}

/* ---- all transforms ---- */

static ddsc_status transform_check(ddsc_context *ctx, const ddsc_transform_settings *set,
                                   const measures *m)
{
    if ((unsigned)set->normalize > DDSC_NORMALIZE_RANK ||
        (unsigned)set->align > DDSC_ALIGN_PRINCIPAL)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "transform settings: normalize is %d and align is %d; at least one "
                        "is out of range",
                        (int)set->normalize, (int)set->align);
    if (set->pca < 0 || set->pca > m->d)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "pca = %lld: the points have %lld coordinates; use a number from 1 to %lld",
                        (long long)set->pca, (long long)m->d, (long long)m->d);
    if (set->per_item < 0)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "per_item = %lld: must not be negative",
                        (long long)set->per_item);
    if (m->words.n > 0 && (set->arcsinh || set->logicle || set->log1p || set->batch ||
                           set->normalize || set->pca || set->align))
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "the points are fitted word vectors, which must stay fixed so that "
                        "later documents can be encoded; only per_item can be used with "
                        "them");
    return DDSC_OK;
}

static ddsc_status fit_all(fitting *f, const ddsc_transform_settings *set)
{
    static const recipe_kind normal[] = {0, RECIPE_STANDARD, RECIPE_ROBUST, RECIPE_RANK};
    static const recipe_kind align[] = {0, RECIPE_CENTER, RECIPE_SIZE, RECIPE_DESKEW,
                                        RECIPE_PRINCIPAL};
    if (set->per_item)
        CHECK(add_step(f, RECIPE_PER_ITEM, set->per_item, NULL));
    if (set->arcsinh)
        CHECK(fit_arcsinh(f, set->arcsinh));
    if (set->logicle)
        CHECK(fit_logicle(f, set->logicle));
    if (set->log1p)
        CHECK(add_step(f, RECIPE_LOG1P, 0, NULL));
    if (set->batch) {
        CHECK(recipe_find_batches(f->ctx, &f->r, f->m, set->batch));
        CHECK(add_step(f, RECIPE_BATCH, f->r.batches.n - 1, fit_batches));
    }
    if (set->normalize)
        CHECK(add_step(f, normal[set->normalize], 0,
                       set->normalize == DDSC_NORMALIZE_STANDARD ? fit_standard : fit_quantiles));
    if (set->pca)
        CHECK(add_step(f, RECIPE_PCA, set->pca, fit_components));
    if (set->align)
        CHECK(add_step(f, align[set->align], 0, fit_align));
    return DDSC_OK;
}

ddsc_status ddsc_measures_transform(ddsc_context *ctx, ddsc_measures **out, const ddsc_measures *m,
                                    const ddsc_transform_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_transform_settings set;
    fitting f = {.ctx = ctx, .m = m};
    CHECK(ctx_enter_new(ctx, out));
    CHECK(ctx_need(ctx, m, "measures"));
    CHECK(sized_take(ctx, &settings_struct, &set, settings));
    CHECK(transform_check(ctx, &set, m));
    const char *before = stage_enter(ctx, "transform");
    TRY(recipe_take_parts(ctx, &f.p, m));
    TRY(measures_recipe_copy(ctx, &f.r, &m->recipe));
    TRY(fit_all(&f, &set));
    TRY(recipe_finish(ctx, out, &f.p, m, &f.r));
done:
    measures_parts_free(ctx, &f.p);
    measures_recipe_free(ctx, &f.r);
    mem_free(ctx, f.mass);
    stage_leave(ctx, before);
    return status;
}

const char *ddsc_measures_get_transform(const ddsc_measures *m, int64_t step)
{
    return m && step >= 0 && step < m->recipe.n ? recipe_name(m->recipe.step[3 * step]) : NULL;
}

const char *ddsc_measures_get_batch(const ddsc_measures *m, int64_t k)
{
    return m && k >= 0 && k < m->recipe.batches.n ? texts_get(&m->recipe.batches, k) : NULL;
}
