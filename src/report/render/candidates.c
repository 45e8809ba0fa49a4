/* Lists the values of K that are worth examining, each with its reasons. */
#include <inttypes.h>

#include "report/render/report.h"

static const json_t *row_of(const ddsc_report *r, json_int_t k)
{
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(r->tree, "sweep"), i, row)
    {
        if (json_integer_value(json_object_get(row, "k")) == k)
            return row;
    }
    return NULL;
}

static void add_reason(buffer *t, int *n, const json_t *row, const char *key, const char *words)
{
    const json_t *value = json_object_get(row, key);
    buffer_add(t, (*n)++ ? ", " : " (");
    buffer_add(t, words);
    if (json_is_number(value))
        buffer_addf(t, " %.2f", json_number_value(value));
}

static void add_candidate(buffer *t, const ddsc_report *r, const json_t *candidate, bool chosen)
{
    json_int_t k = json_integer_value(json_object_get(candidate, "k"));
    const json_t *row = row_of(r, k);
    int n = 0;
    buffer_addf(t, "%" JSON_INTEGER_FORMAT, k);
    if (chosen)
        add_reason(t, &n, NULL, "", "chosen");
    if (json_is_true(json_object_get(candidate, "widest_gap")))
        add_reason(t, &n, row, "relative_gap", "widest relative gap");
    if (json_is_true(json_object_get(candidate, "highest_modularity")))
        add_reason(t, &n, row, "modularity", "highest modularity");
    if (json_is_true(json_object_get(candidate, "halves_agree")))
        add_reason(t, &n, row, "stability", "largest stable K");
    if (json_is_true(json_object_get(candidate, "large_may_hide")))
        add_reason(t, &n, NULL, "", "may divide a large cluster");
    buffer_add(t, n ? ")" : "");
}

bool report_add_candidates(buffer *t, const ddsc_report *r)
{
    const json_t *list = json_object_get(r->tree, "candidates"), *candidate;
    size_t i;
    json_array_foreach(list, i, candidate)
    {
        buffer_add(t, i ? "; " : "");
        add_candidate(t, r, candidate, i == 0);
    }
    return json_array_size(list) > 0;
}
