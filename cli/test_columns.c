/* Reads the metadata columns that are given with --by, --adjust and --block. */
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "test_output.h"

void test_columns_close(test_columns *c)
{
    for (int64_t k = 0; k < c->n; k++) {
        free(c->name[k]);
        free(c->values[k]);
    }
}

/* Copies the next name of a comma-separated list without surrounding spaces, and advances *at.
 * Returns NULL at the end. */
static char *next_name(const char **at)
{
    const char *begin = *at;
    while (*begin == ' ' || *begin == ',')
        begin++;
    const char *end = begin + strcspn(begin, ",");
    *at = end;
    while (end > begin && end[-1] == ' ')
        end--;
    if (end == begin)
        return NULL;
    char *name = cli_allocate((size_t)(end - begin) + 1, 1);
    memcpy(name, begin, (size_t)(end - begin));
    return name;
}

int64_t test_columns_find(const test_columns *c, const char *name)
{
    for (int64_t k = 0; k < c->n; k++)
        if (strcmp(c->name[k], name) == 0)
            return k;
    return -1;
}

/* Adds the columns that an option lists. */
static bool add_columns(session *s, result_items *items, test_columns *c, const char *option,
                        const char *list, ddsc_column_role role, int *code)
{
    const char *at = list ? list : "";
    char *name;
    while ((name = next_name(&at))) {
        const char *const *value = NULL;
        if (test_columns_find(c, name) >= 0)
            *code = message_usage(s->verb, "--%s: the column '%s' is used twice", option, name);
        else if (c->n == TEST_COLUMNS)
            *code = message_usage(s->verb, "--%s: more than %d columns", option, TEST_COLUMNS);
        else
            value = result_items_column(s, items, name, code);
        if (!value) {
            free(name);
            return false;
        }
        int64_t n = items->in.view.n_items;
        const char **own = cli_allocate((size_t)n + 1, sizeof *own);
        memcpy(own, value, (size_t)n * sizeof *own);
        c->name[c->n] = name;
        c->values[c->n] = own;
        c->column[c->n] = (ddsc_column){.name = name, .text = own, .role = role};
        c->n++;
    }
    return true;
}

/* Applies --factor or --numeric. */
static bool set_kinds(session *s, test_columns *c, const char *option, const char *list,
                      ddsc_column_kind kind, int *code)
{
    const char *at = list ? list : "";
    char *name;
    bool good = true;
    while (good && (name = next_name(&at))) {
        int64_t k = test_columns_find(c, name);
        good = k >= 0 && c->column[k].kind == DDSC_COLUMN_AUTO;
        if (good)
            c->column[k].kind = kind;
        else
            *code = message_usage(s->verb, "--%s: '%s' is %s", option, name,
                                  k < 0 ? "neither in --by nor in --adjust" : "given two kinds");
        free(name);
    }
    return good;
}

bool test_columns_open(session *s, result_items *items, test_columns *c, int *code)
{
    const cli_options *o = &s->opt;
    bool good = add_columns(s, items, c, "adjust", o->adjust, DDSC_COLUMN_ADJUST, code) &&
                add_columns(s, items, c, "by", o->by, DDSC_COLUMN_BY, code) &&
                add_columns(s, items, c, "block", o->block, DDSC_COLUMN_BLOCK, code);
    return good && set_kinds(s, c, "factor", o->factor, DDSC_COLUMN_FACTOR, code) &&
           set_kinds(s, c, "numeric", o->numeric, DDSC_COLUMN_NUMBER, code);
}
