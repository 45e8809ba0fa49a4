/* Manages the candidate lists of the pruned search.
 *
 * The first list of item i contains the `width` other items with the smallest keys of first bounds.
 * The list is complete up to the last of these keys: no omitted item has a smaller key. If the
 * limit of the item falls below the last key, no omitted item can be a neighbor. Otherwise, the
 * walk (pruned_walk.c) processes the omitted pairs. A pair may be on the lists of both items.
 *
 * The array `seen` stores which items were on the first lists, in ascending order and with a mark
 * on settled pairs. The walk finds settled pairs by binary search and skips them. Lists are cleaned
 * and sorted once per round. They are nearly sorted, so sorting takes about O(width) time per item.
 * The memory is O(n width), where width = max(LIST_LEAST, LIST_PER_TAU tau). */
#include "neighbors/search/pruned.h"
#include "neighbors/search/tuning.h"

static const uint32_t SETTLED_MARK = (uint32_t)1 << 31;

static bool candidate_before(candidate x, candidate y)
{
    return x.bound < y.bound || (x.bound == y.bound && x.index < y.index);
}

/* Sorts a list with Shell sort, which makes only one pass per gap if the list is nearly sorted. */
static void list_sort(candidate_list *l)
{
    static const int64_t gaps[] = {29524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1};
    for (size_t k = 0; k < sizeof gaps / sizeof *gaps; k++)
        for (int64_t gap = gaps[k], p = gap; p < l->n; p++) {
            candidate moving = l->at[p];
            int64_t q = p;
            for (; q >= gap && candidate_before(moving, l->at[q - gap]); q -= gap)
                l->at[q] = l->at[q - gap];
            l->at[q] = moving;
        }
}

candidate *pruned_list_find(const pruned *s, int64_t item, int64_t other)
{
    const candidate_list *l = &s->list[item];
    for (int64_t k = 0; k < l->n; k++)
        if (l->at[k].index == other)
            return &l->at[k];
    return NULL;
}

/* ---- items on the first lists ---- */

/* Returns the entry of `other`, or NULL. Other threads may set marks at the same time. */
static uint32_t *seen_find(const pruned *s, int64_t item, int64_t other)
{
    uint32_t *row = s->seen + item * s->width;
    int64_t low = 0, high = s->width;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        uint32_t index = __atomic_load_n(&row[middle], __ATOMIC_RELAXED) & ~SETTLED_MARK;
        if (index == (uint32_t)other)
            return &row[middle];
        if (index < (uint32_t)other)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

seen_state pruned_seen(const pruned *s, int64_t item, int64_t other)
{
    const uint32_t *slot = seen_find(s, item, other);
    return !slot ? NOT_SEEN : *slot & SETTLED_MARK ? SEEN_SETTLED : SEEN;
}

void pruned_seen_settle(pruned *s, int64_t item, int64_t other)
{
    uint32_t *slot = seen_find(s, item, other);
    if (slot)
        __atomic_store_n(slot, (uint32_t)other | SETTLED_MARK, __ATOMIC_RELAXED);
}

/* ---- the first lists ---- */

typedef struct first_lists {
    pruned *s;
    const nearest *kept; /* heaps of the smallest first bounds, sorted by key */
    team_part rows;      /* current rows; s->pair contains their candidates */
} first_lists;

static ddsc_status gather_first(void *arg, int64_t begin, int64_t end, int worker)
{
    const first_lists *f = arg;
    int64_t width = f->s->width;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < width; k++) {
            int64_t at = (i - f->rows.begin) * width + k;
            f->s->pair[at] = (pair_ij){(int32_t)i, f->kept->index[i * width + k]};
            f->s->enough[at] = INFINITY;
        }
    return DDSC_OK;
}

