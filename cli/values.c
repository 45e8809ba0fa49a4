/* Parses option values with special syntax. Each function returns NULL, or a description of valid
 * values. */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns true if the whole word is a finite positive number. */
static bool positive(const char *value, double *out)
{
    char *end;
    *out = strtod(value, &end);
    return end != value && *end == '\0' && isfinite(*out) && *out > 0 &&
           strchr(" \t\n\r\f\v", *value) == NULL;
}

const char *value_clusters(cli_options *o, const char *value)
{
    static const char wanted[] = "a number (5), a range (5:10) or auto";
    int64_t low = 0, high = 0;
    if (strcmp(value, "auto") != 0) {
        char *end;
        errno = 0;
        low = high = strtoll(value, &end, 10);
        if (end == value || strchr("0123456789", *value) == NULL)
            return wanted;
        if (*end == ':') {
            const char *second = end + 1;
            high = strtoll(second, &end, 10);
            if (end == second || strchr("0123456789", *second) == NULL)
                return wanted;
        }
        if (*end || errno || low < 1 || high < low)
            return wanted;
    }
    o->cluster.k_min = low;
    o->cluster.k_max = high;
    o->k_given = true;
    return NULL;
}

const char *value_gamma(cli_options *o, const char *value)
{
    if (strcmp(value, "auto") == 0)
        o->cluster.gamma_rule = DDSC_GAMMA_AUTO;
    else if (strcmp(value, "median") == 0)
        o->cluster.gamma_rule = DDSC_GAMMA_MEDIAN;
    else if (strcmp(value, "local") == 0)
        o->cluster.gamma_rule = DDSC_GAMMA_LOCAL;
    else if (positive(value, &o->cluster.gamma))
        o->cluster.gamma_rule = DDSC_GAMMA_VALUE;
    else
        return "auto, local, median or a positive number";
    return NULL;
}

const char *value_epsilon(cli_options *o, const char *value)
{
    text number = {0};
    size_t n = strlen(value);
    bool percent = n > 0 && value[n - 1] == '%';
    text_add_bytes(&number, value, percent ? n - 1 : n);
    bool good = positive(text_get(&number), &o->metric.epsilon);
    o->metric.epsilon_is_percent = percent;
    text_free(&number);
    return good ? NULL : "a positive number (0.5) or a percentage of the median cost (5%)";
}

const char *value_bandwidth(cli_options *o, const char *value)
{
    if (strcmp(value, "auto") == 0)
        o->metric.bandwidth_rule = DDSC_BANDWIDTH_AUTO;
    else if (strcmp(value, "median") == 0)
        o->metric.bandwidth_rule = DDSC_BANDWIDTH_MEDIAN;
    else if (strcmp(value, "near") == 0)
        o->metric.bandwidth_rule = DDSC_BANDWIDTH_NEAR;
    else if (positive(value, &o->metric.bandwidth))
        o->metric.bandwidth_rule = DDSC_BANDWIDTH_VALUE;
    else
        return "auto, near, median or a positive number";
    return NULL;
}

const char *value_cost(cli_options *o, const char *value)
{
    const char *names[8];
    size_t n_names = 0;
    o->cost_file = NULL;
    for (const option_choice *c = choices_cost; c->name; c++) {
        names[n_names++] = c->name;
        if (strcmp(value, c->name) == 0) {
            o->metric.cost = c->value;
            return NULL;
        }
    }
    o->metric.cost = DDSC_COST_MATRIX;
    o->cost_file = value;
    if (*value == '\0')
        return "sqeuclidean, euclidean, cosine, cityblock or a file";
    const char *near = access(value, F_OK) == 0 ? NULL : suggest(value, names, n_names);
    static char wanted[80]; /* static, because it must live until the message is printed */
    snprintf(wanted, sizeof wanted, "a cost or an existing file; did you mean '%s'?",
             near ? near : "");
    return near ? wanted : NULL;
}

