/* Determines the level of the verdict from the evidence, and writes its sentence. The table `cases`
 * lists the findings in the order in which they are tested. The first finding that applies
 * determines the level and the sentence. The table `levels` contains the name, the color, a general
 * sentence and the next step for each level. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "assess/quality/verdict.h"

/* ---- thresholds ---- */

/* The level `separate` requires that at least this fraction of the items is in separate clusters,
 * and that random halves agree at least this well. */
static const double MOST_ITEMS = 0.8, HALVES_AGREE = 0.7;
/* A score below NONE_SCORE means that items are as dense across the boundaries as inside the
 * clusters. With fewer than NONE_ITEMS items across the gap, the score is inconclusive. */
static const double NONE_SCORE = 0.8, NONE_ITEMS = 6;
/* If halves agree at least this well, the set is not called one cloud. */
static const double CLOUD_HALVES = 0.8;

/* Minimum number of items side by side at a boundary, as a fraction of the mean cluster size. A set
 * with fewer items side by side is a thin line, whose cuts are stable at any K. */
static const double SIDE_SHARE = 0.4;

/* Agreement between halves that, at each K, fewer than 1% of the sets without clusters reach
 * (docs/verdict.md). For K up to 3, the cuts of a line are as stable as real clusters. */
double verdict_halves_from(int64_t k)
{
    return k < 4 ? (double)NAN : k < 6 ? 0.95 : k < 8 ? 0.9 : k < 10 ? 0.88 : 0.85;
}

/* ---- levels ---- */

static const ddsc_level_words levels[] = {
    [DDSC_LEVEL_TOO_FEW] =
        {
            .name = "too_few",
            .color = "gray",
            .sentence = "There are too few items to decide.",
            .before = "",
            .after = " were formed",
            .where = "",
            .next_step = "Collect more items, or use the neighbors of individual items, which do "
                         "not depend on clusters.",
        },
    [DDSC_LEVEL_ONE_CLOUD] =
        {
            .name = "one_cloud",
            .color = "gray",
            .sentence = "One cloud: nothing separates the items.",
            .before = "None that can be separated.",
            .after = " were formed anyway",
            .where = "",
            .next_step =
                "Do not rely on these clusters, because the data do not support them. Other "
                "columns, other features or another metric (ddsc compare) may show more.",
        },
    [DDSC_LEVEL_CONTINUUM] =
        {
            .name = "continuum",
            .color = "amber",
            .sentence = "The data do not show whether these are clusters or a continuum.",
            .before = "",
            .after = " were formed",
            .where = ", without confirmed boundaries",
            .next_step =
                "Use the order of the items rather than the boundaries, unless independent data "
                "(classes, other columns, new items) confirm the clusters. A continuum cut into K "
                "parts looks the same.",
        },
    [DDSC_LEVEL_REPRODUCIBLE] =
        {
            .name = "reproducible",
            .color = "blue",
            .sentence =
                "The clusters touch, but random halves of the items give the same clusters.",
            .before = "",
            .after = "",
            .where = ", without gaps between them",
            .next_step = "Read the typical and ambiguous items of each cluster, then name it (ddsc "
                         "name). Items near a boundary may belong to either cluster.",
        },
    [DDSC_LEVEL_PARTLY] =
        {
            .name = "partly",
            .color = "teal",
            .sentence = "Some of the clusters are separate. The other boundaries are not "
                        "confirmed.",
            .before = "",
            .after = " were formed",
            .where = "",
            .next_step =
                "Read the typical and ambiguous items of each cluster, then name it (ddsc name). "
                "Only "
                "the separate clusters have a natural boundary; a different cut of the others may "
                "be just as good.",
        },
    [DDSC_LEVEL_SEPARATE] =
        {
            .name = "separate",
            .color = "green",
            .sentence = "The clusters are separate.",
            .before = "",
            .after = "",
            .where = "",
            .next_step = "Read the typical and ambiguous items of each cluster, then name it (ddsc "
                         "name).",
        },
};

const ddsc_level_words *ddsc_level_get_words(ddsc_level level)
{
    return (size_t)level < sizeof levels / sizeof *levels ? &levels[level] : NULL;
}

ddsc_structure verdict_structure(ddsc_level level)
{
    switch (level) {
    case DDSC_LEVEL_SEPARATE:
    case DDSC_LEVEL_PARTLY: return DDSC_STRUCTURE_CLEAR;
    case DDSC_LEVEL_REPRODUCIBLE:
    case DDSC_LEVEL_CONTINUUM: return DDSC_STRUCTURE_WEAK;
    case DDSC_LEVEL_ONE_CLOUD: return DDSC_STRUCTURE_NONE;
    default: return DDSC_STRUCTURE_UNDECIDED;
    }
}

