/* diff: the comparison of two results. */
#ifndef DDSC_REPORT_DIFF_DIFF_H
#define DDSC_REPORT_DIFF_DIFF_H

#include "base/text.h"
#include "report/result/result.h"

/* The change of an item, or of all items that have the same pair of clusters. */
typedef enum diff_change {
    DIFF_SAME = 0, /* the item is in the same cluster in both results, or in no cluster */
    DIFF_SPLIT,    /* the old cluster of the item split, and the new one is one of its parts */
    DIFF_MERGED,   /* the new cluster is a merge of several clusters, one of which is the old one */
    DIFF_MOVED,    /* any other change between two clusters */
    DIFF_ENTERED,  /* the item was in no cluster and is now in one */
    DIFF_LEFT,     /* the reverse */
    DIFF_ADDED,    /* the item is only in the second result */
    DIFF_REMOVED,  /* the item is only in the first result */
    DIFF_CHANGES
} diff_change;

/* All items with the same pair of an old and a new cluster. On each side, the value k means "in no
 * cluster", and k + 1 means that the side does not have the items. */
typedef struct diff_flow {
    int64_t from, to, n;
    diff_change change;
} diff_flow;

enum { DIFF_NO_CLUSTER = 0, DIFF_ABSENT = 1 }; /* added to k */

struct ddsc_diff {
    ddsc_context *ctx;
    json_t *tree;
    bool numbers; /* true if the ids of both results are row numbers */
    struct diff_side {
        ddsc_report *result; /* only tree, labels, n_rows and k are set */
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
    int64_t n_flows; /* changes come first, then larger flows before smaller ones */
};

/* Compares two sides and takes ownership of them. Each side has a result with a tree and labels, a
 * name and ids. */
ddsc_status diff_run(ddsc_diff *d, const ddsc_identity_settings *settings);
/* Copies the caller's struct, and checks that a folder or labels are given. */
ddsc_status diff_check_side(ddsc_context *ctx, ddsc_diff_side *side, const ddsc_diff_side *given);
/* Copies the labels, ids and JSON text of a side that is not a folder. */
ddsc_status diff_take_side(ddsc_diff *d, int side, const ddsc_diff_side *from);
/* Creates an empty side, whose result uses the context of d. */
ddsc_status diff_side_open(ddsc_diff *d, int side, const char *name);
/* Adds the id of a row. Rows must be added in order. */
ddsc_status diff_take_id(ddsc_diff *d, int side, int64_t row, const char *id);
/* Returns the change of the item in `row` of side 0, or of an item that only side 1 has. */
diff_change diff_of_row(const ddsc_diff *d, int side, int64_t row, int64_t *from, int64_t *to);
const char *diff_change_name(diff_change change);
/* Builds d->tree. */
ddsc_status diff_put_tree(ddsc_diff *d);

/* ---- output as text, table, page and figure ---- */

/* Appends a cluster as text, such as "3 (oil, shares)", "in no cluster" or "not in the first
 * result". */
void diff_add_end(buffer *b, const ddsc_diff *d, int side, int64_t cluster);
/* Appends ids of the items of a flow, separated by commas, and the number of ids that were omitted.
 * */
void diff_add_ids(buffer *b, const ddsc_diff *d, const diff_flow *flow, int64_t most);
void diff_add_page(buffer *b, const ddsc_diff *d);
/* Writes the flow diagram as inline SVG. Each of the first `most` flows is a link to #flow-N. */
void diff_add_flows(buffer *b, const ddsc_diff *d, int64_t most);
/* Returns the color of a cluster. A cluster has the same color in both results. */
int32_t diff_color(const ddsc_diff *d, int side, int64_t cluster);

#endif
