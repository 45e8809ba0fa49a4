/* A running sum that also accumulates its rounding errors, using Knuth's error-free addition of
 * two numbers. */
#ifndef DDSC_BASE_SUM_H
#define DDSC_BASE_SUM_H

#include <stdint.h>

typedef struct sum {
    double high, low;
} sum;

static inline void sum_add(sum *s, double x)
{
    double t = s->high + x, part = t - s->high;
    s->low += (s->high - (t - part)) + (x - part);
    s->high = t;
}

static inline double sum_value(sum s)
{
    return s.high + s.low;
}

static inline double sum_array(const double *x, int64_t n)
{
    sum s = {0, 0};
    for (int64_t i = 0; i < n; i++)
        sum_add(&s, x[i]);
    return sum_value(s);
}

#endif
