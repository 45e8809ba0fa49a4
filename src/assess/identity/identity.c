/* Compares two labelings of the same items: finds clusters that stayed the same, split, merged,
 * appeared or vanished. The categories follow Spiliopoulou, Ntoutsi, Theodoridis and Schult (MONIC,
 * 2006). The overlap is symmetric (Jaccard), so a large cluster and a small cluster inside it are
 * not the same. */
#include "assess/identity/identity.h"

#include "base/sized.h"

enum { MOST_SOURCES = 5, MOST_CELLS = 1 << 26 };

static const ddsc_identity_settings defaults = {.overlap = 0.5, .part = 0.2};
SIZED_INIT(identity_settings_struct, ddsc_identity_settings, new_sizes, &defaults);

struct ddsc_identity {
    ddsc_context *ctx;
    ddsc_identity_view view;
    ddsc_identity_settings set;
    int32_t *number, *same, *same_new, *unused;
    int64_t *common, *in_old,
        *in_new; /* items of each pair of clusters; shared items of each cluster */
    int64_t *size_old, *size_new;
    int64_t *parts_old, *parts_new; /* number of parts of each cluster in the other result */
    int64_t n_events, event_capacity;
    ddsc_identity_event *event;
    const ddsc_identity_event **event_list;
};

static void event_free(ddsc_context *ctx, const ddsc_identity_event *e)
{
    MEM_FREE(ctx, (void *)(uintptr_t)e->words, (void *)(uintptr_t)e->of,
             (void *)(uintptr_t)e->common, (void *)(uintptr_t)e->parts);
}

void ddsc_identity_destroy(ddsc_identity *t)
{
    if (!t)
        return;
    ddsc_context *ctx = t->ctx;
    for (int64_t e = 0; e < t->n_events; e++)
        event_free(ctx, &t->event[e]);
    MEM_FREE(ctx, t->event_list, t->event, t->parts_new, t->parts_old, t->size_new, t->size_old,
             t->in_new, t->in_old, t->common, t->unused, t->same_new, t->same, t->number);
    mem_free(ctx, t);
}

SIZED_VIEW(ddsc_identity, 0)

const char *ddsc_identity_get_kind_name(ddsc_identity_kind kind)
{
    static const char *const names[] = {"same", "split", "merged", "new", "vanished"};
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

static int64_t common_of(const ddsc_identity *t, int64_t a, int64_t b)
{
    return t->common[a * t->view.k_new + b];
}

static double overlap_of(const ddsc_identity *t, int64_t a, int64_t b)
{
    int64_t both = common_of(t, a, b), either = t->in_old[a] + t->in_new[b] - both;
    return either > 0 ? (double)both / (double)either : 0;
}

/* ---- counts ---- */

static ddsc_status identity_check_label(ddsc_context *ctx, const char *what, int64_t i,
                                        int32_t label, int64_t k)
{
    if (label < k)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                    "identity: %s label %lld is %lld; labels must be less than k = %lld", what,
                    (long long)i, (long long)label, (long long)k);
}

static ddsc_status count_common(ddsc_context *ctx, ddsc_identity *t, const int32_t *before,
                                const int32_t *after)
{
    for (int64_t i = 0; i < t->view.n; i++) {
        CHECK(identity_check_label(ctx, "old", i, before[i], t->view.k_old));
        CHECK(identity_check_label(ctx, "new", i, after[i], t->view.k_new));
        if (before[i] >= 0)
            t->in_old[before[i]]++;
        if (after[i] >= 0)
            t->in_new[after[i]]++;
        if (before[i] >= 0 && after[i] >= 0)
            t->common[before[i] * t->view.k_new + after[i]]++;
    }
    return DDSC_OK;
}

/* Copies the cluster sizes in one result, which include items that are not in the other result. */
static ddsc_status take_sizes(ddsc_context *ctx, int64_t **sizes, const int64_t *given,
                              const int64_t *shared, int64_t k, const char *what)
{
    CHECK(MEM_COPY(ctx, *sizes, given ? given : shared, k));
    for (int64_t c = 0; c < k; c++)
        if ((*sizes)[c] < shared[c])
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                            "identity: %s cluster %lld has size %lld, but %lld shared items", what,
                            (long long)c, (long long)(*sizes)[c], (long long)shared[c]);
    return DDSC_OK;
}

/* ---- clusters that stayed the same ---- */

