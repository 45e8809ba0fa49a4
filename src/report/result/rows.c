/* Maps between input rows, items and classes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "report/result/tree.h"

ddsc_status result_index(ddsc_report *r, int64_t *n_kept)
{
    int64_t n = 0;
    CHECK(MEM_NEW(r->ctx, r->row, r->n_rows));
    CHECK(MEM_NEW(r->ctx, r->item, r->n_rows));
    for (int64_t i = 0; i < r->n_rows; i++) {
        r->item[i] = r->label[i] < 0 ? -1 : n;
        if (r->label[i] >= 0)
            r->row[n++] = i;
    }
    *n_kept = n;
    return DDSC_OK;
}

const char *result_row_id(const ddsc_report *r, int64_t row, char space[RESULT_ID])
{
    if (r->measures)
        return ddsc_measures_get_id(r->measures, row);
    snprintf(space, RESULT_ID, "%" PRId64, row);
    return space;
}

const char *result_id(const ddsc_report *r, int64_t row, char space[RESULT_ID])
{
    if (r->label[row] < 0)
        return "";
    if (!r->measures)
        return result_row_id(r, row, space);
    return ddsc_measures_get_id(r->measures, result_measures_row(r, row));
}

int64_t result_measures_row(const ddsc_report *r, int64_t row)
{
    return r->item[row] < 0 ? -1 : r->items.row[r->item[row]];
}

/* The class of a row is the rank of its label among the distinct labels. */
ddsc_status result_classes(ddsc_report *r, const int32_t *truth)
{
    ddsc_status status = DDSC_OK;
    const json_t *confusion = json_object_get(json_object_get(r->tree, "scores"), "confusion");
    int64_t n_classes = (int64_t)json_array_size(json_object_get(confusion, "classes")), n = 0;
    int32_t *sorted = NULL;
    if (n_classes == 0)
        return DDSC_OK;
    TRY(MEM_COPY(r->ctx, sorted, truth, r->n_rows));
    TRY(MEM_NEW(r->ctx, r->class, r->n_rows));
    sort_i32(sorted, r->n_rows);
    for (int64_t i = 0; i < r->n_rows; i++)
        if (sorted[i] >= 0 && (n == 0 || sorted[i] != sorted[n - 1]))
            sorted[n++] = sorted[i];
    for (int64_t i = 0; i < r->n_rows; i++)
        r->class[i] = n == n_classes ? (int32_t)sort_find_i32(sorted, n, truth[i]) : -1;
done:
    mem_free(r->ctx, sorted);
    return status;
}

/* The loop runs from the end to the start, so that no value is overwritten before it is moved
 * (row[i] >= i). */
void result_spread(double *block, int64_t n_columns, const ddsc_report *r)
{
    for (int64_t row = r->n_rows - 1; row >= 0; row--) {
        int64_t item = r->item[row];
        for (int64_t c = n_columns - 1; c >= 0; c--)
            block[row * n_columns + c] = item >= 0 ? block[item * n_columns + c] : NAN;
    }
}
