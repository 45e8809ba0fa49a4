/* Writes a report in its text formats through the caller's function. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/render/report.h"

/* Returns the tree with the labels inserted before "command", the first key that varies between
 * runs. Returns NULL if memory is exhausted. */
static json_t *with_labels(const ddsc_report *r)
{
    json_t *root = json_object(), *labels = json_array();
    bool good = root && labels;
    for (int64_t i = 0; good && i < r->n_rows; i++)
        good = json_array_append_new(labels, json_integer(r->shown[i])) == 0;
    for (void *at = json_object_iter(r->tree); good && at;
         at = json_object_iter_next(r->tree, at)) {
        const char *key = json_object_iter_key(at);
        if (strcmp(key, "command") == 0)
            good = json_object_set(root, "labels", labels) == 0;
        good = good && json_object_set(root, key, json_object_iter_value(at)) == 0;
    }
    json_decref(labels);
    if (!good)
        json_decref(root);
    return good ? root : NULL;
}

/* Writes the tree as JSON, with keys in insertion order, 15 digits and a final newline. */
static void add_tree(buffer *b, const ddsc_report *r, bool labels)
{
    json_t *root = labels ? with_labels(r) : json_incref(r->tree);
    char *dump = root ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(root);
    if (!dump) {
        b->status = ctx_fail(b->ctx, DDSC_ERROR_MEMORY, "out of memory for JSON");
        return;
    }
    buffer_add(b, dump);
    buffer_add(b, "\n");
    free(dump);
}

static void add_eigenvalues(buffer *b, const ddsc_report *r)
{
    buffer_add(b, "index,eigenvalue,residual\n");
    for (int64_t i = 0; i < r->view.n_eigenvalues; i++) {
        buffer_addf(b, "%" PRId64 ",", i + 1);
        buffer_add_double(b, r->view.eigenvalues[i]);
        buffer_add(b, ",");
        if (r->view.residuals)
            buffer_add_double(b, r->view.residuals[i]);
        buffer_add(b, "\n");
    }
}

static void add_sweep_labels(buffer *b, const ddsc_report *r)
{
    char space[RESULT_ID];
    buffer_add(b, "id");
    for (int64_t k = 0; k < r->view.n_sweep; k++)
        buffer_addf(b, ",k%" PRId64, r->view.sweep[k]->k);
    buffer_add(b, "\n");
    for (int64_t row = 0; row < r->n_rows; row++) {
        int64_t item = r->item[row];
        buffer_add_csv(b, result_row_id(r, row, space));
        for (int64_t k = 0; k < r->view.n_sweep; k++)
            buffer_addf(b, ",%" PRId32,
                        item >= 0 && !result_left_out(r, item)
                            ? r->view.sweep_labels[k * r->view.n + item]
                            : -1);
        buffer_add(b, "\n");
    }
}

static void add_class_fields(buffer *b, const ddsc_report *r, int64_t item)
{
    if (r->theory.n == 0)
        return;
    buffer_addf(b, ",%" PRId64 ",%" PRId64 ",", r->intra[item], r->inter[item]);
    if (!isnan(r->xi[item]))
        buffer_add_double(b, r->xi[item]);
}

/* Writes stability.csv. The fields of dropped items are empty. */
static void add_stability_rows(buffer *b, const ddsc_report *r)
{
    const ddsc_stability_view *v = &r->trust;
    char space[RESULT_ID];
    bool classes = r->theory.n > 0;
    buffer_addf(b, "id,label,changed,fraction,other%s\n", classes ? ",intra,inter,xi" : "");
    for (int64_t row = 0; row < r->n_rows; row++) {
        int64_t item = r->item[row];
        buffer_add_csv(b, result_row_id(r, row, space));
        buffer_addf(b, ",%" PRId32, r->shown[row]);
        if (item < 0) {
            buffer_addf(b, ",,,%s\n", classes ? ",,," : "");
            continue;
        }
        buffer_addf(b, ",%" PRId64 ",", v->n_changed[item]);
        buffer_add_double(b, (double)v->n_changed[item] / (double)v->n_resamples);
        buffer_add(b, ",");
        if (v->other[item] >= 0)
            buffer_addf(b, "%" PRId32, v->other[item]);
        add_class_fields(b, r, item);
        buffer_add(b, "\n");
    }
}

