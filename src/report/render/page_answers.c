/* Uses the numbers of the result to answer a reader's main questions, and names the clusters. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/render/page.h"
#include "report/traits/traits.h"
#include "report/content/content.h"

enum { NAMED_FIRST = 12, ITEMS_FIRST = 3, NAME_PARTS = 3, NAMES_COMPARED = 60 };

const json_t *report_page_cluster(const ddsc_report *r, int64_t c)
{
    return json_array_get(report_page_get(r, "clusters", NULL), (size_t)c);
}

int64_t report_page_row(const ddsc_report *r, const json_t *item)
{
    const json_t *row = json_object_get(item, "row");
    int64_t number = json_is_integer(row) ? json_integer_value(row) : -1;
    return number >= 0 && number < r->n_rows ? number : -1;
}

/* ---- names ---- */

/* Appends a name built from named coordinates, for example "CD20 high, pS6 low". */
static void add_marker_name(buffer *t, const json_t *markers)
{
    for (size_t i = 0, n = 0; i < json_array_size(markers) && n < NAME_PARTS - 1; i++) {
        const json_t *marker = json_array_get(markers, i);
        const char *name = report_page_text(json_object_get(marker, "name"));
        if (!*name)
            continue;
        double effect = json_number_value(json_object_get(marker, "effect"));
        buffer_addf(t, "%s%s %s", n++ ? ", " : "", name, effect < 0 ? "low" : "high");
    }
}

/* Appends the name set by the user, or a name built from the explanation. Returns false if neither
 * exists. */
static bool add_known_name(buffer *t, const ddsc_report *r, int64_t c)
{
    const json_t *cluster = report_page_cluster(r, c);
    const char *name = result_cluster_name(cluster);
    int64_t before = t->length;
    if (name)
        buffer_add(t, name);
    else if (json_object_get(cluster, "words"))
        traits_add(t, cluster, NAME_PARTS);
    else
        add_marker_name(t, json_object_get(cluster, "markers"));
    return t->length > before;
}

static void add_plain_name(buffer *t, const ddsc_report *r, int64_t c)
{
    if (!add_known_name(t, r, c))
        buffer_addf(t, "cluster %" PRId64, c);
}

bool report_page_has_name(const ddsc_report *r, int64_t c)
{
    buffer name = {.ctx = r->ctx};
    bool known = add_known_name(&name, r, c);
    buffer_free(&name);
    return known;
}

static bool same_name(const ddsc_report *r, int64_t c, int64_t other)
{
    buffer one = {.ctx = r->ctx}, two = {.ctx = r->ctx};
    add_plain_name(&one, r, c);
    add_plain_name(&two, r, other);
    bool same = one.status >= 0 && two.status >= 0 && strcmp(one.bytes, two.bytes) == 0;
    buffer_free(&one);
    buffer_free(&two);
    return same;
}

void report_add_name(buffer *t, const ddsc_report *r, int64_t c)
{
    bool twice = false;
    for (int64_t other = 0; r->k <= NAMES_COMPARED && other < r->k && !twice; other++)
        twice = other != c && same_name(r, c, other);
    add_plain_name(t, r, c);
    if (twice)
        buffer_addf(t, " (%" PRId64 ")", c);
}

void report_page_name(buffer *t, const ddsc_report *r, int64_t c)
{
    buffer name = {.ctx = t->ctx};
    report_add_name(&name, r, c);
    if (name.status < 0)
        t->status = name.status;
    else
        buffer_add_html(t, name.bytes);
    buffer_free(&name);
}

/* ---- questions and answers ---- */

static void begin_answer(buffer *t, const char *question)
{
    buffer_addf(t, "<div><dt>%s</dt><dd>", question);
}

/* Returns the texts for the level of the verdict. Results of older versions contain only
 * `structure`, whose values differ from the names of the levels. */
static const ddsc_level_words *verdict_words(const ddsc_report *r)
{
    static const ddsc_level_words unknown = {"", "", "", "", "", "", ""};
    const char *name = report_page_text(report_page_get(r, "verdict", "level"));
    const ddsc_level_words *words;
    for (int level = 0; (words = ddsc_level_get_words((ddsc_level)level)); level++)
        if (strcmp(words->name, name) == 0)
            return words;
    return &unknown;
}

/* Shows the number of clusters in bold only if the verdict supports it. */
static void add_group_count(buffer *t, const ddsc_report *r)
{
    const ddsc_level_words *words = verdict_words(r);
    bool before = *words->before;
    buffer_addf(t, "<b>%s%s%" PRId64 "%s%s", words->before, before ? "</b> " : "", r->k,
                before ? "" : "</b>", words->after);
}

