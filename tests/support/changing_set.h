/* A set of items that changes at random. */
#ifndef DDSC_TESTS_CHANGING_SET_H
#define DDSC_TESTS_CHANGING_SET_H

#include "base/base.h"
#include "ddsc/ddsc.h"

enum { CHANGING_MOST = 320, CHANGING_POINTS = 40, CHANGES = 6 };

typedef struct changing_set {
    int64_t n, next; /* next: the first number that was never used */
    int64_t number[CHANGING_MOST];
    bool images, small;
} changing_set;

/* Creates the items with these numbers. An item is a function of its number only. */
ddsc_measures *changing_items(ddsc_context *ctx, const changing_set *p, const int64_t *number,
                              int64_t n);
/* Removes items, and adds new ones. removed receives the indices of the removed ones. */
void changing_step(changing_set *p, rng *r, int64_t *removed, int64_t *n_removed, int64_t *n_added);

#endif