const char *value_reference(cli_options *o, const char *value)
{
    o->reference = NULL;
    if (strcmp(value, "auto") == 0)
        o->metric.reference_rule = DDSC_REFERENCE_AUTO;
    else if (strcmp(value, "normal") == 0)
        o->metric.reference_rule = DDSC_REFERENCE_NORMAL;
    else if (strcmp(value, "kmeans") == 0)
        o->metric.reference_rule = DDSC_REFERENCE_KMEANS;
    else if (*value)
        o->reference = value;
    else
        return "auto, normal, kmeans or a file";
    return NULL;
}

const char *value_sample(cli_options *o, const char *value)
{
    double p;
    if (!positive(value, &p) || p > 1)
        return "a fraction above 0 and at most 1";
    o->graph.sample = p;
    return NULL;
}

const char *value_sample_columns(cli_options *o, const char *value)
{
    double p;
    if (!positive(value, &p) || p > 1)
        return "a fraction above 0 and at most 1";
    o->graph.sample_columns = p;
    return NULL;
}

const char *value_memory(cli_options *o, const char *value)
{
    static const char units[] = "KMGT";
    char *end;
    double bytes = strtod(value, &end);
    if (end == value || strchr("0123456789.", *value) == NULL)
        bytes = NAN;
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    if (unit) {
        bytes = ldexp(bytes, 10 * (int)(unit - units + 1));
        end++;
        end += strcmp(end, "iB") == 0 || strcmp(end, "ib") == 0 ? 2 : 0;
        end += strcmp(end, "B") == 0 || strcmp(end, "b") == 0 ? 1 : 0;
    }
    if (*end || !(bytes >= 1) || bytes >= 9e18)
        return "a number of bytes, with K, M, G or T for binary multiples (8G)";
    o->memory = (int64_t)bytes;
    return NULL;
}

const char *value_min_cluster(cli_options *o, const char *value)
{
    double fraction = 0;
    if (strcmp(value, "0") != 0 && (!positive(value, &fraction) || fraction > 1))
        return "a fraction of N/K between 0 and 1";
    o->cluster.min_cluster = fraction;
    return NULL;
}

const char *value_tolerance(cli_options *o, const char *value)
{
    double given = 0;
    if (!positive(value, &given) || given < 1e-15 || given >= 1)
        return "a number of at least 1e-15 (the limit of double precision) and below 1";
    o->metric.sinkhorn_tolerance = given;
    return NULL;
}

const char *value_meta(cli_options *o, const char *value)
{
    if (*value == '\0')
        return "a file";
    if (o->n_meta == MAX_META)
        return "one of at most 16 tables";
    o->meta[o->n_meta++] = value;
    return NULL;
}

const char *value_input_format(cli_options *o, const char *value)
{
    if (strcmp(value, "h5ad") != 0)
        return "h5ad (other formats are detected by content)";
    o->read.format = DDSC_FORMAT_HDF5;
    return NULL;
}

/* Sets the format of the input (h5ad) or of the output (all others). */
const char *value_convert_format(cli_options *o, const char *value)
{
    if (strcmp(value, "h5ad") == 0)
        return value_input_format(o, value);
    for (const option_choice *c = choices_format; c->name; c++)
        if (strcmp(c->name, value) == 0) {
            o->format = c->value;
            return NULL;
        }
    return "npz, csv, tsv or d2 for the output, or h5ad for the input";
}

const char *value_compress(cli_options *o, const char *value)
{
    static const char wanted[] =
        "a number of points (32), auto, or a percentage of neighbors (95%)";
    char *end;
    errno = 0;
    o->compress = -1;
    o->compress_keep = 0.95;
    if (strcmp(value, "auto") == 0)
        return NULL;
    int64_t number = strtoll(value, &end, 10);
    if (end == value || errno || strchr("0123456789", *value) == NULL || number < 1)
        return wanted;
    if (strcmp(end, "%") == 0 && number <= 100)
        o->compress_keep = (double)number / 100;
    else if (*end == '\0')
        o->compress = number;
    else
        return wanted;
    return NULL;
}

const char *value_where(cli_options *o, const char *value)
{
    if (*value == '=' || !strchr(value, '='))
        return "COLUMN=VALUE";
    o->text.where = o->read.where = value;
    return NULL;
}
