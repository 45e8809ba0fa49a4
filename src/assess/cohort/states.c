/* Assigns the points of all items to states. States are the point types of the input, or else
 * k-means clusters of a sample of all points. */
#include "assess/cohort/states.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "base/text.h"
#include "numeric/linalg/linalg.h"

SIZED_INIT(states_settings_struct, ddsc_states_settings, n_states, NULL);

/* STATES_SAMPLE points are sufficient for 20 states. With many coordinates, fewer points are used,
 * so that the sample has at most STATES_ENTRIES numbers. */
enum {
    STATES_SAMPLE = 4000,
    STATES_ENTRIES = 200000,
    STATES_LEAST = 1000,
    STATES_RESTARTS = 10,
    NAME_SIZE = 320,
    NAME_PARTS = 2,
    NAME_BYTES = 100, /* of a coordinate */
    GRAIN = 4096
};
/* A coordinate is part of the name of a state if its mean within the state differs from its overall
 * mean by more than this many standard deviations. */
static const double NAME_FROM = 0.5;

/* ---- sample ---- */

static void draw_item_points(int32_t *row, const measures *m, int64_t item, int64_t n)
{
    item_view v = measures_item(m, item);
    double below = 0;
    int64_t e = 0;
    for (int64_t k = 0; k < n; k++) {
        double at = ((double)k + 0.5) / (double)n;
        while (e + 1 < v.n && below + v.weight[e] < at)
            below += v.weight[e++];
        row[k] = v.index[e];
    }
}

ddsc_status states_draw(ddsc_context *ctx, int32_t **row, int64_t *n, const measures *m,
                        int64_t n_items, const int64_t *items, int64_t most)
{
    int64_t n_used = BASE_MIN(n_items, most), each = most / BASE_MAX(n_used, 1);
    *n = n_used * each;
    CHECK(MEM_NEW(ctx, *row, BASE_MAX(*n, 1)));
    for (int64_t u = 0; u < n_used; u++) {
        int64_t i = (int64_t)((double)u * (double)n_items / (double)n_used);
        draw_item_points(*row + u * each, m, items ? items[i] : i, each);
    }
    return DDSC_OK;
}

/* ---- point types ---- */

/* Assigns a number to each point type. Sets *found to false if there are too many types. */
static ddsc_status number_types(ddsc_states *s, const measures *m, bool *found)
{
    ddsc_status status = DDSC_OK;
    text_table names = {0};
    bool is_new;
    *found = false;
    if (!measures_has_types(m))
        return DDSC_OK;
    TRY(MEM_NEW(s->ctx, s->of, m->v));
    for (int64_t p = 0; p < m->v && names.n <= STATES_MOST; p++) {
        const char *name = texts_get(&m->points, p);
        int64_t number;
        name = *name ? name : "no type";
        TRY(text_table_add(s->ctx, &names, name, strlen(name), &number, &is_new));
        s->of[p] = (int32_t)number;
    }
    *found = names.n <= STATES_MOST;
    if (*found) {
        s->view.given = 1;
        s->view.n_states = names.n;
        s->names.n = names.n;
        s->names.text = names.text;
        s->names.at = names.at;
        names.text = NULL;
        names.at = NULL;
    }
done:
    text_table_free(s->ctx, &names);
    return status;
}

/* ---- k-means ---- */

typedef struct nearest_job {
    const measures *m;
    const double *centers, *middle;
    int64_t k;
    int32_t *of;
} nearest_job;

static ddsc_status assign_points(void *arg, int64_t begin, int64_t end, int worker)
{
    const nearest_job *a = arg;
    (void)worker;
    for (int64_t p = begin; p < end; p++)
        a->of[p] = states_nearest(a->centers, a->k, a->m->d, a->m->support + p * a->m->d);
    return DDSC_OK;
}

