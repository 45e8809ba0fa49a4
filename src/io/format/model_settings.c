/* Reads and writes the settings of a model, which are stored as arrays of texts of the form
 * "name=value", one per field. */
#include <stdio.h>
#include <string.h>

#include "data/model.h"
#include "io/format/archive.h"

typedef enum field_kind { FIELD_COUNT, FIELD_NUMBER, FIELD_CHOICE, FIELD_WORD } field_kind;

typedef struct field {
    const char *name;
    field_kind kind;
    size_t offset;       /* offset of an int64_t, a double, an enum, or an enum stored as int64_t */
    const char *choices; /* names of the enum values in order, each followed by a space */
} field;

#define AT(member) offsetof(struct ddsc_model, member)

static const field model_fields[] = {
    {"k", FIELD_COUNT, AT(k), NULL},
    {"tau", FIELD_COUNT, AT(tau), NULL},
    {"gamma", FIELD_NUMBER, AT(gamma), NULL},
    {"least_scale", FIELD_NUMBER, AT(least_scale), NULL},
    {"far_distance", FIELD_NUMBER, AT(far_distance), NULL},
    {"far_neighbor", FIELD_COUNT, AT(far_neighbor), NULL},
    {"metric", FIELD_CHOICE, AT(metric.metric), "w2 sinkhorn mmd lot w1 "},
    {"epsilon", FIELD_NUMBER, AT(metric.epsilon), NULL},
    {"sinkhorn_value", FIELD_CHOICE, AT(metric.sinkhorn_value),
     "regularized sharp debiased paper "},
    {"sinkhorn_tolerance", FIELD_NUMBER, AT(metric.sinkhorn_tolerance), NULL},
    {"sinkhorn_max_iterations", FIELD_COUNT, AT(metric.sinkhorn_max_iterations), NULL},
    {"mmd_kernel", FIELD_CHOICE, AT(metric.mmd_kernel), "gaussian laplace energy "},
    {"bandwidth", FIELD_NUMBER, AT(metric.bandwidth), NULL},
    {"mmd_estimator", FIELD_CHOICE, AT(metric.mmd_estimator), "unbiased biased "},
    {"w2_max_pivots", FIELD_COUNT, AT(metric.w2_max_pivots), NULL},
    {"cost", FIELD_WORD, AT(metric.cost), "default sqeuclidean euclidean cosine cityblock matrix "},
};
/* Settings that were added after version 0.2.0. These settings are stored in a separate array,
 * which version 0.2.0 ignores. */
static const field run_fields[] = {
    {"frame", FIELD_WORD, AT(run.frame.kind),
     "none plain grid dense field field_strips grid_strips "},
    {"frame_unit", FIELD_NUMBER, AT(run.frame.unit), NULL},
    {"frame_spread", FIELD_NUMBER, AT(run.frame.spread), NULL},
    {"frame_step_0", FIELD_NUMBER, AT(run.frame.step[0]), NULL},
    {"frame_step_1", FIELD_NUMBER, AT(run.frame.step[1]), NULL},
    {"mmd_features", FIELD_COUNT, AT(run.mmd_features), NULL},
    {"lot_components", FIELD_COUNT, AT(run.lot_components), NULL},
    {"neighbors", FIELD_WORD, AT(run.neighbors), "auto exact approximate "},
    {"paper", FIELD_COUNT, AT(run.paper), NULL},
    {"sample", FIELD_NUMBER, AT(run.sample), NULL},
    {"sample_columns", FIELD_NUMBER, AT(run.sample_columns), NULL},
    {"min_cluster", FIELD_NUMBER, AT(run.min_cluster), NULL},
    {"seed", FIELD_COUNT, AT(run.seed), NULL},
    {"clusters", FIELD_COUNT, AT(run.k), NULL},
    {"next_id", FIELD_COUNT, AT(run.next_id), NULL},
};

/* Settings as they were requested. Models of earlier versions lack the array that contains
 * them. */
