/* Rows of the input, items that were kept, classes: who is who in a report. */
#include <stdlib.h>

#include "charts.h"

bool report_index(report_data *d)
{
    int64_t n = 0;
    d->row = cli_allocate((size_t)d->n_rows + 1, sizeof *d->row);
    d->item = cli_allocate((size_t)d->n_rows + 1, sizeof *d->item);
    for (int64_t i = 0; i < d->n_rows; i++) {
        d->item[i] = d->label[i] < 0 ? -1 : n;
        if (d->label[i] >= 0)
            d->row[n++] = i;
    }
    return !d->measures || n == d->items.n_items;
}

void report_index_free(report_data *d)
{
    free(d->row);
    free(d->item);
    d->row = d->item = NULL;
}

static int by_number(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int32_t *report_truth(const report_data *d, const int32_t *truth)
{
    const json_t *confusion = json_object_get(json_object_get(d->result, "scores"), "confusion");
    size_t n_classes = json_array_size(json_object_get(confusion, "classes")), n = 0;
    if (!truth || n_classes == 0)
        return NULL;
    int32_t *sorted = cli_allocate((size_t)d->n_rows + 1, sizeof *sorted);
    int32_t *place = cli_allocate((size_t)d->n_rows + 1, sizeof *place);
    for (int64_t i = 0; i < d->n_rows; i++)
        sorted[i] = truth[i];
    qsort(sorted, (size_t)d->n_rows, sizeof *sorted, by_number);
    for (int64_t i = 0; i < d->n_rows; i++)
        if (sorted[i] >= 0 && (n == 0 || sorted[i] != sorted[n - 1]))
            sorted[n++] = sorted[i];
    for (int64_t i = 0; i < d->n_rows; i++) {
        const int32_t *found = bsearch(&truth[i], sorted, n, sizeof *sorted, by_number);
        place[i] = found && n == n_classes ? (int32_t)(found - sorted) : -1;
    }
    free(sorted);
    return place;
}
