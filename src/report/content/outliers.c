/* Writes the outliers to the key "outliers" of the result tree. */
#include "report/content/content.h"

void content_put_outliers(ddsc_report *r, json_t *root)
{
    char space[RESULT_ID];
    if (!r->outlying)
        return;
    json_t *outliers = put_object(r, root, "outliers");
    put_real(r, outliers, "from", r->outlier_from);
    put_count(r, outliers, "count", r->n_outlying);
    put_bool(r, outliers, "left_out", r->from.outliers);
    json_t *list = put_array(r, outliers, "items");
    for (int64_t i = 0; i < r->view.n; i++)
        if (r->outlying[i]) {
            json_t *row = put_row(r, list);
            put_count(r, row, "row", r->row[i]);
            put_text(r, row, "id", result_row_id(r, r->row[i], space));
            put_real(r, row, "score", r->outlier[i]);
            put_count(r, row, "cluster", r->view.labels[i]);
        }
}
