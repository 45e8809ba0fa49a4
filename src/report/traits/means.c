/* Computes the mean picture of each cluster of planar items, and its difference from the mean of
 * all other items. Pictures have side x side cells, row by row from the top. In result.json, each
 * cell has two hexadecimal digits. In the mean, 00 is zero mass and ff is the largest value. In the
 * difference, 80 is zero, and 01 and ff are minus and plus the largest absolute value. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/result/picture.h"
#include "report/traits/traits.h"

enum { MOST_CLUSTERS = 100, CELLS = PICTURE_MAX_SIDE * PICTURE_MAX_SIDE };

static void put_cells(ddsc_report *r, json_t *picture, const char *key, const double *cells,
                      int side, double scale, double zero)
{
    json_t *rows = put_array(r, picture, key);
    for (int y = 0; y < side; y++) {
        char line[2 * PICTURE_MAX_SIDE + 1];
        for (int x = 0; x < side; x++)
            snprintf(line + 2 * x, 3, "%02x",
                     (unsigned)lround(zero + scale * cells[y * side + x]) & 0xff);
        put_last(r, rows, json_string(line));
    }
}

static double largest(const double *cells, int n)
{
    double most = 0;
    for (int c = 0; c < n; c++)
        most = fmax(most, fabs(cells[c]));
    return most;
}

/* Writes the pictures of cluster c. `sum` is k x cells: the total mass of the items of each
 * cluster. */
static void put_mean(ddsc_report *r, int64_t c, const double *sum, const double *all, int side)
{
    double mean[CELLS], off[CELLS], n = 0;
    int n_cells = side * side;
    for (int64_t k = 0; k < r->k; k++)
        n += (double)r->size[k];
    double here = (double)r->size[c], elsewhere = n - here;
    for (int i = 0; i < n_cells; i++) {
        mean[i] = sum[c * n_cells + i] / here;
        off[i] = elsewhere > 0 ? mean[i] - (all[i] - sum[c * n_cells + i]) / elsewhere : 0;
    }
    double most = largest(mean, n_cells), most_off = largest(off, n_cells);
    json_t *cluster = json_array_get(json_object_get(r->tree, "clusters"), (size_t)c);
    json_t *picture = put_object(r, cluster, "picture");
    put_count(r, picture, "side", side);
    put_real(r, picture, "mean_most", most);
    put_real(r, picture, "difference_most", most_off);
    put_cells(r, picture, "mean", mean, side, most > 0 ? 255 / most : 0, 0);
    put_cells(r, picture, "difference", off, side, most_off > 0 ? 127 / most_off : 0, 128);
}

typedef struct mean_job {
    const ddsc_report *r;
    const picture_frame *f;
    double *sum;
} mean_job;

/* Adds the items of clusters [begin, end) in their order, so that sums do not depend on the
 * number of threads. */
static ddsc_status add_clusters(void *arg, int64_t begin, int64_t end, int worker)
{
    const mean_job *j = arg;
    int n_cells = j->f->side * j->f->side;
    (void)worker;
    for (int64_t i = 0; i < j->r->view.n; i++) {
        int32_t c = j->r->view.labels[i];
        if (c >= begin && c < end && !result_left_out(j->r, i))
            picture_add(j->sum + c * n_cells, j->f, &j->r->items, i);
    }
    return DDSC_OK;
}

ddsc_status traits_put_means(ddsc_report *r)
{
    double *sum = NULL, *all = NULL;
    ddsc_status status = DDSC_OK;
    if (!result_has_pictures(r) || r->k < 2 || r->k > MOST_CLUSTERS ||
        !json_object_get(r->tree, "clusters"))
        return DDSC_OK;
    picture_frame f = picture_frame_for(&r->items, PICTURE_MAX_SIDE);
    int n_cells = f.side * f.side;
    TRY(MEM_ZERO(r->ctx, sum, r->k * n_cells));
    TRY(MEM_ZERO(r->ctx, all, n_cells));
    TRY(parallel_for(r->ctx, r->k, 1, add_clusters, &(mean_job){r, &f, sum}));
    for (int64_t c = 0; c < r->k; c++)
        for (int i = 0; i < n_cells; i++)
            all[i] += sum[c * n_cells + i];
    for (int64_t c = 0; c < r->k; c++)
        if (r->size[c] > 0)
            put_mean(r, c, sum, all, f.side);
done:
    MEM_FREE(r->ctx, all, sum);
    return status;
}
