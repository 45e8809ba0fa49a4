/* Documents with word counts, and the public calls that use them. */
#include "public_calls.h"
#include "public_data.h"

ddsc_measures *documents;
ddsc_clustering *refined;

/* Gives the items of a set counts of words: six of one topic for each half of the items, and two
 * that occur everywhere. */
static void add_counts(ddsc_context *good, ddsc_measures *m)
{
    enum { WORDS = 14, PER_ITEM = 4 };
    static const char *const words[WORDS] = {"all", "any", "a0", "a1", "a2", "a3", "a4",
                                             "a5",  "b0",  "b1", "b2", "b3", "b4", "b5"};
    measures_counts *c = &m->counts;
    c->n_words = WORDS;
    c->n_rows = m->n_rows;
    assert_ok(good, texts_pack(good, &c->words, WORDS, words), "words");
    assert_ok(good, MEM_NEW(good, c->offset, c->n_rows + 1), "offsets");
    assert_ok(good, MEM_NEW(good, c->word, PER_ITEM * c->n_rows), "words");
    assert_ok(good, MEM_NEW(good, c->count, PER_ITEM * c->n_rows), "counts");
    for (int64_t i = 0; i <= c->n_rows; i++)
        c->offset[i] = PER_ITEM * i;
    for (int64_t i = 0; i < c->n_rows; i++) {
        int32_t *word = c->word + PER_ITEM * i, first = 2 * i < c->n_rows ? 2 : 8;
        word[0] = (int32_t)(i % 2);
        for (int32_t k = 1; k < PER_ITEM; k++) {
            word[k] = first + 2 * (k - 1) + (int32_t)(i * k % 2);
            c->count[PER_ITEM * i + k] = 1 + (int32_t)(i % k);
        }
        c->count[PER_ITEM * i] = 1;
    }
}

void words_set_up(ddsc_context *good)
{
    ddsc_cluster_settings set = cluster_of(0);
    assert_ok(good, ddsc_measures_copy_labeled(good, &documents, clouds, classes), "documents");
    add_counts(good, documents);
    add_counts(good, fresh);
    assert_ok(good, ddsc_cluster_run(good, &refined, documents, &set), "refined");
    assert_ok(good, ddsc_model_create(good, &models[4], documents, refined, &set), "word model");
}

void words_tear_down(void)
{
    ddsc_clustering_destroy(refined);
    ddsc_measures_destroy(documents);
}

/* Checks that an array is unchanged, or adds it to the answer. */
static void keeps(ddsc_status status, const double *out, int64_t n, double before)
{
    if (status >= 0)
        calls_add_answer(out, n * (int64_t)sizeof *out);
    for (int64_t i = 0; status < 0 && i < n; i++)
        assert_true(out[i] == before);
}

static ddsc_status words_membership(ddsc_context *ctx, int words)
{
    double out[N * 2];
    ddsc_membership_report report;
    ddsc_membership_report_init(&report);
    report.softness = -5;
    for (int64_t i = 0; i < N * 2; i++)
        out[i] = -5;
    ddsc_status status = ddsc_membership_run(ctx, out, &report, words ? refined : clustering,
                                             words ? documents : NULL);
    keeps(status, out, N * 2, -5);
    keeps(status, &report.softness, 1, -5);
    return status;
}

static ddsc_status words_assign(ddsc_context *ctx, int option)
{
    (void)option;
    double membership[8];
    ddsc_assignment out;
    ddsc_assignment_init(&out);
    out.membership = membership;
    for (int64_t i = 0; i < 8; i++)
        membership[i] = -5;
    ddsc_status status = ddsc_assign_run(ctx, &out, NULL, models[4], fresh, NULL);
    keeps(status, membership, 8, -5);
    return status;
}

static const call_entry entries[] = {
    {"ddsc_membership_run", "distances", words_membership, 0},
    {"ddsc_membership_run", "words", words_membership, 1},
    {"ddsc_assign_run", "words", words_assign, 0},
};
const call_table words_calls = CALL_TABLE(entries);
