/* What `ddsc states` computes: the states of the points of a result, their shares, and how they
 * change. */
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

/* Points of an item that a state must have for its means to be used. */
enum { STATES_LEAST_POINTS = 5 };

json_t *states_to_json(const states_result *r);
void states_to_text(text *t, const states_result *r);
/* Returns the name of a coordinate, which may be written to `space`. */
const char *states_coordinate(const states_result *r, int64_t coordinate, char space[40]);

#endif