static ddsc_status list_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const first_lists *f = arg;
    pruned *s = f->s;
    int64_t width = s->width;
    for (int64_t i = begin; i < end; i++) {
        const double *value = f->kept->value + i * width;
        const int32_t *index = f->kept->index + i * width;
        candidate_list *l = &s->list[i];
        /* The list contains all items with a smaller key than its last entry, or all items. */
        *l = (candidate_list){.at = s->storage + (i - s->own.begin) * width,
                              .n = width,
                              .complete_to =
                                  width == s->n - 1
                                      ? INFINITY
                                      : local_key(s->p->by, index[width - 1], value[width - 1])};
        for (int64_t k = 0; k < width; k++) {
            double bound = BASE_MAX(0, value[k]);
            if (s->p->offer.level[BOUND_FRAME])
                bound = fmax(bound, pruned_bound_of(s, BOUND_FRAME, (i - f->rows.begin) * width + k,
                                                    worker));
            bound = local_key(s->p->by, index[k], bound);
            l->at[k] = (candidate){.bound = bound, .index = index[k], .reached = HAS_FRAME};
            s->seen[i * width + k] = (uint32_t)index[k];
        }
        sort_i32((int32_t *)s->seen + i * width, width); /* no marks are set yet */
        DDSC_ASSERT(invariant_ascending((int32_t *)s->seen + i * width, width));
        DDSC_ASSERT(invariant_range((int32_t *)s->seen + i * width, width, 0, s->n));
        list_sort(l);
    }
    return DDSC_OK;
}

/* Fills the lists, one range of rows at a time, so that a device can compute the frame bounds of
 * many candidates at once. */
static ddsc_status lists_fill(pruned *s, const nearest *kept)
{
    int64_t step = BASE_MAX(LIST_PAIRS / s->width / 16, 1) * 16;
    s->made = false;
    for (int64_t begin = s->own.begin; begin < s->own.end; begin += step) {
        first_lists f = {s, kept, {begin, BASE_MIN(s->own.end, begin + step)}};
        s->n_pairs = (f.rows.end - begin) * s->width;
        if (s->p->offer.level[BOUND_FRAME]) {
            CHECK(MEM_RESERVE(s->ctx, s->pair, &s->pair_capacity, s->n_pairs));
            CHECK(MEM_RESERVE(s->ctx, s->enough, &s->enough_capacity, s->n_pairs));
            CHECK(team_rows(s->ctx, f.rows, 16, gather_first, &f));
            CHECK(pruned_bounds_make(s, BOUND_FRAME));
        }
        CHECK(team_rows(s->ctx, f.rows, 16, list_range, &f));
    }
    return DDSC_OK;
}

/* Sets *full to true if all heaps are full, on all ranks. */
static ddsc_status heaps_are_full(const pruned *s, bool *full)
{
    int64_t n_open = 0;
    for (int64_t i = s->own.begin; i < s->own.end; i++)
        n_open += s->near.count[i] < s->tau;
    CHECK(team_sum_i64(s->ctx, &n_open, 1));
    *full = n_open == 0;
    return DDSC_OK;
}

ddsc_status pruned_lists_make(pruned *s)
{
    ddsc_status status = DDSC_OK;
    int64_t all = s->n * (s->n - 1) / 2;
    nearest kept = {0};
    bool full = false;
    TRY(MEM_ZERO(s->ctx, s->list, s->n)); /* complete_to is 0: any item may be missing */
    if (s->p->offer.short_lists && s->p->known)
        TRY(heaps_are_full(s, &full));
    if (full)
        return DDSC_OK;
    int64_t width = s->p->offer.short_lists ? LIST_PER_TAU_SHORT * s->tau
                                            : BASE_MAX(LIST_LEAST, LIST_PER_TAU * s->tau);
    s->width = BASE_MIN(s->n - 1, width);
    s->n_left = s->n * s->width;
    TRY(nearest_create(s->ctx, &kept, 0, s->n, s->width));
    kept.by = s->p->by;
    progress_begin(s->ctx, "bounds", all);
    TRY(s->p->device->nearest(s->device, &kept));
    TRY(nearest_join(s->ctx, &kept, false));
    progress_end(s->ctx);
    pairs_count_first(s->p, all);
    TRY(nearest_sort(s->ctx, &kept, s->own, false));
    TRY(MEM_NEW(s->ctx, s->storage, (s->own.end - s->own.begin) * s->width));
    TRY(MEM_NEW(s->ctx, s->seen, s->n_left));
    TRY(lists_fill(s, &kept));
done:
    nearest_free(s->ctx, &kept);
    return status;
}

/* ---- values of an earlier search ---- */

typedef void (*known_fn)(pruned *s, int64_t item, int64_t other, double d2);