static ddsc_status cluster_points(ddsc_states *s, const measures *m, int64_t wanted)
{
    ddsc_status status = DDSC_OK;
    int32_t *row = NULL;
    double *rows = NULL, *middle = NULL, *centers = NULL;
    int64_t n, k = wanted;
    int64_t most = BASE_MAX(BASE_MIN(STATES_SAMPLE, STATES_ENTRIES / m->d), STATES_LEAST);
    most = BASE_MIN(BASE_MAX(most, 20 * wanted), m->nnz);
    TRY(states_draw(s->ctx, &row, &n, m, m->n, NULL, most));
    TRY(MEM_NEW(s->ctx, rows, n * m->d));
    TRY(MEM_NEW(s->ctx, middle, m->d));
    for (int64_t i = 0; i < n; i++)
        memcpy(rows + i * m->d, measures_point(m, row[i]), (size_t)m->d * sizeof *rows);
    la_center(n, m->d, rows, middle, rows); /* centering reduces rounding errors */
    if (wanted == 0)
        TRY(states_choose(s, &k, n, m->d, rows));
    TRY(MEM_NEW(s->ctx, centers, k * m->d));
    TRY(states_cluster(s->ctx, centers, &k, k, STATES_RESTARTS, n, m->d, rows));
    for (int64_t c = 0; c < k * m->d; c++)
        centers[c] += middle[c % m->d];
    if (!s->of)
        TRY(MEM_NEW(s->ctx, s->of, m->v));
    TRY(parallel_for(s->ctx, m->v, GRAIN, assign_points,
                     &(nearest_job){m, centers, middle, k, s->of}));
    s->view.n_states = k;
    s->view.n_sampled = n;
done:
    MEM_FREE(s->ctx, row, rows, middle, centers);
    return status;
}

/* ---- shares and means ---- */

static void add_shares(ddsc_states *s, const measures *m)
{
    int64_t k = s->view.n_states;
    for (int64_t i = 0; i < m->n; i++) {
        item_view v = measures_item(m, i);
        for (int64_t e = 0; e < v.n; e++)
            s->share[i * k + s->of[v.index[e]]] += v.weight[e];
        for (int64_t c = 0; c < k; c++)
            s->total[c] += s->share[i * k + c] / (double)m->n;
    }
}

/* Returns true if the state shares of every item sum to 1. */
static bool shares_hold(const ddsc_states *s, int64_t n)
{
    int64_t k = s->view.n_states;
    bool holds = invariant_between(s->share, n * k, 0, 1 + 0x1p-30);
    for (int64_t i = 0; i < n; i++) {
        double total = 0;
        for (int64_t c = 0; c < k; c++)
            total += s->share[i * k + c];
        holds &= fabs(total - 1) <= 0x1p-30;
    }
    return holds;
}

/* Renumbers the states by descending share. */
static ddsc_status sort_states(ddsc_states *s, const measures *m)
{
    ddsc_status status = DDSC_OK;
    int64_t k = s->view.n_states;
    double *key = NULL;
    int32_t *order = NULL, *rank = NULL;
    const char **name = NULL;
    measures_texts sorted = {0};
    TRY(MEM_NEW(s->ctx, key, k));
    TRY(MEM_NEW(s->ctx, order, k));
    TRY(MEM_NEW(s->ctx, rank, k));
    TRY(MEM_NEW(s->ctx, name, k));
    for (int64_t c = 0; c < k; c++)
        key[c] = -s->total[c];
    sort_order(order, key, k);
    for (int64_t c = 0; c < k; c++) {
        rank[order[c]] = (int32_t)c;
        name[c] = s->view.given ? texts_get(&s->names, order[c]) : "";
    }
    DDSC_ASSERT(invariant_permutation(rank, k));
    for (int64_t p = 0; p < m->v; p++)
        s->of[p] = rank[s->of[p]];
    memset(s->share, 0, (size_t)(m->n * k) * sizeof *s->share);
    memset(s->total, 0, (size_t)k * sizeof *s->total);
    add_shares(s, m);
    if (s->view.given) {
        TRY(texts_pack(s->ctx, &sorted, k, name));
        texts_free(s->ctx, &s->names);
        s->names = sorted;
    }
done:
    MEM_FREE(s->ctx, key, order, rank, (void *)name);
    return status;
}