/* Lists the candidates for K. One of them is usually near the true K, even if the chosen K is not.
 * */
static void add_candidates(buffer *t, const ddsc_report *r)
{
    buffer candidates = {.ctx = t->ctx};
    if (report_add_candidates(&candidates, r) && candidates.status >= 0) {
        buffer_add(t, " Worth examining: K = ");
        buffer_add_html(t, candidates.bytes);
        buffer_add(t, ".");
    }
    t->status = candidates.status < 0 ? candidates.status : t->status;
    buffer_free(&candidates);
}

static void answer_how_many(buffer *t, const ddsc_report *r)
{
    const json_t *sizes = report_page_get(r, "sizes", "clusters");
    const json_t *sweep = report_page_get(r, "sweep", NULL);
    int64_t least = INT64_MAX, most = 0;
    size_t tried = json_array_size(sweep);
    for (size_t c = 0; c < json_array_size(sizes); c++) {
        int64_t size = json_integer_value(json_array_get(sizes, c));
        least = BASE_MIN(least, size);
        most = BASE_MAX(most, size);
    }
    begin_answer(t, "How many clusters?");
    if (r->k == 1)
        buffer_add(t, "<b>1</b>");
    else
        add_group_count(t, r);
    buffer_add(t, ", of ");
    buffer_add_count(t, BASE_MIN(least, most));
    buffer_add(t, least < most ? " to " : "");
    if (least < most)
        buffer_add_count(t, most);
    buffer_add(t, most == 1 ? " item" : " items");
    buffer_add(t, r->k == 1 ? "" : " each");
    buffer_add(t, r->k == 1 ? "" : verdict_words(r)->where);
    buffer_add(t, ". ");
    if (tried > 1)
        buffer_addf(t,
                    "%zu values of K were tried, from %" JSON_INTEGER_FORMAT
                    " to %" JSON_INTEGER_FORMAT ".",
                    tried, json_integer_value(json_object_get(json_array_get(sweep, 0), "k")),
                    json_integer_value(json_object_get(json_array_get(sweep, tried - 1), "k")));
    add_candidates(t, r);
    buffer_add(t, "</dd></div>\n");
}

/* Draws the most typical item of a cluster, if the items have pictures. */
static void add_group_picture(buffer *t, const ddsc_report *r, int64_t c)
{
    const json_t *items = json_object_get(report_page_cluster(r, c), "representatives");
    int64_t row = report_page_row(r, json_array_get(items, 0));
    if (r->xy && result_has_pictures(r) && row >= 0)
        buffer_addf(t, "<canvas class=\"picture\" data-row=\"%" PRId64 "\"></canvas> ", row);
}

static void answer_what(buffer *t, const ddsc_report *r)
{
    const json_t *sizes = report_page_get(r, "sizes", "clusters");
    int64_t n = BASE_MIN(r->k, NAMED_FIRST);
    if (json_array_size(report_page_get(r, "clusters", NULL)) == 0)
        return;
    begin_answer(t, "What are they?");
    for (int64_t c = 0; c < n; c++) {
        buffer_add(t, c ? "; " : "");
        add_group_picture(t, r, c);
        buffer_addf(t, "<a href=\"#cluster-%" PRId64 "\">", c);
        report_page_name(t, r, c);
        buffer_add(t, "</a> (");
        buffer_add_count(t, json_integer_value(json_array_get(sizes, (size_t)c)));
        buffer_add(t, ")");
    }
    if (r->k > n)
        buffer_addf(t, "; and %" PRId64 " more", r->k - n);
    buffer_add(t, ".</dd></div>\n");
}

/* Appends the first words of a list element, preceded by "; " unless it is the first element. */
static void begin_part(buffer *t, int *n, const char *words)
{
    buffer_add(t, (*n)++ ? "; " : "");
    buffer_add(t, words);
}

/* Appends the median error of an approximate metric. The error is relative for LOT, and a
 * difference of D^2 for mmd with random features. */
static void add_metric_error(buffer *t, const ddsc_report *r, int *n)
{
    const json_t *error = report_page_get(r, "approximation", "error_median");
    const json_t *pairs = report_page_get(r, "approximation", "sample_pairs");
    const char *of = report_page_text(report_page_get(r, "approximation", "of"));
    bool lot = strcmp(of, "w2") == 0;
    if (!json_is_number(error))
        return;
    begin_part(t, n, "distances approximate ");
    buffer_addf(t, lot ? "%s with a relative error of %.2g%%" : "%s with an error of %.2g in D^2",
                of, (lot ? 100 : 1) * json_number_value(error));
    buffer_addf(t, " (median of %" JSON_INTEGER_FORMAT " pairs)", json_integer_value(pairs));
}

