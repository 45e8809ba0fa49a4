/* Checks of the outputs of public calls: unchanged after an error, part of the answer otherwise. */
#include "public_outputs.h"

static const call_entry *now; /* the current call */
static uint64_t answer_now;
static char nothing;
void *const calls_unset = &nothing;

void calls_add_answer(const void *bytes, int64_t n)
{
    answer_now = hash_bytes(bytes, (size_t)n, answer_now);
}

bool calls_gives(ddsc_status status, const void *out)
{
    if (status >= 0 ? out == NULL || out == calls_unset : out != NULL && out != calls_unset)
        fail_msg("%s %s: a pointer to %p and the status \"%s\"", now->function, now->way, out,
                 ddsc_status_name(status));
    return status >= 0;
}

void unset(void *out, size_t n)
{
    memset(out, 0x5a, n);
}

void keeps(ddsc_status status, const void *out, size_t n)
{
    const unsigned char *byte = out;
    if (status >= 0)
        calls_add_answer(out, (int64_t)n);
    for (size_t k = 0; status < 0 && k < n; k++)
        if (byte[k] != 0x5a)
            fail_msg("%s %s: byte %zu of an output was written before \"%s\"", now->function,
                     now->way, k, ddsc_status_name(status));
}

void unset_sized(void *out, size_t n)
{
    unset(out, n);
    memcpy(out, &n, sizeof n);
}

void keeps_sized(ddsc_status status, const void *out, size_t n)
{
    keeps(status, (const char *)out + sizeof n, n - sizeof n);
}

void keeps_copy(ddsc_status status, const void *out, const void *before, size_t n)
{
    if (status < 0 && memcmp(out, before, n) != 0)
        fail_msg("%s %s: an output was written before \"%s\"", now->function, now->way,
                 ddsc_status_name(status));
}

void fills(ddsc_status status, const void *out, size_t n)
{
    if (status >= 0)
        calls_add_answer(out, (int64_t)n);
}

ddsc_status gives_measures(ddsc_status status, ddsc_measures **place)
{
    ddsc_measures *out = *place;
    if (calls_gives(status, out)) {
        ddsc_measures_view v;
        ddsc_measures_get_view(out, &v);
        calls_add_answer(v.support, v.n_support * v.dim * (int64_t)sizeof *v.support);
        calls_add_answer(v.offset, (v.n_items + 1) * (int64_t)sizeof *v.offset);
        calls_add_answer(v.index, v.n_entries * (int64_t)sizeof *v.index);
        calls_add_answer(v.weight, v.n_entries * (int64_t)sizeof *v.weight);
        calls_add_answer(ddsc_measures_get_id(out, 0), 2);
        ddsc_measures_destroy(out);
    }
    return status;
}

ddsc_status gives_rows(ddsc_context *ctx, ddsc_status s, void *out, size_t size, int64_t n,
                       int64_t m)
{
    if (calls_gives(s, out)) /* otherwise n and m are unset */
        calls_add_answer(out, n * m * (int64_t)size), ddsc_release(ctx, out);
    return s;
}

ddsc_status gives_graph(ddsc_status status, ddsc_graph **place)
{
    ddsc_graph *out = *place;
    if (calls_gives(status, out)) {
        ddsc_graph_view v;
        ddsc_graph_get_view(out, &v);
        calls_add_answer(v.index, v.n_edges * (int64_t)sizeof *v.index);
        calls_add_answer(v.d2, v.n_edges * (int64_t)sizeof *v.d2);
        ddsc_graph_destroy(out);
    }
    return status;
}

ddsc_status gives_clustering(ddsc_status status, ddsc_clustering **place)
{
    ddsc_clustering *out = *place;
    if (calls_gives(status, out)) {
        ddsc_clustering_view v;
        ddsc_clustering_get_view(out, &v);
        calls_add_answer(v.labels, v.n * (int64_t)sizeof *v.labels);
        calls_add_answer(v.embedding, v.n * v.n_vectors * (int64_t)sizeof *v.embedding);
        ddsc_clustering_destroy(out);
    }
    return status;
}

ddsc_status gives_model(ddsc_status status, ddsc_model **place)
{
    ddsc_model *out = *place;
    if (calls_gives(status, out)) {
        ddsc_model_view v;
        ddsc_model_get_view(out, &v);
        calls_add_answer(v.labels, v.n_items * (int64_t)sizeof *v.labels);
        calls_add_answer(&v.far_distance, sizeof v.far_distance);
        ddsc_model_destroy(out);
    }
    return status;
}

ddsc_status gives_file(ddsc_status status, const char *path)
{
    int n_hidden;
    folder_count(&scratch_folder, &n_hidden);
    assert_int_equal(n_hidden, 0);
    assert_int_equal(access(path, F_OK) == 0, status >= 0);
    if (status >= 0) {
        size_t n;
        char *bytes = file_bytes(path, &n);
        calls_add_answer(bytes, (int64_t)n);
        free(bytes);
        assert_int_equal(unlink(path), 0);
    }
    return status;
}

void keeps_stats(ddsc_status status, ddsc_pair_stats *stats)
{
    if (status >= 0)
        calls_add_answer(&stats->n_pairs, sizeof stats->n_pairs);
    else
        keeps_sized(status, stats, sizeof *stats);
}

ddsc_status calls_run(ddsc_context *ctx, const call_entry *entry, uint64_t *answer)
{
    now = entry;
    answer_now = 0;
    ddsc_status status = entry->run(ctx, entry->option);
    calls_set_team(ctx, false);
    *answer = status < 0 ? 0 : answer_now;
    return status;
}