/* Writes membership.csv. The fields of dropped items and of items without a cluster are empty. */
static void add_membership_rows(buffer *b, const ddsc_report *r)
{
    char space[RESULT_ID];
    buffer_add(b, "id");
    for (int64_t c = 0; c < r->k; c++)
        buffer_addf(b, ",cluster%" PRId64, c);
    buffer_add(b, "\n");
    for (int64_t row = 0; row < r->n_rows; row++) {
        int64_t item = r->item[row];
        bool known = item >= 0 && !result_left_out(r, item);
        buffer_add_csv(b, result_row_id(r, row, space));
        for (int64_t c = 0; c < r->k; c++) {
            buffer_add(b, ",");
            if (known)
                buffer_add_double(b, r->membership[item * r->k + c]);
        }
        buffer_add(b, "\n");
    }
}

bool report_has(const ddsc_report *r, ddsc_report_form form)
{
    switch (form) {
    case DDSC_REPORT_JSON: return true;
    case DDSC_REPORT_JSON_LABELS:
    case DDSC_REPORT_HTML: return r->k > 0;
    case DDSC_REPORT_BRIEF:
    case DDSC_REPORT_TEXT: return r->k > 0 && !r->own_measures && !r->saved;
    case DDSC_REPORT_EIGENVALUES: return r->from.clustering != NULL;
    case DDSC_REPORT_SWEEP: return r->view.n_sweep > 1;
    case DDSC_REPORT_STABILITY: return r->trust.n > 0;
    case DDSC_REPORT_ITEMS: return r->from.clustering != NULL;
    case DDSC_REPORT_MEMBERSHIP: return r->membership != NULL;
    }
    return false;
}

void report_text(buffer *b, const ddsc_report *r, ddsc_report_form form)
{
    switch (form) {
    case DDSC_REPORT_JSON: add_tree(b, r, false); break;
    case DDSC_REPORT_JSON_LABELS: add_tree(b, r, true); break;
    case DDSC_REPORT_HTML: report_page(b, r, NULL); break;
    case DDSC_REPORT_BRIEF: report_summary(b, r, false); break;
    case DDSC_REPORT_TEXT: report_summary(b, r, true); break;
    case DDSC_REPORT_EIGENVALUES: add_eigenvalues(b, r); break;
    case DDSC_REPORT_SWEEP: add_sweep_labels(b, r); break;
    case DDSC_REPORT_STABILITY: add_stability_rows(b, r); break;
    case DDSC_REPORT_ITEMS: report_items(b, r); break;
    case DDSC_REPORT_MEMBERSHIP: add_membership_rows(b, r); break;
    }
}

ddsc_status report_hand_out(buffer *b, ddsc_write_fn write, void *user)
{
    if (b->status >= 0 && b->length > 0 && write(user, b->bytes, (size_t)b->length) != 0)
        b->status = ctx_fail(b->ctx, DDSC_ERROR_IO, "the write callback failed");
    ddsc_status status = b->status;
    buffer_free(b);
    return status;
}

ddsc_status ddsc_report_write(ddsc_context *context, const ddsc_report *report,
                              ddsc_report_form form, ddsc_write_fn write, void *user)
{
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    result_call call = result_call_begin(context);
    buffer b = {.ctx = context};
    if (!report || !write)
        b.status = ctx_fail(context, DDSC_ERROR_ARGUMENT, "report or write is NULL");
    else if (!report_has(report, form))
        b.status = ctx_fail(context, DDSC_ERROR_ARGUMENT, "the report has no form %d", (int)form);
    else
        report_text(&b, report, form);
    ddsc_status status = report_hand_out(&b, write, user);
    result_call_end(&call);
    return status;
}
