/* Draws the flow diagram of a comparison (an alluvial diagram, Rosvall and Bergstrom 2010): the
 * clusters of the first result are on the left, and the clusters of the second on the right. A band
 * represents the items of one pair of an old and a new cluster. Heights are proportional to the
 * numbers of items. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "report/diff/diff.h"
#include "report/render/page.h"
#include "report/render/plot.h"

enum { LEFT = 210, MIDDLE = 340, BAR = 12, TOP = 30, HEIGHT = 460, LABELS = 45 };

/* One end of the bands: a cluster, the items in no cluster, or the items that are only in the other
 * result. */
typedef struct flow_end {
    int64_t cluster, n;
    double place; /* mean position of the items on the left, by which the right side is sorted */
    double y, used;
} flow_end;

typedef struct flow_picture {
    const ddsc_diff *d;
    flow_end *end[2];
    int64_t *at[2]; /* position of each cluster in `end` */
    int64_t n[2];
    double scale, gap;
} flow_picture;

int32_t diff_color(const ddsc_diff *d, int side, int64_t cluster)
{
    if (cluster >= d->side[side].result->k)
        return COLOR_NONE;
    if (side == 0)
        return (int32_t)(cluster % PLOT_COLORS);
    if (d->view.same[cluster] >= 0)
        return (int32_t)(d->view.same[cluster] % PLOT_COLORS);
    return (int32_t)((d->view.k_old + cluster) % PLOT_COLORS);
}

static int by_place(const void *a, const void *b)
{
    const flow_end *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

/* Lists the ends of a side that have items, in order. The left side is sorted by cluster number. */
static void list_ends(flow_picture *p, int side)
{
    const ddsc_diff *d = p->d;
    int64_t k = d->side[side].result->k, n = 0;
    flow_end *end = p->end[side];
    for (int64_t c = 0; c < k + 2; c++)
        end[c] = (flow_end){.cluster = c};
    for (int64_t f = 0; f < d->n_flows; f++) {
        const diff_flow *flow = &d->flow[f];
        flow_end *e = &end[side ? flow->to : flow->from];
        e->n += flow->n;
        e->place += (double)flow->n * (double)(side ? p->at[0][flow->from] : flow->from);
    }
    for (int64_t c = 0; c < k + 2; c++)
        if (end[c].n > 0) {
            end[n] = end[c];
            end[n++].place /= (double)end[c].n;
        }
    qsort(end, (size_t)n, sizeof *end, by_place);
    for (int64_t e = 0; e < n; e++)
        p->at[side][end[e].cluster] = e;
    p->n[side] = n;
}

/* Distributes the height over the ends, with equal gaps. */
static void place_ends(flow_picture *p)
{
    int64_t most = BASE_MAX(p->n[0], p->n[1]), total = 0;
    for (int64_t e = 0; e < p->n[0]; e++)
        total += p->end[0][e].n;
    p->gap = fmin(8, 0.3 * HEIGHT / (double)most);
    p->scale = (HEIGHT - p->gap * (double)(most - 1)) / (double)total;
    for (int s = 0; s < 2; s++) {
        double y = TOP;
        for (int64_t e = 0; e < p->n[s]; e++) {
            p->end[s][e].y = p->end[s][e].used = y;
            y += p->scale * (double)p->end[s][e].n + p->gap;
        }
    }
}

static void add_band(buffer *b, flow_picture *p, const diff_flow *flow, int64_t number,
                     int64_t most)
{
    const ddsc_diff *d = p->d;
    buffer words = {.ctx = b->ctx};
    flow_end *from = &p->end[0][p->at[0][flow->from]], *to = &p->end[1][p->at[1][flow->to]];
    double h = p->scale * (double)flow->n, x0 = LEFT + BAR, x1 = LEFT + MIDDLE;
    double y0 = from->used, y1 = to->used, x = 0.5 * (x0 + x1);
    from->used += h;
    to->used += h;
    buffer_add(b, "<a class=\"flow ");
    plot_class(b, flow->from < d->view.k_old ? diff_color(d, 0, flow->from)
                                             : diff_color(d, 1, flow->to));
    if (number < most)
        buffer_addf(b, "\" href=\"#flow-%" PRId64, number);
    buffer_addf(b, "\"><path%s d=\"M%.1f %.2fC%.1f %.2f %.1f %.2f %.1f %.2fv%.2fC%.1f %.2f %.1f ",
                flow->change == DIFF_SAME ? "" : " class=\"changed\"", x0, y0, x, y0, x, y1, x1, y1,
                h, x, y1 + h, x);
    buffer_addf(b, "%.2f %.1f %.2fz\"><title>", y0 + h, x0, y0 + h);
    diff_add_end(&words, d, 0, flow->from);
    buffer_add(&words, " \xe2\x86\x92 ");
    diff_add_end(&words, d, 1, flow->to);
    buffer_addf(&words, ": %" PRId64 " item%s", flow->n, flow->n == 1 ? "" : "s");
    if (words.status < 0)
        b->status = words.status;
    else
        buffer_add_html(b, words.bytes);
    buffer_add(b, "</title></path></a>\n");
    buffer_free(&words);
}

/* Orders the bands by their ends, so that the bands of a cluster do not cross each other. */
static void add_bands(buffer *b, flow_picture *p, int64_t most)
{
    const ddsc_diff *d = p->d;
    int64_t columns = d->view.k_new + 2, *number = NULL;
    b->status = MEM_ZERO(b->ctx, number, (d->view.k_old + 2) * columns);
    if (b->status < 0)
        return;
    for (int64_t f = 0; f < d->n_flows; f++)
        number[d->flow[f].from * columns + d->flow[f].to] = f + 1;
    for (int64_t i = 0; i < p->n[0]; i++)
        for (int64_t j = 0; j < p->n[1]; j++) {
            int64_t f = number[p->end[0][i].cluster * columns + p->end[1][j].cluster];
            if (f > 0)
                add_band(b, p, &d->flow[f - 1], f - 1, most);
        }
    mem_free(b->ctx, number);
}

/* Adds the bar of an end, and its label unless there are too many labels to read. */
static void add_end(buffer *b, const flow_picture *p, int side, const flow_end *e)
{
    enum { SHORT = 26 };
    double h = p->scale * (double)e->n, x = side ? LEFT + MIDDLE : LEFT;
    buffer words = {.ctx = b->ctx};
    diff_add_end(&words, p->d, side, e->cluster);
    if (words.status < 0) {
        b->status = words.status;
        return;
    }
    buffer_add(b, "<g class=\"");
    plot_class(b, diff_color(p->d, side, e->cluster));
    buffer_addf(b,
                "\"><rect class=\"mark\" x=\"%.1f\" y=\"%.2f\" width=\"%d\" height=\"%.2f\">"
                "<title>",
                x, e->y, BAR, fmax(h, 0.5));
    buffer_add_html(b, words.bytes);
    buffer_addf(b, ", %" PRId64 " items</title></rect></g>\n", e->n);
    if (p->n[side] <= LABELS) {
        size_t length = (size_t)words.length, cut = text_cut(words.bytes, length, SHORT);
        bool whole = cut == length;
        words.bytes[cut] = 0;
        buffer_addf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
                    side ? x + BAR + 6 : x - 6, e->y + 0.5 * h + 4, side ? "start" : "end");
        buffer_add_html(b, words.bytes);
        buffer_add(b, whole ? "</text>\n" : "\xe2\x80\xa6</text>\n");
    }
    buffer_free(&words);
}