static const field rule_fields[] = {
    {"tau", FIELD_COUNT, AT(rules.tau), NULL},
    {"hubs", FIELD_WORD, AT(rules.hubs), "default off auto always "},
    {"gamma", FIELD_WORD, AT(rules.gamma_rule), "auto median value local "},
    {"bandwidth", FIELD_WORD, AT(rules.bandwidth_rule), "auto median value near "},
    {"estimator", FIELD_WORD, AT(rules.estimator), "unbiased biased auto "},
    {"reference", FIELD_WORD, AT(rules.reference_rule), "normal kmeans measures auto "},
    {"reference_size", FIELD_COUNT, AT(rules.reference_size), NULL},
    {"epsilon", FIELD_NUMBER, AT(rules.epsilon), NULL},
    {"epsilon_is_percent", FIELD_COUNT, AT(rules.epsilon_is_percent), NULL},
};
static const model_rules default_rules = {
    .estimator = DDSC_MMD_AUTO,
    .reference_rule = DDSC_REFERENCE_AUTO,
    .epsilon = 5,
    .epsilon_is_percent = 1,
};

/* One array of settings. The last `n_optional` fields may be missing. */
typedef struct field_table {
    const char *array;
    const field *fields;
    int n, n_optional;
} field_table;

enum {
    MODEL_FIELDS = sizeof model_fields / sizeof *model_fields,
    RUN_FIELDS = sizeof run_fields / sizeof *run_fields,
    RULE_FIELDS = sizeof rule_fields / sizeof *rule_fields,
    MOST_FIELDS = MODEL_FIELDS > RUN_FIELDS ? MODEL_FIELDS : RUN_FIELDS,
    FIELD_TEXT = 96
};

/* The field `cost` is omitted for the squared Euclidean cost, so that versions that support no
 * other cost can read the settings. */
static const field_table model_table = {"model_settings", model_fields, MODEL_FIELDS, 1};
static const field_table run_table = {"run_settings", run_fields, RUN_FIELDS, 1};
static const field_table rule_table = {"requested_settings", rule_fields, RULE_FIELDS, 0};

static bool has_cost_line(const ddsc_model *m)
{
    return m->metric.cost != DDSC_COST_DEFAULT && m->metric.cost != DDSC_COST_SQEUCLIDEAN;
}

typedef struct settings_text {
    char line[MOST_FIELDS][FIELD_TEXT];
} settings_text;

/* Writes word number `which` of the list `choices` to `out`. */
static void choice_format(char *out, const char *choices, int which)
{
    for (; which > 0; which--)
        choices += strcspn(choices, " ") + 1;
    snprintf(out, FIELD_TEXT / 2, "%.*s", (int)strcspn(choices, " "), choices);
}

static void settings_format(settings_text *t, const field *fields, int n, const ddsc_model *m)
{
    for (int k = 0; k < n; k++) {
        const void *at = (const char *)m + fields[k].offset;
        char value[FIELD_TEXT / 2];
        switch (fields[k].kind) {
        case FIELD_COUNT:
            snprintf(value, sizeof value, "%lld", (long long)*(const int64_t *)at);
            break;
        case FIELD_NUMBER: number_format(value, *(const double *)at); break;
        case FIELD_CHOICE: choice_format(value, fields[k].choices, *(const int *)at); break;
        case FIELD_WORD: choice_format(value, fields[k].choices, (int)*(const int64_t *)at); break;
        }
        snprintf(t->line[k], FIELD_TEXT, "%s=%s", fields[k].name, value);
    }
}

static bool choice_parse(int *out, const char *choices, const char *value)
{
    size_t n = strlen(value);
    *out = 0;
    for (; *choices; choices += strcspn(choices, " ") + 1, ++*out)
        if (n > 0 && strcspn(choices, " ") == n && memcmp(choices, value, n) == 0)
            return true;
    return false;
}

static bool field_parse(ddsc_model *m, const field *f, const char *value)
{
    void *at = (char *)m + f->offset;
    switch (f->kind) {
    case FIELD_COUNT: return number_parse_integer(value, at);
    case FIELD_NUMBER: return number_parse(value, at);
    case FIELD_CHOICE: return choice_parse(at, f->choices, value);
    case FIELD_WORD: break;
    }
    int word;
    bool known = choice_parse(&word, f->choices, value);
    *(int64_t *)at = word;
    return known;
}

static const char *get_line(const void *arg, int64_t i)
{
    return ((const settings_text *)arg)->line[i];
}

