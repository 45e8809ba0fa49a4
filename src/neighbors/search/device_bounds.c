/* Computes lower bounds for the pruned search on a device (GPU): the first bounds of all pairs, and
 * the dual and tight bounds of the pairs in a round.
 *
 * The first bounds have the form low(i, j) = start_i + start_j - 2 rows_i . rows_j (backend.h). The
 * starts already account for the rounding error of float products in any order of summation, so any
 * product type of the device can be used that is at least as accurate as float products. The device
 * returns either the smallest bounds of each item or all pairs within reach.
 *
 * Bounds that the device does not offer, or fails to compute, are computed on the CPU. A team of
 * several ranks also uses the CPU. The last digits of device bounds may differ from those of CPU
 * bounds, and so may the number of solves. However, both are valid lower bounds, so the graph is
 * the same. Each pass over the first bounds computes n^2 products of rows and needs O(1) transfers
 * per strip. */
#include <math.h>
#include <stdio.h>

#include "base/device.h"
#include "base/team.h"
#include "neighbors/search/search.h"
#include "neighbors/search/tuning.h"

typedef struct device_prefilter {
    ddsc_context *ctx;
    const first_bounds *first;
    void *cpu;
    device dev;                 /* if dev.state is NULL, the CPU computes all bounds */
    bool loaded, asked, framed, /* rows are loaded; frames are requested; frames are loaded; */
        grid;                   /* items of dual bounds are loaded */
    /* The following fields are used by `nearest`. */
    nearest *kept;
    float *weight;       /* n, or NULL */
    int64_t begin, size; /* current strip */
    int32_t *index;      /* strip x tau */
    float *key;
    /* The following fields are used by `within`. */
    float *reach; /* n */
    const double *wide;
    int32_t *pair; /* DEVICE_FOUND x 2 */
    float *low;    /* bounds of these pairs; also used for frames */
    int64_t low_capacity;
    bool odd; /* some returned pairs are invalid */
    prefilter_hit hit;
    void *arg;
} device_prefilter;

static void lose_device(device_prefilter *r, const char *why)
{
    device_fail(r->ctx, &r->dev, why);
    device_close(&r->dev);
    r->loaded = r->framed = r->grid = false;
}

/* ---- open and close ---- */

static void device_prefilter_close(void *state)
{
    device_prefilter *r = state;
    if (!r)
        return;
    prefilter_cpu.close(r->cpu);
    device_close(&r->dev);
    MEM_FREE(r->ctx, r->weight, r->index, r->key, r->reach, r->pair, r->low, r);
}

/* Returns true if the device can use the rows. The rows must be in item order, and the most
 * accurate product type of the device must be at least as accurate as float products. */
static bool has_rows(const device_prefilter *r)
{
    double radius = INFINITY;
    int64_t columns = r->first->columns;
    if (!r->dev.state || columns == 0 || r->first->order)
        return false;
    r->dev.table.way(r->dev.state, r->dev.about.n_ways - 1, columns, &radius);
    return radius <= prefilter_radius(columns);
}

static void open_device(device_prefilter *r, const device_grid *grid)
{
    char why[DEVICE_WORDS] = "";
    double n = (double)r->first->n, rows = r->first->order ? 0 : (double)r->first->columns;
    if ((rows == 0 && !grid) || team_size(r->ctx) > 1 ||
        !device_open(r->ctx, &r->dev, n * n * rows + (grid ? n * DEVICE_WORK_PER_ITEM : 0)))
        return;
    if (grid && r->dev.table.load_grid && r->dev.table.bounds) {
        if (r->dev.table.load_grid(r->dev.state, grid, why) != 0) {
            lose_device(r, why);
            return;
        }
        r->grid = true;
    }
    if (!has_rows(r) && !r->grid) {
        device_close(&r->dev);
        return;
    }
    ctx_device_used(r->ctx, r->dev.name);
    ctx_note(r->ctx, "device", ddsc_context_get_device(r->ctx), "%s: %s%s%s", r->dev.about.name,
             has_rows(r) ? "first bounds" : "", has_rows(r) && r->grid ? ", " : "",
             r->grid ? "dual bounds" : "");
}