/* Adds how much --compress changed the distances and neighbors of sampled items. */
static void add_compress_accuracy(buffer *t, const ddsc_report *r)
{
    const json_t *error = report_page_get(r, "compress", "error_median");
    if (json_is_number(error))
        buffer_addf(
            t,
            "; on sampled pairs, distances change by %.2g%% (median) and %.2g%% (95%% quantile), "
            "and %.0f%% of the nearest neighbors stay the same",
            100 * json_number_value(error),
            100 * json_number_value(report_page_get(r, "compress", "error_95")),
            100 * json_number_value(report_page_get(r, "compress", "neighbors_kept")));
}

/* Lists the requested approximations with their errors. Returns the number of approximations. */
static int add_errors(buffer *t, const ddsc_report *r)
{
    const json_t *recall = report_page_get(r, "pairs", "recall");
    const json_t *low =
        report_page_get(r, "pairs", "recall_low"); /* missing in results of older versions */
    low = json_is_number(low) ? low : recall;
    const json_t *columns = report_page_get(r, "pairs", "columns_error");
    const json_t *moved = report_page_get(r, "compress", "mean_w2");
    const json_t *filled = json_object_get(report_page_get(r, "pairs", "details"), "filled_error");
    double sample = json_number_value(report_page_get(r, "settings", "sample"));
    int n = 0;
    add_metric_error(t, r, &n);
    if (json_is_number(moved)) {
        begin_part(t, &n, "points were merged, which changed an item by ");
        buffer_addf(t, "%.2g on average (W2)", json_number_value(moved));
        add_compress_accuracy(t, r);
    }
    if (json_is_number(columns)) {
        begin_part(t, &n, "squared distances that were filled in have a median error of ");
        buffer_addf(t, "%.2g of their spread", json_number_value(columns));
    }
    if (sample > 0 && sample < 1) {
        begin_part(t, &n, "only a random sample of the pairs was computed: ");
        buffer_addf(t, "%.2g%%", 100 * sample);
        if (json_is_number(filled))
            buffer_addf(t,
                        ", from which the other squared distances were estimated with a median "
                        "error of %.2g of their spread",
                        json_number_value(filled));
    }
    if (json_is_number(recall)) {
        begin_part(t, &n, "of the nearest neighbors ");
        buffer_addf(t,
                    "at least %.3g%% were found (95%% confidence, from %" JSON_INTEGER_FORMAT
                    " sampled items)",
                    100 * json_number_value(low),
                    json_integer_value(report_page_get(r, "pairs", "recall_rows")));
    }
    return n;
}

static void add_exactness(buffer *t, const ddsc_report *r)
{
    buffer errors = {.ctx = t->ctx};
    int n = add_errors(&errors, r);
    buffer_add(t, !json_is_true(report_page_get(r, "certificates", "certified"))
                      ? "Not all results converged; result.json marks those that did not."
                      : "All results were computed exactly as requested.");
    if (errors.status < 0)
        t->status = errors.status;
    else if (n) {
        buffer_add(t, " The settings request an approximation: ");
        buffer_add_html(t, errors.bytes);
        buffer_add(t, ".");
    }
    buffer_free(&errors);
}

/* The page reports an agreement between the starts of k-means below this value. */
static const double STARTS_LOW = 0.9;

static void answer_belief(buffer *t, const ddsc_report *r)
{
    const json_t *evidence = report_page_get(r, "verdict", "evidence");
    const json_t *halves = json_object_get(evidence, "halves_agree");
    const json_t *starts = json_object_get(evidence, "starts_agree");
    begin_answer(t, "Can I trust the result?");
    buffer_add(t, "<b class=\"verdict ");
    buffer_add(t, verdict_words(r)->color);
    buffer_add(t, "\">");
    buffer_add_html(t, report_page_text(report_page_get(r, "verdict", "text")));
    buffer_add(t, "</b> ");
    if (json_is_number(halves))
        buffer_addf(t,
                    "Clusters found in two random halves of the items agree %s (%.2f, where 1 "
                    "means always and 0 means by chance). ",
                    content_agreement_word(json_number_value(halves)), json_number_value(halves));
    if (json_is_number(starts) && json_number_value(starts) < STARTS_LOW)
        buffer_addf(t,
                    "Other starts of k-means give different clusters: their agreement with this "
                    "result is only %.2f. ",
                    json_number_value(starts));
    add_exactness(t, r);
    buffer_add(t, "</dd></div>\n");
}

void report_page_item(buffer *t, const json_t *item)
{
    const json_t *title = json_object_get(item, "title");
    buffer_add_html(t, report_page_text(title ? title : json_object_get(item, "id")));
}

