/* Squared distances between two lists of points in many dimensions, bit for bit those of
 * cost_panels.h: for items that share points, a list holds each point once. */
#ifndef DDSC_OT_COST_TABLE_H
#define DDSC_OT_COST_TABLE_H

#include "ot/cost_panels.h"

/* Points, centred: as rows in blocks of four, or as columns in blocks of sixteen with one
 * coordinate of all beside each other. */
typedef struct cost_list {
    int64_t n;
    const int32_t *index;
    double *x, *norm2;
} cost_list;

/* Doubles for the points and the norms of n points in d dimensions, as rows or columns. */
int64_t cost_list_room(int64_t n, int64_t d);
void cost_list_rows(cost_list *list, double *room, const points *table, int64_t n,
                    const int32_t *index);
void cost_list_columns(cost_list *list, double *room, const points *table, int64_t n,
                       const int32_t *index);
/* Whole blocks: room in out for cost_table_size, from row to row cost_table_stride. */
int64_t cost_table_stride(int64_t n_columns);
int64_t cost_table_size(int64_t n_rows, int64_t n_columns);
void cost_table_fill(const points *table, const cost_list *rows, const cost_list *columns,
                     double *out);

#endif