static ddsc_status device_prefilter_open(ddsc_context *ctx, void **state,
                                         const first_bounds *bounds, const struct device_grid *grid)
{
    ddsc_status status = DDSC_OK;
    device_prefilter *r = NULL;
    TRY(MEM_ZERO(ctx, r, 1));
    *r = (device_prefilter){.ctx = ctx, .first = bounds};
    TRY(prefilter_cpu.open(ctx, &r->cpu, bounds, grid));
    open_device(r, grid);
    *state = r;
    r = NULL;
done:
    device_prefilter_close(r);
    return status;
}

/* ---- nearest items ---- */

/* Converts the inverse local scales to float weights, the largest of which is in [1, 2). Sets *good
 * to false if floats cannot represent the range of the scales. */
static ddsc_status weigh_bounds(device_prefilter *r, const local_scales *by, bool *good)
{
    double largest = 0, least = INFINITY;
    *good = true;
    for (int64_t i = 0; by && i < r->first->n; i++) {
        largest = fmax(largest, by->inverse[i]);
        least = fmin(least, by->inverse[i]);
    }
    *good = !by || (least > 1e-9 * largest && largest < INFINITY && fabs(log2(largest)) < 400);
    if (!by || !*good)
        return DDSC_OK;
    CHECK(MEM_NEW(r->ctx, r->weight, r->first->n));
    for (int64_t i = 0; i < r->first->n; i++)
        r->weight[i] = (float)ldexp(by->inverse[i], -ilogb(largest));
    return DDSC_OK;
}

/* Adds a strip of lists to the heaps. A float weight and its product with a bound each have a
 * relative error of 2^-24. Subtracting 0x1p-21 of the value more than covers both errors, so the
 * values remain lower bounds, also for the items that are not in the list. */
static ddsc_status take_strip(void *arg, int64_t begin, int64_t end, int worker)
{
    device_prefilter *r = arg;
    int64_t keep = r->kept->tau;
    (void)worker;
    for (int64_t c = begin; c < end; c++)
        for (int64_t k = c * keep; k < (c + 1) * keep; k++) {
            double low = (double)r->key[k], unit = r->first->unit;
            if (r->weight)
                low = (low - 0x1p-21 * fabs(low)) / (double)r->weight[r->index[k]] - 1e-36;
            nearest_put(r->kept, r->begin + c, r->index[k], unit * low);
        }
    return DDSC_OK;
}

static bool plausible_lists(const device_prefilter *r)
{
    int64_t keep = r->kept->tau;
    for (int64_t c = 0; c < r->size; c++)
        for (int64_t k = c * keep; k < (c + 1) * keep; k++)
            if (r->index[k] < 0 || r->index[k] >= r->first->n || r->index[k] == r->begin + c ||
                !isfinite(r->key[k]))
                return false;
    return true;
}

static bool load_rows(device_prefilter *r, int64_t keep, int64_t *strip, char *why)
{
    const first_bounds *b = r->first;
    device_rows rows = {
        .n = b->n, .columns = b->columns, .rows = b->rows, .start = b->start, .weight = r->weight};
    r->loaded =
        r->dev.table.load(r->dev.state, r->dev.about.n_ways - 1, &rows, keep, strip, why) == 0;
    return r->loaded;
}

/* Loads the rows for the walk, and the frames if the device has enough memory for them. */
static bool load_walk(device_prefilter *r, char *why)
{
    char ignored[DEVICE_WORDS];
    int64_t strip;
    if (!r->loaded && !load_rows(r, 1, &strip, why))
        return false;
    if (!r->asked && r->first->frames && r->dev.table.load_frames)
        r->framed = r->dev.table.load_frames(r->dev.state, r->first->frames, ignored) == 0;
    r->asked = true;
    return true;
}

/* Processes all strips. If the device fails, sets *why to the cause. */
static ddsc_status strips(device_prefilter *r, int64_t keep, char *why)
{
    int64_t n = r->first->n, strip = 0;
    if (!load_rows(r, keep, &strip, why))
        return DDSC_OK;
    strip = BASE_MIN(strip, n);
    CHECK(MEM_NEW(r->ctx, r->index, strip * keep));
    CHECK(MEM_NEW(r->ctx, r->key, strip * keep));
    for (r->begin = 0; r->begin < n; r->begin += strip) {
        r->size = BASE_MIN(n - r->begin, strip);
        if (r->dev.table.nearest(r->dev.state, r->begin, r->begin + r->size, keep, r->key, r->index,
                                 why) != 0)
            return DDSC_OK;
        if (!plausible_lists(r)) {
            snprintf(why, DEVICE_WORDS, "the device returned invalid neighbor lists");
            return DDSC_OK;
        }
        CHECK(parallel_for(r->ctx, r->size, 64, take_strip, r));
        progress_add(r->ctx, r->size * (n - 1) / 2);
    }
    return DDSC_OK;
}