/* Returns the standard deviation, which is 0 for equal values although their mean has a rounding
 * error. Values divided by this error would be meaningless. */
static double to_deviation(double variance, double mean)
{
    static const double ROUNDING = 1e-10;
    double deviation = sqrt(variance);
    return deviation > ROUNDING * fabs(mean) ? deviation : 0;
}

/* Computes the means or, if `squares` is true, the standard deviations. */
static void add_moments(ddsc_states *s, const measures *m, double *state, double *all, bool squares)
{
    int64_t k = s->view.n_states, d = m->d;
    for (int64_t i = 0; i < m->n; i++) {
        item_view v = measures_item(m, i);
        for (int64_t e = 0; e < v.n; e++) {
            const double *x = measures_point(m, v.index[e]);
            int64_t c = s->of[v.index[e]];
            double w = v.weight[e] / (double)m->n;
            for (int64_t a = 0; a < d; a++) {
                double own = squares ? x[a] - s->mean[c * d + a] : x[a];
                double far = squares ? x[a] - s->overall[a] : x[a];
                state[c * d + a] += w * (squares ? own * own : own);
                all[a] += w * (squares ? far * far : far);
            }
        }
    }
    for (int64_t c = 0; c < k; c++)
        for (int64_t a = 0; a < d; a++)
            state[c * d + a] /= s->total[c] > 0 ? s->total[c] : 1;
    for (int64_t a = 0; squares && a < k * d; a++)
        state[a] = to_deviation(state[a], s->mean[a]);
    for (int64_t a = 0; squares && a < d; a++)
        all[a] = to_deviation(all[a], s->overall[a]);
}

static ddsc_status describe_states(ddsc_states *s, const measures *m)
{
    int64_t k = s->view.n_states;
    CHECK(MEM_ZERO(s->ctx, s->share, m->n * k));
    CHECK(MEM_ZERO(s->ctx, s->total, k));
    CHECK(MEM_ZERO(s->ctx, s->mean, k * m->d));
    CHECK(MEM_ZERO(s->ctx, s->deviation, k * m->d));
    CHECK(MEM_ZERO(s->ctx, s->overall, m->d));
    CHECK(MEM_ZERO(s->ctx, s->overall_deviation, m->d));
    DDSC_ASSERT(invariant_range(s->of, m->v, 0, k));
    add_shares(s, m);
    CHECK(sort_states(s, m));
    DDSC_ASSERT(shares_hold(s, m->n));
    DDSC_ASSERT(invariant_descending(s->total, k));
    add_moments(s, m, s->mean, s->overall, false);
    add_moments(s, m, s->deviation, s->overall_deviation, true);
    return DDSC_OK;
}

/* ---- names ---- */

static double far_of(const ddsc_states *s, int64_t state, int64_t coordinate)
{
    double spread = s->overall_deviation[coordinate];
    double off = s->mean[state * s->view.dim + coordinate] - s->overall[coordinate];
    return spread > 0 ? off / spread : 0;
}

/* Returns the coordinate with the largest deviation that exceeds NAME_FROM and is less than the
 * deviation of `last` (without this limit if `last` is -1), or -1 if there is none. */
static int64_t next_coordinate(const ddsc_states *s, int64_t state, int64_t last)
{
    int64_t best = -1;
    double below = last < 0 ? INFINITY : fabs(far_of(s, state, last)), most = NAME_FROM;
    for (int64_t a = 0; a < s->view.dim; a++) {
        double far = fabs(far_of(s, state, a));
        if (far < below && far > most) {
            most = far;
            best = a;
        }
    }
    return best;
}

