/* states: the results of `ddsc states`, which are the states of the points of a result, their
 * shares, and their changes. */
#ifndef DDSC_CLI_STATES_H
#define DDSC_CLI_STATES_H

#include "json.h"
#include "result_items.h"
#include "test_output.h"

/* One side of a comparison: an item or a cluster. */
typedef struct states_side {
    char name[320];
    int64_t *items, n;
} states_side;

/* One column of --by: the shares of the states, and the means of the coordinates in each state. */
typedef struct states_column {
    ddsc_effects *shares, *shifts;
    ddsc_effects_view share, shift;
} states_column;

typedef struct states_result {
    session *s;
    result_items *items;
    ddsc_states *states;
    ddsc_states_view v;
    test_columns columns;
    int64_t n_by;
    states_column by[TEST_COLUMNS];
    const ddsc_column *of[TEST_COLUMNS]; /* the columns of --by */
    bool compared;
    states_side side[2];
    ddsc_states_flow flow;
} states_result;

/* Minimum number of points of an item in a state. Means of fewer points are not used. */
enum { STATES_LEAST_POINTS = 5 };

json_t *states_to_json(const states_result *r);
void states_to_text(text *t, const states_result *r);
/* Returns the name of a coordinate. `space` is a buffer for a name created here. */
const char *states_coordinate(const states_result *r, int64_t coordinate, char space[40]);

#endif