ddsc_status npz_add_model_settings(npz_writer *z, const ddsc_model *m)
{
    settings_text text;
    settings_format(&text, model_fields, MODEL_FIELDS, m);
    CHECK(npz_add_strings(z, model_table.array, get_line, &text, MODEL_FIELDS - !has_cost_line(m)));
    if (m->run.frame.kind == FRAME_NONE)
        return DDSC_OK;
    settings_format(&text, run_fields, RUN_FIELDS, m);
    CHECK(npz_add_strings(z, run_table.array, get_line, &text, RUN_FIELDS - !m->run.next_id));
    settings_format(&text, rule_fields, RULE_FIELDS, m);
    return npz_add_strings(z, rule_table.array, get_line, &text, RULE_FIELDS);
}

/* ---- reading ---- */

/* Prefixes of settings whose spelling has changed since version 0.2.0, with the current
 * spelling. */
static const struct {
    const char *old, *name;
} renamed[] = {{"far_neighbour=", "far_neighbor="},
               {"sinkhorn_value=regularised", "sinkhorn_value=regularized"}};

/* Copies a setting in its current spelling, truncated to `size` bytes. */
static void setting_copy(char *out, size_t size, const char *text, size_t n)
{
    const char *name = "";
    size_t skip = 0;
    for (size_t k = 0; k < sizeof renamed / sizeof *renamed; k++) {
        size_t length = strlen(renamed[k].old);
        if (n >= length && memcmp(text, renamed[k].old, length) == 0) {
            name = renamed[k].name;
            skip = length;
        }
    }
    snprintf(out, size, "%s%.*s", name, (int)BASE_MIN(n - skip, size), text + skip);
}

typedef struct settings_reader {
    archive *z;
    ddsc_model *m;
    const field_table *table;
    bool seen[MOST_FIELDS];
} settings_reader;

static ddsc_status take_setting(void *arg, int64_t element, const char *text, size_t n)
{
    settings_reader *r = arg;
    const field *fields = r->table->fields;
    char line[FIELD_TEXT], quoted[QUOTE_TEXT];
    (void)element;
    setting_copy(line, sizeof line, text, n);
    char *value = strchr(line, '=');
    for (int k = 0; value && n < sizeof line && k < r->table->n; k++) {
        size_t length = (size_t)(value - line);
        if (r->seen[k] || strlen(fields[k].name) != length ||
            memcmp(fields[k].name, line, length) != 0)
            continue;
        r->seen[k] = field_parse(r->m, &fields[k], value + 1);
        if (r->seen[k])
            return DDSC_OK;
    }
    return stream_fail(r->z->member, "has an invalid setting: \"%s\"", text_quote(quoted, text, n));
}

static ddsc_status read_settings_of(archive *z, ddsc_model *m, const field_table *table)
{
    settings_reader r = {.z = z, .m = m, .table = table};
    CHECK(archive_open_array(z, table->array, 1));
    CHECK(npy_read_text(z->ctx, z->member, &z->array, take_setting, &r));
    for (int k = 0; k < table->n - table->n_optional; k++)
        if (!r.seen[k])
            CHECK(stream_fail(z->member, "is missing the setting %s", table->fields[k].name));
    return archive_close_array(z);
}

ddsc_status archive_read_model_settings(archive *z, ddsc_model *m)
{
    if (!archive_has(z, model_table.array))
        return stream_fail(z->s, "is not a complete model: the array '%s' is missing",
                           model_table.array);
    CHECK(read_settings_of(z, m, &model_table));
    ddsc_metric_settings *metric = &m->metric;
    bool kernel = metric->metric == DDSC_METRIC_MMD && metric->mmd_kernel != DDSC_KERNEL_ENERGY;
    metric->bandwidth_rule = kernel ? DDSC_BANDWIDTH_VALUE : DDSC_BANDWIDTH_AUTO;
    metric->epsilon_is_percent = metric->metric != DDSC_METRIC_SINKHORN;
    m->rules = default_rules;
    if (archive_has(z, rule_table.array))
        CHECK(read_settings_of(z, m, &rule_table));
    return archive_has(z, run_table.array) ? read_settings_of(z, m, &run_table) : DDSC_OK;
}