static ddsc_status find_same(ddsc_context *ctx, ddsc_identity *t)
{
    ddsc_status status = DDSC_OK;
    int64_t k_old = t->view.k_old, k_new = t->view.k_new, k = BASE_MAX(k_old, k_new);
    double *cost = NULL;
    int32_t *into = NULL;
    TRY(MEM_ZERO(ctx, cost, k * k));
    TRY(MEM_NEW(ctx, into, k));
    for (int64_t a = 0; a < k_old; a++)
        for (int64_t b = 0; b < k_new; b++) {
            double overlap = overlap_of(t, a, b);
            cost[a * k + b] = overlap >= t->set.overlap ? -overlap : 0;
        }
    for (int64_t c = 0; c < k; c++)
        into[c] = (int32_t)c;
    TRY(identity_match(ctx, into, cost, k));
    for (int64_t a = 0; a < k_old; a++)
        t->same_new[a] = -1;
    for (int64_t b = 0; b < k_new; b++)
        t->same[b] = -1;
    for (int64_t a = 0; a < k_old; a++)
        if (cost[a * k + into[a]] < 0) {
            t->same_new[a] = into[a];
            t->same[into[a]] = (int32_t)a;
        }
done:
    MEM_FREE(ctx, into, cost);
    return status;
}

/* Returns true if all new clusters have distinct numbers and no cluster uses a number listed as
 * unused. */
static bool numbers_hold(const ddsc_identity *t)
{
    const ddsc_identity_view *v = &t->view;
    int64_t n_used = 0;
    for (int64_t b = 0; b < v->k_new; b++)
        n_used += t->number[b] >= 0;
    return invariant_range(t->number, v->k_new, -1, v->n_numbers) &&
           invariant_ascending(t->unused, v->n_unused) && n_used + v->n_unused == v->n_numbers;
}

/* Numbers the new clusters, and lists the unused numbers. */
static ddsc_status give_numbers(ddsc_context *ctx, ddsc_identity *t)
{
    ddsc_identity_view *v = &t->view;
    int64_t next = BASE_MAX(t->set.n_numbers, v->k_old);
    bool keep = t->set.keep_numbers;
    if (next > INT32_MAX - v->k_new)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "identity: n_numbers = %lld is out of range",
                        (long long)next);
    for (int64_t b = 0; b < v->k_new; b++) {
        bool empty = t->size_new[b] == 0;
        int64_t fresh = keep ? b : next;
        t->number[b] = (int32_t)(empty ? -1 : t->same[b] >= 0 && !keep ? t->same[b] : fresh);
        next += !empty && !keep && t->same[b] < 0;
    }
    v->n_numbers = keep ? BASE_MAX(t->set.n_numbers, v->k_new) : next;
    CHECK(MEM_ZERO(ctx, t->unused, v->n_numbers));
    for (int64_t b = 0; b < v->k_new; b++)
        if (t->number[b] >= 0)
            t->unused[t->number[b]] = 1;
    for (int32_t c = 0; c < v->n_numbers; c++)
        if (!t->unused[c])
            t->unused[v->n_unused++] = c;
    DDSC_ASSERT(numbers_hold(t));
    return DDSC_OK;
}

/* ---- events ---- */

/* A cluster in one of the two results. The "other" clusters are the clusters in the other
 * result. */
typedef struct side {
    bool old;
    int64_t cluster; /* label of the cluster */
} side;

static int64_t others(const ddsc_identity *t, side s)
{
    return s.old ? t->view.k_new : t->view.k_old;
}

static int64_t common_with(const ddsc_identity *t, side s, int64_t other)
{
    return s.old ? common_of(t, s.cluster, other) : common_of(t, other, s.cluster);
}

static int64_t shared_of(const ddsc_identity *t, side s)
{
    return (s.old ? t->in_old : t->in_new)[s.cluster];
}

static int64_t shared_of_other(const ddsc_identity *t, side s, int64_t other)
{
    return (s.old ? t->in_new : t->in_old)[other];
}

/* Returns true if the other cluster is a part of this one: it contains a large enough share of this
 * cluster, and more than half of its items are in this cluster. */
static bool is_part(const ddsc_identity *t, side s, int64_t other)
{
    int64_t both = common_with(t, s, other);
    return both > 0 && (double)both >= t->set.part * (double)shared_of(t, s) &&
           2 * both > shared_of_other(t, s, other);
}

static int64_t count_parts(const ddsc_identity *t, side s)
{
    int64_t n = 0;
    for (int64_t other = 0; other < others(t, s); other++)
        n += is_part(t, s, other);
    return n;
}

static int64_t parts_of(const ddsc_identity *t, side s)
{
    return (s.old ? t->parts_old : t->parts_new)[s.cluster];
}