const ddsc_structure_words *ddsc_structure_get_words(ddsc_structure structure)
{
    static const ddsc_structure_words words[] = {
        [DDSC_STRUCTURE_UNDECIDED] = {"undecided", "", " were formed", "", ""},
        [DDSC_STRUCTURE_NONE] = {"none", "None that can be separated.", " were formed anyway", "",
                                 ""},
        [DDSC_STRUCTURE_WEAK] = {"weak", "", " were formed", ", without clear gaps between them",
                                 ""},
        [DDSC_STRUCTURE_CLEAR] = {"clear", "", "", "", ""},
    };
    return (size_t)structure < sizeof words / sizeof *words ? &words[structure] : NULL;
}

/* ---- findings and the sentences that report them ---- */

static bool one_cluster(const verdict_evidence *e)
{
    return e->k == 1;
}

static bool one_item_each(const verdict_evidence *e)
{
    return e->n > 0 && e->k >= e->n;
}

static bool not_examined(const verdict_evidence *e)
{
    return e->n_examined == 0;
}

static bool copies_only(const verdict_evidence *e)
{
    return e->copies;
}

static bool most_items(const verdict_evidence *e)
{
    return e->n_parted > 0 && e->share >= MOST_ITEMS;
}

static bool steps_separate(const verdict_evidence *e)
{
    return e->by_steps;
}

static bool all_separate(const verdict_evidence *e)
{
    return e->n_parted == e->k && e->halves >= HALVES_AGREE;
}

static bool both_separate(const verdict_evidence *e)
{
    return e->k == 2 && all_separate(e);
}

static bool most_separate(const verdict_evidence *e)
{
    return most_items(e) && e->halves >= HALVES_AGREE;
}

static bool one_parted(const verdict_evidence *e)
{
    return e->n_parted == 1;
}

static bool some_parted(const verdict_evidence *e)
{
    return e->n_parted > 0;
}

static bool torn_graph(const verdict_evidence *e)
{
    return e->torn;
}

static bool other_parts(const verdict_evidence *e)
{
    return e->stepped;
}

static bool few_items(const verdict_evidence *e)
{
    return e->n < VERDICT_ITEMS;
}

static bool items_differ(const verdict_evidence *e)
{
    return e->items_alike_p <= VERDICT_DIFFER_P;
}

static bool few_that_differ(const verdict_evidence *e)
{
    return few_items(e) && items_differ(e);
}

static bool halves_same(const verdict_evidence *e)
{
    double side_by_side = SIDE_SHARE * (double)e->n / (double)e->k;
    return e->halves >= verdict_halves_from(e->k) &&
           e->items >= fmin(side_by_side, VERDICT_FEW_ACROSS);
}

static bool even_density(const verdict_evidence *e)
{
    return e->score < NONE_SCORE && e->items >= NONE_ITEMS;
}

static bool may_be_cloud(const verdict_evidence *e)
{
    return even_density(e) && !(e->halves >= CLOUD_HALVES);
}

static bool alike(const verdict_evidence *e)
{
    return may_be_cloud(e) && e->items_alike_p > VERDICT_DIFFER_P;
}

static bool even_that_differ(const verdict_evidence *e)
{
    return even_density(e) && items_differ(e);
}

static bool gap_not_held(const verdict_evidence *e)
{
    return e->score >= e->clear_from && e->held < e->held_from;
}

static bool otherwise(const verdict_evidence *e)
{
    (void)e;
    return true;
}

/* In a sentence, {k}, {n}, {parted}, {components}, {parts}, {share} (in percent), {halves}, {limit}
 * (of halves), {steps} and {p} are replaced by numbers from the evidence. */
typedef struct verdict_case {
    bool (*applies)(const verdict_evidence *e);
    ddsc_level level;
    const char *sentence;
} verdict_case;