static ddsc_status device_prefilter_nearest(void *state, nearest *kept)
{
    device_prefilter *r = state;
    char why[DEVICE_WORDS] = "";
    bool good = false;
    r->kept = kept;
    if (has_rows(r) && kept->tau <= r->dev.about.longest && kept->first == 0)
        CHECK(weigh_bounds(r, kept->by, &good));
    if (good) {
        CHECK(strips(r, kept->tau, why));
        MEM_FREE(r->ctx, r->index, r->key);
        r->index = NULL;
        r->key = NULL;
        if (!why[0])
            return DDSC_OK;
        lose_device(r, why);
        for (int64_t i = 0; i < kept->n; i++) {
            kept->count[i] = 0;
            kept->limit[i] = INFINITY;
        }
    }
    return prefilter_cpu.nearest(r->cpu, kept);
}

/* ---- pairs within reach ---- */

static ddsc_status hit_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const device_prefilter *r = arg;
    for (int64_t k = begin; k < end; k++) {
        int64_t i = r->pair[2 * k], j = r->pair[2 * k + 1];
        double bound = r->first->unit * (double)r->low[k];
        if (bound <= BASE_MAX(r->wide[i], r->wide[j]))
            CHECK(r->hit(r->arg, i, j, bound, r->framed, worker));
    }
    return DDSC_OK;
}

static ddsc_status look_at_pairs(void *arg, int64_t begin, int64_t end, int worker)
{
    device_prefilter *r = arg;
    bool good = true;
    (void)worker;
    for (int64_t k = begin; k < end; k++)
        good = good && r->pair[2 * k] >= 0 && r->pair[2 * k] < r->pair[2 * k + 1] &&
               r->pair[2 * k + 1] < r->first->n && !isnan(r->low[k]);
    if (!good)
        __atomic_store_n(&r->odd, true, __ATOMIC_RELAXED);
    return DDSC_OK;
}

typedef struct rectangle {
    int64_t row[2], column[2];
} rectangle;

/* Covers tiles [begin, end) with up to three rectangles: the rest of the first tile column, whole
 * tile columns, and the beginning of the last tile column. Returns the number of rectangles. */
static int rectangles_of(const first_bounds *b, int64_t begin, int64_t end, rectangle *out)
{
    pair_tile first = tile_number(b->n, b->side, begin), last = tile_number(b->n, b->side, end - 1);
    if (first.j0 == last.j0) {
        out[0] = (rectangle){{first.i0, last.i1}, {first.j0, first.j1}};
        return 1;
    }
    out[0] = (rectangle){{first.i0, first.j1}, {first.j0, first.j1}};
    out[1] = (rectangle){{0, last.j0}, {first.j1, last.j0}};
    out[2] = (rectangle){{0, last.i1}, {last.j0, last.j1}};
    return 3;
}

/* Stores the pairs in the tiles that are within reach in r->pair and r->low. Sets *out to their
 * number, or to DEVICE_FOUND + 1 if there are too many. */
static ddsc_status find_pairs(device_prefilter *r, int64_t begin, int64_t end, int64_t *out,
                              char *why)
{
    rectangle part[3];
    int n_parts = rectangles_of(r->first, begin, end, part);
    int64_t n = 0;
    for (int k = 0; k < n_parts; k++) {
        int64_t found = 0, left = DEVICE_FOUND - n;
        if (part[k].row[0] == part[k].row[1] || part[k].column[0] == part[k].column[1])
            continue;
        if (r->dev.table.within(r->dev.state, part[k].row, part[k].column, r->reach, left,
                                r->pair + 2 * n, r->low + n, &found, why) != 0)
            return DDSC_OK;
        if (found < 0 || found > left) {
            *out = found < 0 ? found : DEVICE_FOUND + 1;
            return DDSC_OK;
        }
        n += found;
    }
    *out = n;
    r->odd = false;
    CHECK(parallel_for(r->ctx, n, 4096, look_at_pairs, r));
    if (r->odd)
        snprintf(why, DEVICE_WORDS, "the device returned invalid pairs");
    return DDSC_OK;
}