static void write_name(char *out, const ddsc_states *s, const measures *m, int64_t state)
{
    int n = snprintf(out, NAME_SIZE, "S%lld", (long long)state + 1);
    int64_t at = -1;
    for (int part = 0; m->coordinates.n > 0 && part < NAME_PARTS; part++) {
        at = next_coordinate(s, state, at);
        if (at < 0)
            break;
        const char *name = texts_get(&m->coordinates, at);
        n += snprintf(out + n, (size_t)(NAME_SIZE - n), "%s%.*s %s", part ? ", " : " (",
                      (int)text_cut(name, strlen(name), NAME_BYTES), name,
                      far_of(s, state, at) > 0 ? "high" : "low");
    }
    if (n < NAME_SIZE && strchr(out, '('))
        snprintf(out + n, (size_t)(NAME_SIZE - n), ")");
}

static ddsc_status name_states(ddsc_states *s, const measures *m)
{
    ddsc_status status = DDSC_OK;
    int64_t k = s->view.n_states;
    char *space = NULL;
    const char **name = NULL;
    if (s->view.given)
        return DDSC_OK;
    TRY(MEM_NEW(s->ctx, space, k * NAME_SIZE));
    TRY(MEM_NEW(s->ctx, name, k));
    for (int64_t c = 0; c < k; c++) {
        write_name(space + c * NAME_SIZE, s, m, c);
        name[c] = space + c * NAME_SIZE;
    }
    TRY(texts_pack(s->ctx, &s->names, k, name));
done:
    MEM_FREE(s->ctx, space, (void *)name);
    return status;
}

/* ---- public ---- */

static void fill_states_view(ddsc_states *s, const measures *m)
{
    ddsc_states_view *v = &s->view;
    v->n_items = m->n;
    v->n_support = m->v;
    v->of = s->of;
    v->share = s->share;
    v->total = s->total;
    v->mean = s->mean;
    v->deviation = s->deviation;
    v->overall = s->overall;
    v->overall_deviation = s->overall_deviation;
    v->tried = s->tried;
    v->agreement = s->agreement;
}

ddsc_status ddsc_states_run(ddsc_context *context, ddsc_states **states, const ddsc_measures *m,
                            const ddsc_states_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_states *s = NULL;
    ddsc_states_settings set;
    bool given = false;
    CHECK(ctx_enter_new(context, states));
    const char *before = stage_enter(context, "states");
    TRY(sized_take(context, &states_settings_struct, &set, settings));
    TRY(ctx_need(context, m, "measures"));
    TRY(ctx_check(context, set.n_states >= 0 && set.n_states <= STATES_MOST, "n_states",
                  (double)set.n_states, "0 .. 200"));
    TRY(MEM_ZERO(context, s, 1));
    s->ctx = context;
    s->view.dim = m->d;
    if (m->n == 0) {
        status = ctx_fail(context, DDSC_ERROR_INPUT, "states: the set has no items");
        goto done;
    }
    if (set.n_states == 0)
        TRY(number_types(s, m, &given));
    if (!given)
        TRY(cluster_points(s, m, set.n_states));
    TRY(describe_states(s, m));
    TRY(name_states(s, m));
    fill_states_view(s, m);
    *states = s;
    s = NULL;
done:
    ddsc_states_destroy(s);
    stage_leave(context, before);
    return status;
}

void ddsc_states_destroy(ddsc_states *s)
{
    if (!s)
        return;
    ddsc_context *ctx = s->ctx;
    texts_free(ctx, &s->names);
    MEM_FREE(ctx, s->of, s->share, s->total, s->mean, s->deviation, s->overall,
             s->overall_deviation, s->tried, s->agreement);
    mem_free(ctx, s);
}

SIZED_VIEW(ddsc_states, 0)

const char *ddsc_states_get_name(const ddsc_states *states, int64_t state)
{
    if (!states || state < 0 || state >= states->view.n_states)
        return NULL;
    return texts_get(&states->names, state);
}
