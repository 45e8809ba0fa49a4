/* Checks that a graph of exact W2 contains all nearest neighbors of some items.
 *
 *   bench_rows GRAPH.mtx ITEMS [ROWS [THREADS]]
 *
 * For ROWS items, evenly spaced among the items with lists in the file, computes every distance
 * without bounds or lists. The distances in the list must agree, and no other item may be closer
 * than the last one in the list. Prints one line per item and exits with 1 if a check fails.
 * GRAPH.mtx may be a part of the output of `ddsc neighbors`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

enum { BATCH = 2, MOST = 1024 };

/* The last bits of distances may differ, because the starting point of a solve depends on the set.
 * */
static const double TOLERANCE = 1e-12;

typedef struct list {
    int64_t n, other[MOST];
    double d2[MOST];
} list;

static void stop(ddsc_context *ctx, const char *what)
{
    fprintf(stderr, "bench_rows: %s: %s\n", what, ddsc_context_get_message(ctx));
    exit(2);
}

/* Reads entries "row column value", counted from 1. The list of column c is stored in of[index of
 * c]. */
static int64_t read_lists(const char *path, int64_t n_rows, int64_t *item, list *of)
{
    FILE *f = fopen(path, "r");
    char line[256];
    int64_t n = 0, n_seen = 0, *seen = NULL, *place = NULL, i, c;
    double d2;
    if (!f)
        return -1;
    while (fgets(line, sizeof line, f) && line[0] == '%')
        ;
    if (sscanf(line, "%ld", &n) != 1 || !(seen = calloc((size_t)n, sizeof *seen)) ||
        !(place = malloc((size_t)n * sizeof *place)))
        return -1;
    long start = ftell(f);
    while (fscanf(f, "%ld %ld %lg", &i, &c, &d2) == 3)
        if (seen[c - 1]++ == 0)
            n_seen++;
    n_rows = BASE_MIN(n_rows, n_seen);
    for (int64_t k = 0, at = 0, taken = 0; k < n; k++) {
        bool takes = seen[k] > 0 && at++ * n_rows / n_seen == taken && taken < n_rows;
        place[k] = takes ? taken : -1;
        if (takes)
            item[taken++] = k;
    }
    fseek(f, start, SEEK_SET);
    while (fscanf(f, "%ld %ld %lg", &i, &c, &d2) == 3) {
        list *to = place[c - 1] >= 0 ? &of[place[c - 1]] : NULL;
        if (to && to->n < MOST) {
            to->other[to->n] = i - 1;
            to->d2[to->n++] = d2;
        }
    }
    fclose(f);
    free(seen);
    free(place);
    return n_rows;
}

/* Checks one item. `row` is a buffer for all distances of the item. */
static bool check_row(int64_t item, const list *l, double *row, int64_t n)
{
    double off = 0, last = 0, next = INFINITY;
    for (int64_t k = 0; k < l->n; k++) {
        double found = row[l->other[k]];
        off = fmax(off, fabs(found - l->d2[k]) / fmax(found, 1e-300));
        last = fmax(last, l->d2[k]);
        row[l->other[k]] = INFINITY;
    }
    row[item] = INFINITY;
    for (int64_t j = 0; j < n; j++)
        next = fmin(next, row[j]);
    bool good = l->n > 0 && off <= TOLERANCE && next >= last * (1 - TOLERANCE);
    printf("item %lld: %lld neighbors up to D^2 %.12g, off by %.1e of it; the next at %.12g: %s\n",
           (long long)item, (long long)l->n, last, off, next, good ? "good" : "WRONG");
    fflush(stdout);
    return good;
}

int main(int argc, char **argv)
{
    ddsc_context *ctx = NULL;
    ddsc_context_settings with;
    ddsc_metric_settings set;
    ddsc_measures *all = NULL, *some = NULL;
    ddsc_measures_view view;
    int64_t n_rows = argc > 3 ? atoll(argv[3]) : 20, item[MOST];
    list *of = calloc(MOST, sizeof *of);
    bool good = true;
    ddsc_context_settings_init(&with);
    with.threads = argc > 4 ? atoi(argv[4]) : 0;
    ddsc_metric_settings_init(&set);
    set.metric = DDSC_METRIC_W2;
    if (argc < 3 || !of || ddsc_context_create(&ctx, &with) < 0)
        return 2;
    n_rows = read_lists(argv[1], BASE_MIN(n_rows, MOST), item, of);
    if (n_rows < 1 || ddsc_measures_read(ctx, &all, argv[2], NULL) < 0)
        stop(ctx, n_rows < 1 ? "the graph cannot be read" : "items");
    ddsc_measures_get_view(all, &view);
    int64_t n = view.n_items;
    double *rows = malloc((size_t)(BATCH * n) * sizeof *rows), began = clock_seconds();
    for (int64_t r = 0; r < n_rows; r += BATCH) {
        int64_t count = BASE_MIN(n_rows - r, BATCH);
        if (ddsc_measures_copy_subset(ctx, &some, all, count, item + r) < 0 ||
            ddsc_cross_run(ctx, rows, NULL, some, all, &set, DDSC_DISTANCE_SQUARED) < 0)
            stop(ctx, "distances");
        for (int64_t k = 0; k < count; k++)
            good = check_row(item[r + k], &of[r + k], rows + k * n, n) && good;
        ddsc_measures_destroy(some);
    }
    printf("%lld items against all %lld others, %.1f s: %s\n", (long long)n_rows, (long long)n - 1,
           clock_seconds() - began, good ? "all good" : "NOT good");
    free(rows);
    free(of);
    ddsc_measures_destroy(all);
    ddsc_context_destroy(ctx);
    return good ? 0 : 1;
}