static void add_side_name(buffer *b, const ddsc_diff *d, int side)
{
    buffer_addf(b, "<text x=\"%d\" y=\"16\" text-anchor=\"%s\">", side ? LEFT + MIDDLE : LEFT + BAR,
                side ? "start" : "end");
    buffer_add_html(b, side ? "second: " : "first: ");
    buffer_add_html(b, d->side[side].name);
    buffer_add(b, "</text>\n");
}

void diff_add_flows(buffer *b, const ddsc_diff *d, int64_t most)
{
    flow_picture p = {.d = d};
    for (int s = 0; s < 2 && b->status >= 0; s++) {
        b->status = MEM_ZERO(b->ctx, p.end[s], d->side[s].result->k + 2);
        if (b->status >= 0)
            b->status = MEM_ZERO(b->ctx, p.at[s], d->side[s].result->k + 2);
        if (b->status >= 0)
            list_ends(&p, s);
    }
    if (b->status >= 0) {
        place_ends(&p);
        buffer_addf(b,
                    "<svg class=\"flows\" viewBox=\"0 0 %d %d\" role=\"group\" "
                    "aria-label=\"Flow of items between the clusters of both results\">\n",
                    2 * LEFT + MIDDLE + BAR, TOP + HEIGHT + 10);
        add_side_name(b, d, 0);
        add_side_name(b, d, 1);
        add_bands(b, &p, most);
        for (int s = 0; s < 2; s++)
            for (int64_t e = 0; e < p.n[s]; e++)
                add_end(b, &p, s, &p.end[s][e]);
        buffer_add(b, "</svg>\n");
    }
    MEM_FREE(b->ctx, p.end[0], p.at[0], p.end[1], p.at[1]);
}
