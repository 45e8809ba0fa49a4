/* test_output: the columns and the result of `ddsc test`, and their description. */
#ifndef DDSC_CLI_TEST_OUTPUT_H
#define DDSC_CLI_TEST_OUTPUT_H

#include "json.h"
#include "result_items.h"

enum { TEST_COLUMNS = 256 };

/* The columns of one test. */
typedef struct test_columns {
    ddsc_column column[TEST_COLUMNS];
    char *name[TEST_COLUMNS];
    const char **values[TEST_COLUMNS];
    int64_t n;
} test_columns;

/* Reads the columns given with --adjust, --by and --block. The caller must close them even after a
 * failure. */
bool test_columns_open(session *s, result_items *items, test_columns *c, int *code);
void test_columns_close(test_columns *c);
/* Returns the number of a column, or -1. */
int64_t test_columns_find(const test_columns *c, const char *name);

/* A test and all data that its description needs. */
typedef struct test_result {
    const session *s;
    const result_items *items;
    const test_columns *columns;
    ddsc_permanova_view v;
    json_t *notes;
} test_result;

/* Fills t->notes with sentences about the result. */
void test_make_notes(test_result *t);
json_t *test_to_json(const test_result *t, double seconds);
void test_to_text(text *out, const test_result *t);

#endif