/* Calls fn for both items of each known pair, if this rank owns the item. */
static void for_known(pruned *s, known_fn fn)
{
    const ddsc_graph *g = s->p->known;
    for (int64_t i = 0; g && i < g->n; i++)
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++) {
            if (pruned_owns(s, i))
                fn(s, i, g->index[e], g->d2[e]);
            if (pruned_owns(s, g->index[e]))
                fn(s, g->index[e], i, g->d2[e]);
        }
}

static void offer_known(pruned *s, int64_t item, int64_t other, double d2)
{
    nearest_put_once(&s->near, item, other, d2);
}

void pruned_offer_known(pruned *s)
{
    for_known(s, offer_known);
}

static void settle_known(pruned *s, int64_t item, int64_t other, double d2)
{
    candidate *c = pruned_list_find(s, item, other);
    (void)d2;
    if (c)
        c->reached = SETTLED;
    pruned_seen_settle(s, item, other);
}

void pruned_settle_known(pruned *s)
{
    for_known(s, settle_known);
}

static bool list_names(const ddsc_graph *g, int64_t item, int64_t other)
{
    bool found = false;
    for (int64_t e = g->offset[item]; e < g->offset[item + 1]; e++)
        found |= g->index[e] == other;
    return found;
}

bool pruned_is_known(const pruned *s, int64_t i, int64_t j)
{
    const ddsc_graph *g = s->p->known;
    return g && list_names(g, BASE_MIN(i, j), BASE_MAX(i, j));
}

/* ---- adding and removing entries ---- */

static ddsc_status clean_range(void *arg, int64_t begin, int64_t end, int worker)
{
    pruned *s = arg;
    int64_t n_left = 0;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        candidate_list *l = &s->list[i];
        int64_t kept = 0;
        s->limit[i] = s->near.limit[i];
        for (int64_t k = 0; k < l->n; k++)
            if (l->at[k].reached != SETTLED && !beyond(l->at[k].bound, s->limit[i]))
                l->at[kept++] = l->at[k];
        DDSC_ASSERT(s->near.count[i] <= s->tau && !isnan(s->limit[i]));
        l->n = kept;
        list_sort(l);
        n_left += kept;
    }
    __atomic_fetch_add(&s->own_left, n_left, __ATOMIC_RELAXED);
    return DDSC_OK;
}

ddsc_status pruned_lists_clean(pruned *s, bool solved)
{
    int64_t rows = block_rows(s->n);
    s->own_left = 0;
    CHECK(team_for(s->ctx, s->n, rows, clean_range, s));
    return solved ? team_gather(s->ctx, s->limit, s->n, rows, sizeof *s->limit) : DDSC_OK;
}

static void list_put(pruned *s, int64_t item, int64_t other, const found_pair *e)
{
    candidate_list *l = &s->list[item];
    l->at[l->n++] = (candidate){.bound = local_key(s->p->by, other, e->bound),
                                .index = (int32_t)other,
                                .reached = e->reached};
}

/* Counts the entries, allocates the lists consecutively, and fills them. The order in which the
 * workers found the pairs has no effect, because the rounds sort the lists. */
ddsc_status pruned_lists_refill(pruned *s)
{
    int n_workers = s->p->n_workers;
    int64_t n_left = 0;
    CHECK(pruned_send_found(s));
    for (int64_t i = 0; i < s->n; i++)
        s->list[i].n = 0;
    for (int w = 0; w < n_workers; w++)
        for (int64_t k = 0; k < s->found[w].n; k++) {
            const found_pair *e = &s->found[w].at[k];
            s->list[e->i].n += e->at_i;
            s->list[e->j].n += e->at_j;
            n_left += e->at_i + e->at_j;
        }
    mem_free(s->ctx, s->storage);
    s->storage = NULL;
    CHECK(MEM_NEW(s->ctx, s->storage, n_left));
    candidate *at = s->storage;
    for (int64_t i = 0; i < s->n; i++) {
        s->list[i].at = at;
        at += s->list[i].n;
        s->list[i].n = 0;
    }
    for (int w = 0; w < n_workers; w++) {
        for (int64_t k = 0; k < s->found[w].n; k++) {
            const found_pair *e = &s->found[w].at[k];
            if (e->at_i)
                list_put(s, e->i, e->j, e);
            if (e->at_j)
                list_put(s, e->j, e->i, e);
        }
        s->found[w].n = 0;
    }
    return DDSC_OK;
}
