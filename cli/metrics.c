/* Parses --metric, which is one metric or several joined with +, and suggests the valid name for
 * other common names. */
#include <string.h>
#include <strings.h>

#include "options.h"

/* Other common names of the metrics. */
static const struct {
    const char *name, *metric;
} also_called[] = {
    {"wasserstein", "w2"},  {"wasserstein2", "w2"},   {"w", "w2"},
    {"emd", "w2"},          {"emd2", "w2"},           {"ot", "w2"},
    {"exact", "w2"},        {"kantorovich", "w2"},    {"earth-mover", "w2"},
    {"earthmover", "w2"},   {"entropic", "sinkhorn"}, {"entropy", "sinkhorn"},
    {"cuturi", "sinkhorn"}, {"kernel", "mmd"},        {"energy", "mmd"},
    {"gaussian", "mmd"},    {"linear", "lot"},        {"linear-ot", "lot"},
    {"linearot", "lot"},    {"wasserstein1", "w1"},   {"wmd", "w1"},
    {"word-mover", "w1"},   {"wordmover", "w1"},
};

const char *metric_meant(const char *word)
{
    for (size_t i = 0; i < sizeof also_called / sizeof *also_called; i++)
        if (strcasecmp(word, also_called[i].name) == 0)
            return also_called[i].metric;
    for (const option_choice *c = choices_metric; c->name; c++)
        if (strcasecmp(word, c->name) == 0)
            return c->name;
    return NULL;
}

bool metric_used(const session *s, ddsc_metric metric)
{
    return s->set.metric.metric == metric || (s->set.cluster.joined >> metric & 1);
}

void metric_add_names(text *t, const session *s)
{
    text_add(t, choice_name(choices_metric, (int)s->set.metric.metric));
    for (const option_choice *c = choices_metric; c->name; c++)
        if (s->set.cluster.joined >> c->value & 1)
            text_addf(t, "+%s", c->name);
}

/* Returns the metric whose name is the given n bytes, or NULL. */
static const option_choice *find(const char *word, size_t n)
{
    for (const option_choice *c = choices_metric; c->name; c++)
        if (strlen(c->name) == n && memcmp(c->name, word, n) == 0)
            return c;
    return NULL;
}

static int say_unknown(const cli_verb *verb, const char *value, const char *part, size_t n)
{
    text word = {0};
    text_add_bytes(&word, part, n);
    const char *near = metric_meant(text_get(&word));
    message_usage(verb, "--metric: '%s' in '%s' is not one of w2, w1, sinkhorn, mmd, lot%s%s%s",
                  text_get(&word), value, near ? "; did you mean '" : "", near ? near : "",
                  near ? "'?" : "");
    text_free(&word);
    return EXIT_USAGE;
}

int metric_join(cli_options *o, const cli_verb *verb, const char *value)
{
    int64_t all = 0;
    int own = -1;
    for (const char *part = value, *next; part; part = next) {
        size_t n = strcspn(part, "+");
        next = part[n] ? part + n + 1 : NULL;
        const option_choice *c = find(part, n);
        if (!c)
            return say_unknown(verb, value, part, n);
        if (all >> c->value & 1)
            return message_usage(verb, "--metric: '%s' contains %s twice", value, c->name);
        all |= (int64_t)1 << c->value;
        own = own < 0 ? c->value : own;
    }
    if (!verb_has_option(verb, "min-cluster"))
        return message_usage(verb,
                             "--metric: '%s' joins several metrics, which only 'ddsc cluster' "
                             "supports; specify one metric",
                             value);
    o->metric.metric = (ddsc_metric)own;
    o->cluster.joined = all & ~((int64_t)1 << own);
    return EXIT_GOOD;
}

const char *value_metrics(cli_options *o, const char *value)
{
    static const char wanted[] = "a list of w2, w1, sinkhorn, mmd, lot, separated by commas";
    int64_t all = 0;
    int own = -1;
    for (const char *part = value, *next; part; part = next) {
        size_t n = strcspn(part, ",");
        const option_choice *c = find(part, n);
        next = part[n] ? part + n + 1 : NULL;
        if (!c || (all >> c->value & 1))
            return wanted;
        all |= (int64_t)1 << c->value;
        own = own < 0 ? c->value : own;
    }
    o->metric.metric = (ddsc_metric)own;
    o->cluster.joined = all & ~((int64_t)1 << own);
    return NULL;
}