/* Returns true if the cluster is a part of an old cluster that split or of a new cluster that
 * merged old ones. */
static bool is_part_of_any(const ddsc_identity *t, side s)
{
    for (int64_t other = 0; other < others(t, s); other++) {
        side whole = {!s.old, other};
        if (is_part(t, whole, s.cluster) && parts_of(t, whole) >= 2)
            return true;
    }
    return false;
}

static bool happened(const ddsc_identity *t, ddsc_identity_kind kind, side s)
{
    bool matched = (s.old ? t->same_new : t->same)[s.cluster] >= 0;
    if ((s.old ? t->size_old : t->size_new)[s.cluster] == 0)
        return false;
    switch (kind) {
    case DDSC_IDENTITY_SAME: return matched;
    case DDSC_IDENTITY_SPLIT:
    case DDSC_IDENTITY_MERGED: return parts_of(t, s) >= 2;
    default: return !matched && parts_of(t, s) < 2 && !is_part_of_any(t, s);
    }
}

/* Returns true if the description of the event names the other cluster. */
static bool is_named(const ddsc_identity *t, ddsc_identity_kind kind, side s, int64_t other)
{
    if (kind == DDSC_IDENTITY_SAME)
        return t->same[s.cluster] == other;
    if (kind == DDSC_IDENTITY_SPLIT || kind == DDSC_IDENTITY_MERGED)
        return is_part(t, s, other);
    return common_with(t, s, other) > 0;
}

/* Lists the other clusters of an event by decreasing number of common items, but no more than
 * `most` of them. */
static void list_parts(const ddsc_identity *t, ddsc_identity_event *e, side s, int32_t *part,
                       int64_t *common, int64_t *of, int64_t most)
{
    int64_t n = 0;
    for (int64_t other = 0; other < others(t, s); other++) {
        if (!is_named(t, e->kind, s, other))
            continue;
        int64_t both = common_with(t, s, other), at = BASE_MIN(n, most);
        for (; at > 0 && common[at - 1] < both; at--)
            if (at < most) {
                part[at] = part[at - 1];
                common[at] = common[at - 1];
                of[at] = of[at - 1];
            }
        if (at == most)
            continue;
        part[at] = s.old ? t->number[other] : (int32_t)other;
        common[at] = both;
        of[at] = shared_of_other(t, s, other);
        n = BASE_MIN(n + 1, most);
    }
    e->n_parts = n;
}

static ddsc_status add_event(ddsc_context *ctx, ddsc_identity *t, ddsc_identity_kind kind, side s)
{
    ddsc_status status = DDSC_OK;
    int64_t most = kind == DDSC_IDENTITY_SAME  ? 1
                   : kind >= DDSC_IDENTITY_NEW ? MOST_SOURCES
                                               : parts_of(t, s);
    ddsc_identity_event e = {.kind = kind};
    int32_t *part = NULL;
    int64_t *common = NULL, *of = NULL;
    char *words = NULL;
    TRY(MEM_RESERVE(ctx, t->event, &t->event_capacity, t->n_events + 1));
    TRY(MEM_ZERO(ctx, part, most));
    TRY(MEM_ZERO(ctx, common, most));
    TRY(MEM_ZERO(ctx, of, most));
    e.cluster = s.old ? (int32_t)s.cluster : t->number[s.cluster];
    e.size = (s.old ? t->size_old : t->size_new)[s.cluster];
    e.n_shared = shared_of(t, s);
    list_parts(t, &e, s, part, common, of, most);
    for (int64_t other = 0; other < others(t, s); other++)
        e.overlap = BASE_MAX(e.overlap, s.old ? overlap_of(t, s.cluster, other)
                                              : overlap_of(t, other, s.cluster));
    if (kind == DDSC_IDENTITY_SAME)
        e.overlap = overlap_of(t, t->same[s.cluster], s.cluster);
    e.parts = part;
    e.common = common;
    e.of = of;
    TRY(identity_words(ctx, &words, &e));
    e.words = words;
    t->event[t->n_events++] = e;
    part = NULL;
    common = of = NULL;
done:
    MEM_FREE(ctx, of, common, part);
    return status;
}