/* Finds the pairs in the tiles that are within reach. Calls `hit` only after the device has
 * returned all of these pairs; if the device fails earlier, the CPU processes the tiles from the
 * start. If there are too many pairs, the range is split in half. A single tile never has too many
 * pairs. */
static ddsc_status within_tiles(device_prefilter *r, int64_t begin, int64_t end)
{
    char why[DEVICE_WORDS] = "";
    int64_t n = 0;
    if (r->dev.state && load_walk(r, why))
        CHECK(find_pairs(r, begin, end, &n, why));
    if (r->dev.state && !why[0] && (n < 0 || (n > DEVICE_FOUND && end - begin < 2)))
        snprintf(why, sizeof why, "the device returned more pairs than exist");
    if (r->dev.state && why[0])
        lose_device(r, why);
    if (!r->dev.state)
        return prefilter_cpu.within(r->cpu, begin, end, r->wide, r->hit, r->arg);
    if (n > DEVICE_FOUND) {
        CHECK(within_tiles(r, begin, (begin + end) / 2));
        return within_tiles(r, (begin + end) / 2, end);
    }
    for (int64_t t = begin; t < end; t++) {
        pair_tile tile = tile_number(r->first->n, r->first->side, t);
        progress_add(r->ctx, tile_pairs(&tile));
    }
    return parallel_for(r->ctx, n, 64, hit_range, r);
}

static ddsc_status device_prefilter_within(void *state, int64_t begin, int64_t end,
                                           const double *reach, prefilter_hit hit, void *arg)
{
    device_prefilter *r = state;
    if (!has_rows(r) || !r->dev.table.within)
        return prefilter_cpu.within(r->cpu, begin, end, reach, hit, arg);
    r->wide = reach;
    r->hit = hit;
    r->arg = arg;
    if (!r->reach) {
        CHECK(MEM_NEW(r->ctx, r->reach, r->first->n));
        CHECK(MEM_NEW(r->ctx, r->pair, 2 * DEVICE_FOUND));
        CHECK(MEM_RESERVE(r->ctx, r->low, &r->low_capacity, DEVICE_FOUND));
    }
    for (int64_t i = 0; i < r->first->n; i++)
        r->reach[i] = nextafterf((float)(reach[i] / r->first->unit), INFINITY);
    return within_tiles(r, begin, end);
}

/* ---- bounds of lists of pairs ---- */

/* Computes frame bounds as floats, in the unit of the first bounds. */
static ddsc_status frame_pairs(device_prefilter *r, int64_t n, const pair_ij *pair, double *bound,
                               char *why)
{
    CHECK(MEM_RESERVE(r->ctx, r->low, &r->low_capacity, n));
    if (r->dev.table.framed(r->dev.state, n, &pair->i, r->low, why) != 0)
        return DDSC_OK;
    for (int64_t k = 0; k < n; k++)
        bound[k] = r->first->unit * (double)r->low[k];
    return DDSC_OK;
}

static bool makes_pairs(device_prefilter *r, bound_level level, char *why)
{
    if (level != BOUND_FRAME)
        return r->grid;
    return has_rows(r) && r->dev.table.framed && load_walk(r, why) && r->framed;
}

static ddsc_status device_prefilter_pairs(void *state, bound_level level, int64_t n,
                                          const pair_ij *pair, const double *enough, double *bound,
                                          bool *made)
{
    device_prefilter *r = state;
    char why[DEVICE_WORDS] = "";
    *made = false;
    if (makes_pairs(r, level, why)) {
        if (level == BOUND_FRAME)
            CHECK(frame_pairs(r, n, pair, bound, why));
        else if (n > 0)
            r->dev.table.bounds(r->dev.state, level == BOUND_DUAL ? DEVICE_DUAL : DEVICE_TIGHT, n,
                                &pair->i, enough, bound, why);
        *made = !why[0];
    }
    for (int64_t k = 0; *made && k < n; k++)
        if (!isfinite(bound[k])) {
            snprintf(why, sizeof why, "the device returned invalid bounds");
            *made = false;
        }
    if (why[0])
        lose_device(r, why);
    return DDSC_OK;
}

const prefilter_device search_device = {.name = "device",
                                        .open = device_prefilter_open,
                                        .close = device_prefilter_close,
                                        .nearest = device_prefilter_nearest,
                                        .within = device_prefilter_within,
                                        .pairs = device_prefilter_pairs};
