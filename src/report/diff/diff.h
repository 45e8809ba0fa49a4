/* diff: two results, compared by the items that they share. */
#ifndef DDSC_REPORT_DIFF_DIFF_H
#define DDSC_REPORT_DIFF_DIFF_H

#include "base/text.h"
#include "report/result/result.h"

/* What happened to an item, or to the items that have the same clusters in both results. */
typedef enum diff_change {
    DIFF_SAME = 0, /* its cluster is the same cluster in both results, or it is in none */
    DIFF_SPLIT,    /* its old cluster split, and its new cluster is one of the parts */
    DIFF_MERGED,   /* its new cluster merges several ones, and its old cluster is one of them */
    DIFF_MOVED,    /* any other change between two clusters */
    DIFF_ENTERED,  /* it was in no cluster and now is in one */
    DIFF_LEFT,     /* the reverse */
    DIFF_ADDED,    /* only the second result has it */
    DIFF_REMOVED,  /* only the first result has it */
    DIFF_CHANGES
} diff_change;

/* All items that go from one cluster to another. The value k of a side means "in no cluster", and
 * k + 1 means that this side does not have the items. */
typedef struct diff_flow {
    int64_t from, to, n;
    diff_change change;
} diff_flow;

enum { DIFF_NO_CLUSTER = 0, DIFF_ABSENT = 1 }; /* added to k */

struct ddsc_diff {
    ddsc_context *ctx;
    json_t *tree;
    bool numbers; /* the ids of both results are row numbers */
    struct diff_side {
        ddsc_report *result; /* only the tree, the labels of the rows, n_rows and k */
        char *name;
        text_table id;  /* string i is the id of row i */
        int64_t *other; /* row of the same item in the other result, or -1 */
        int64_t *size;  /* number of items of each cluster */
    } side[2];
    int64_t n_shared, count[DIFF_CHANGES];
    ddsc_identity *identity;
    ddsc_identity_view view;
    ddsc_scores scores;
    char *change; /* k x k: a diff_change for each pair of clusters */
    diff_flow *flow;
    int64_t n_flows; /* changes first, then by decreasing number of items */
};

/* Takes ownership of the two sides, which have a result with a tree and labels, a name and ids, and
 * compares them. */
ddsc_status diff_run(ddsc_diff *d, const ddsc_identity_settings *settings);
/* Copies the caller's struct, and checks that a folder or labels are given. */
ddsc_status diff_check_side(ddsc_context *ctx, ddsc_diff_side *side, const ddsc_diff_side *given);
/* Takes the labels, ids and JSON text of an open side that is not a folder. */
ddsc_status diff_take_side(ddsc_diff *d, int side, const ddsc_diff_side *from);
/* Creates an empty side, whose result has the context of d. */
ddsc_status diff_side_open(ddsc_diff *d, int side, const char *name);
/* Adds the id of a row. Rows must be added in order. */
ddsc_status diff_take_id(ddsc_diff *d, int side, int64_t row, const char *id);
/* Returns the change of an item of side 0 (`row` of side 0), or of an item that only side 1 has. */
diff_change diff_of_row(const ddsc_diff *d, int side, int64_t row, int64_t *from, int64_t *to);
const char *diff_change_name(diff_change change);
/* Builds d->tree. */
ddsc_status diff_put_tree(ddsc_diff *d);

/* ---- as text, table, page and figure ---- */

/* Appends "3 (oil, shares)", "in no cluster" or "not in the first result". */
void diff_add_end(buffer *b, const ddsc_diff *d, int side, int64_t cluster);
/* Appends ids of the items of a flow, separated by commas, and the number of further ones. */
void diff_add_ids(buffer *b, const ddsc_diff *d, const diff_flow *flow, int64_t most);
void diff_add_page(buffer *b, const ddsc_diff *d);
/* Writes the flow diagram as inline SVG. Each of the first `most` flows links to #flow-N. */
void diff_add_flows(buffer *b, const ddsc_diff *d, int64_t most);
/* Returns the color of a cluster. A cluster has the same color in both results. */
int32_t diff_color(const ddsc_diff *d, int side, int64_t cluster);

#endif