static const verdict_case cases[] = {
    {one_cluster, DDSC_LEVEL_TOO_FEW, "Not judged: one cluster has no boundary."},
    {one_item_each, DDSC_LEVEL_TOO_FEW, "Not judged: every item is its own cluster."},
    {not_examined, DDSC_LEVEL_TOO_FEW, "Not judged: this method does not build a graph."},
    {copies_only, DDSC_LEVEL_TOO_FEW,
     "Not decided: many items are exact copies, so their neighbors are only copies and cannot show "
     "gaps."},
    {steps_separate, DDSC_LEVEL_SEPARATE,
     "The clusters are separate: the smallest distance between parts of the data is {steps} times "
     "the longest step within a part."},
    {both_separate, DDSC_LEVEL_SEPARATE,
     "The clusters are separate: a gap isolates them, and halves of the items give the same "
     "clusters ({halves})."},
    {all_separate, DDSC_LEVEL_SEPARATE,
     "The clusters are separate: gaps isolate all {k} clusters, and halves of the items give the "
     "same clusters ({halves})."},
    {most_separate, DDSC_LEVEL_SEPARATE,
     "The clusters are separate: gaps isolate {parted} of {k} clusters ({share} of the items), and "
     "halves "
     "of the items give the same clusters ({halves})."},
    {most_items, DDSC_LEVEL_PARTLY,
     "Gaps separate {parted} of {k} clusters ({share} of the items), but halves of the items give "
     "different clusters."},
    {one_parted, DDSC_LEVEL_PARTLY,
     "A gap separates 1 of {k} clusters ({share} of the items) from the rest. The other boundaries "
     "are not confirmed."},
    {some_parted, DDSC_LEVEL_PARTLY,
     "Gaps separate {parted} of {k} clusters ({share} of the items) from the rest. The other "
     "boundaries are not confirmed."},
    {torn_graph, DDSC_LEVEL_PARTLY,
     "The neighbor graph has {components} disconnected components, but no cluster consists of "
     "whole components. The boundaries of the clusters are not confirmed."},
    {other_parts, DDSC_LEVEL_PARTLY,
     "The items form {parts} separate parts, but no cluster consists of whole parts. The "
     "boundaries of the clusters are not confirmed."},
    {few_that_differ, DDSC_LEVEL_TOO_FEW,
     "There are too few items to decide: the items differ by more than chance can explain "
     "(p {p}), but {n} items cannot distinguish clusters from a continuum."},
    {few_items, DDSC_LEVEL_TOO_FEW,
     "There are too few items to decide: {n} items cannot distinguish a gap from chance."},
    {halves_same, DDSC_LEVEL_REPRODUCIBLE,
     "The clusters touch, but halves of the items give the same clusters ({halves}; data without "
     "clusters rarely reach {limit} at this K)."},
    {alike, DDSC_LEVEL_ONE_CLOUD,
     "One cloud: nothing separates the items, and their points differ no more than chance can "
     "explain "
     "(p {p})."},
    {even_that_differ, DDSC_LEVEL_CONTINUUM,
     "The data do not show whether these are clusters or a continuum: the items differ (p {p}), "
     "but they are as dense across the boundaries as inside the clusters."},
    {even_density, DDSC_LEVEL_CONTINUUM,
     "The data do not show whether these are clusters or a continuum: items are as dense across "
     "the boundaries as inside the clusters."},
    {gap_not_held, DDSC_LEVEL_CONTINUUM,
     "The data do not show whether these are clusters or a continuum: the deepest gap is not "
     "confirmed by items that were not used to find it."},
    {otherwise, DDSC_LEVEL_CONTINUUM,
     "The data do not show whether these are clusters or a continuum: no gap is deeper than the "
     "gaps in a continuum."},
};

static const verdict_case *case_of(const verdict_evidence *e)
{
    const verdict_case *c = cases;
    while (!c->applies(e))
        c++;
    return c;
}

ddsc_level verdict_level(const verdict_evidence *e)
{
    return case_of(e)->level;
}

bool verdict_asks_points(const verdict_evidence *e)
{
    bool (*applies)(const verdict_evidence *) = case_of(e)->applies;
    return applies == few_items || applies == even_density;
}

bool verdict_names_outliers(const verdict_evidence *e)
{
    bool (*applies)(const verdict_evidence *) = case_of(e)->applies;
    return applies == alike || applies == even_density || applies == even_that_differ;
}

/* Writes the number that replaces a name in braces in a sentence. */
static void put_number(char *out, size_t size, const char *name, const verdict_evidence *e)
{
    if (strncmp(name, "{k}", 3) == 0)
        snprintf(out, size, "%lld", (long long)e->k);
    else if (strncmp(name, "{n}", 3) == 0)
        snprintf(out, size, "%lld", (long long)e->n);
    else if (strncmp(name, "{parted}", 8) == 0)
        snprintf(out, size, "%lld", (long long)e->n_parted);
    else if (strncmp(name, "{components}", 12) == 0)
        snprintf(out, size, "%lld", (long long)e->n_components);
    else if (strncmp(name, "{parts}", 7) == 0)
        snprintf(out, size, "%lld", (long long)e->n_parts);
    else if (strncmp(name, "{share}", 7) == 0)
        snprintf(out, size, "%.0f%%", 100 * e->share);
    else if (strncmp(name, "{halves}", 8) == 0)
        snprintf(out, size, "%.2f", e->halves);
    else if (strncmp(name, "{limit}", 7) == 0)
        snprintf(out, size, "%.2f", verdict_halves_from(e->k));
    else if (strncmp(name, "{steps}", 7) == 0)
        snprintf(out, size, "%.3g", e->step_ratio);
    else
        snprintf(out, size, "%.3g", e->items_alike_p);
}

void verdict_put_headline(char *out, size_t size, const verdict_evidence *e)
{
    size_t used = 0;
    for (const char *at = case_of(e)->sentence; *at && used + 1 < size; at++) {
        if (*at != '{') {
            out[used++] = *at;
            continue;
        }
        char number[32];
        put_number(number, sizeof number, at, e);
        for (const char *digit = number; *digit && used + 1 < size; digit++)
            out[used++] = *digit;
        at = strchr(at, '}');
    }
    out[used] = '\0';
}