static ddsc_status find_events(ddsc_context *ctx, ddsc_identity *t)
{
    for (int64_t a = 0; a < t->view.k_old; a++)
        t->parts_old[a] = count_parts(t, (side){true, a});
    for (int64_t b = 0; b < t->view.k_new; b++)
        t->parts_new[b] = count_parts(t, (side){false, b});
    for (int kind = DDSC_IDENTITY_SAME; kind <= DDSC_IDENTITY_VANISHED; kind++) {
        bool old = kind == DDSC_IDENTITY_SPLIT || kind == DDSC_IDENTITY_VANISHED;
        for (int64_t c = 0; c < (old ? t->view.k_old : t->view.k_new); c++)
            if (happened(t, (ddsc_identity_kind)kind, (side){old, c}))
                CHECK(add_event(ctx, t, (ddsc_identity_kind)kind, (side){old, c}));
    }
    CHECK(MEM_NEW(ctx, t->event_list, t->n_events));
    for (int64_t e = 0; e < t->n_events; e++)
        t->event_list[e] = &t->event[e];
    return DDSC_OK;
}

/* ---- public call ---- */

static ddsc_status identity_take(ddsc_context *ctx, ddsc_identity *t,
                                 const ddsc_identity_settings *given, int64_t n, int64_t k_old,
                                 int64_t k_new)
{
    int64_t cells;
    CHECK(sized_take(ctx, &identity_settings_struct, &t->set, given));
    CHECK(ctx_check(ctx, t->set.overlap > 0 && t->set.overlap <= 1, "overlap", t->set.overlap,
                    "(0, 1]"));
    CHECK(ctx_check(ctx, t->set.part > 0 && t->set.part <= 1, "part", t->set.part, "(0, 1]"));
    CHECK(ctx_check(ctx, t->set.n_numbers >= 0, "n_numbers", (double)t->set.n_numbers, "0 .."));
    if (n < 0 || k_old < 1 || k_new < 1 || !mul_ok(k_old, k_new, &cells) || cells > MOST_CELLS)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "identity: n = %lld, k_old = %lld and k_new = %lld are out of range",
                        (long long)n, (long long)k_old, (long long)k_new);
    return DDSC_OK;
}

static ddsc_status identity_create(ddsc_context *ctx, ddsc_identity *t)
{
    const ddsc_identity_view *v = &t->view;
    CHECK(MEM_ZERO(ctx, t->common, v->k_old * v->k_new));
    CHECK(MEM_ZERO(ctx, t->in_old, v->k_old));
    CHECK(MEM_ZERO(ctx, t->in_new, v->k_new));
    CHECK(MEM_NEW(ctx, t->parts_old, v->k_old));
    CHECK(MEM_NEW(ctx, t->parts_new, v->k_new));
    CHECK(MEM_NEW(ctx, t->number, v->k_new));
    CHECK(MEM_NEW(ctx, t->same, v->k_new));
    return MEM_NEW(ctx, t->same_new, v->k_old);
}

static void identity_show(ddsc_identity *t)
{
    t->view.numbers = t->number;
    t->view.same = t->same;
    t->view.common = t->common;
    t->view.unused = t->unused;
    t->view.n_events = t->n_events;
    t->view.events = t->event_list;
}

ddsc_status identity_find(ddsc_context *context, ddsc_identity **identity, int64_t n,
                          const int32_t *old_labels, int64_t k_old, const int32_t *new_labels,
                          int64_t k_new, const ddsc_identity_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_identity *t = NULL;
    TRY(MEM_ZERO(context, t, 1));
    t->ctx = context;
    t->view = (ddsc_identity_view){.n = n, .k_old = k_old, .k_new = k_new};
    TRY(identity_take(context, t, settings, n, k_old, k_new));
    TRY(identity_create(context, t));
    TRY(count_common(context, t, old_labels, new_labels));
    TRY(take_sizes(context, &t->size_old, t->set.old_sizes, t->in_old, k_old, "old"));
    TRY(take_sizes(context, &t->size_new, t->set.new_sizes, t->in_new, k_new, "new"));
    TRY(find_same(context, t));
    TRY(give_numbers(context, t));
    TRY(find_events(context, t));
    identity_show(t);
    *identity = t;
    t = NULL;
done:
    ddsc_identity_destroy(t);
    return status;
}

ddsc_status ddsc_identity_run(ddsc_context *context, ddsc_identity **identity, int64_t n,
                              const int32_t *old_labels, int64_t k_old, const int32_t *new_labels,
                              int64_t k_new, const ddsc_identity_settings *settings)
{
    CHECK(ctx_enter_new(context, identity));
    CHECK(ctx_need(context, old_labels, "old_labels"));
    CHECK(ctx_need(context, new_labels, "new_labels"));
    return identity_find(context, identity, n, old_labels, k_old, new_labels, k_new, settings);
}