/* Returns the ambiguous item that follows `last` (NULL: the first item) in descending order of
 * ambiguity, or NULL if there are no more items. Equally ambiguous items are sorted by row. */
static const json_t *next_ambiguous(const ddsc_report *r, const json_t *last)
{
    const json_t *found = NULL;
    double most = RESULT_AMBIGUOUS;
    double below = last ? json_number_value(json_object_get(last, "ambiguity")) : INFINITY;
    for (int64_t c = 0; c < r->k; c++) {
        const json_t *items = json_object_get(report_page_cluster(r, c), "borderline");
        for (size_t i = 0; i < json_array_size(items); i++) {
            const json_t *item = json_array_get(items, i);
            double d = json_number_value(json_object_get(item, "ambiguity"));
            int64_t row = report_page_row(r, item);
            bool follows = d < below || (d == below && row > report_page_row(r, last));
            if (row >= 0 && follows &&
                (d > most || (found && d == most && row < report_page_row(r, found)))) {
                most = d;
                found = item;
            }
        }
    }
    return found;
}

/* Appends `before` and a button that opens the item. */
static void add_item_button(buffer *t, const json_t *item, const char *before)
{
    buffer_addf(t, "%s<button class=\"item\" data-row=\"%" JSON_INTEGER_FORMAT "\">", before,
                json_integer_value(json_object_get(item, "row")));
    report_page_item(t, item);
    buffer_add(t, "</button>");
}

static void answer_apart(buffer *t, const ddsc_report *r)
{
    const json_t *items = report_page_get(r, "outliers", "items");
    int64_t n = json_integer_value(report_page_get(r, "outliers", "count")), shown = 0;
    if (!report_page_get(r, "outliers", NULL))
        return;
    begin_answer(t, "Which items are outliers?");
    buffer_add(t, n ? "<b>" : "<b>None</b>");
    if (n) {
        buffer_add_count(t, n);
        buffer_add(t, n == 1 ? "</b> is far from all others (ringed on the map)"
                             : "</b> are far from all others (ringed on the map)");
        if (json_is_true(report_page_get(r, "outliers", "left_out")))
            buffer_add(t, " and in no cluster");
    }
    for (size_t i = 0; i < json_array_size(items) && shown < ITEMS_FIRST; i++)
        if (report_page_row(r, json_array_get(items, i)) >= 0)
            add_item_button(t, json_array_get(items, i), shown++ ? ", " : ": ");
    buffer_add(t, ".</dd></div>\n");
}

static void answer_ambiguity(buffer *t, const ddsc_report *r)
{
    const json_t *ambiguous = report_page_get(r, "ambiguous", NULL);
    int64_t n = json_integer_value(ambiguous);
    const json_t *item = NULL;
    if (!json_is_integer(ambiguous))
        return;
    begin_answer(t, "Which items are ambiguous?");
    buffer_add(t, n ? "<b>" : "<b>None");
    if (n)
        buffer_add_count(t, n);
    buffer_add(t, n == 1 ? "</b> is nearly as close to another cluster as to its own"
                         : "</b> are nearly as close to another cluster as to their own");
    for (int64_t i = 0; i < n && i < ITEMS_FIRST; i++) {
        item = next_ambiguous(r, item);
        if (!item)
            break;
        add_item_button(t, item, i ? ", " : ", most of all ");
    }
    buffer_add(t, ".</dd></div>\n");
}

static void add_advice(buffer *t, const char *words, bool bad)
{
    buffer_addf(t, "<p class=\"advice%s\">", bad ? " bad" : "");
    buffer_add_html(t, words);
    buffer_add(t, "</p>\n");
}

static void answer_next(buffer *t, const ddsc_report *r)
{
    const char *advice = report_page_text(report_page_get(r, "advice", NULL));
    const char *next_step = content_has_next_step(r) ? verdict_words(r)->next_step : "";
    bool exact = json_is_true(report_page_get(r, "certificates", "certified"));
    if (!*next_step && !*advice && exact)
        return;
    begin_answer(t, "What should I do next?");
    if (!exact)
        add_advice(t, "Some results did not converge; result.json marks them.", true);
    buffer_add(t, next_step);
    if (*advice)
        add_advice(t, advice, false);
    buffer_add(t, "</dd></div>\n");
}

void report_page_answers(buffer *t, const ddsc_report *r)
{
    buffer_add(t, "<dl class=\"answers\">\n");
    report_page_answer_order(t, r);
    answer_how_many(t, r);
    answer_what(t, r);
    answer_belief(t, r);
    answer_ambiguity(t, r);
    answer_apart(t, r);
    answer_next(t, r);
    buffer_add(t, "</dl>\n");
}
