/* Half an iteration of sinkhorn_shared.h: products with a symmetric kernel and what follows. */
#ifndef DDSC_SINKHORN_SHARED_KERNEL_H
#define DDSC_SINKHORN_SHARED_KERNEL_H

#include <stdint.h>

enum { SHARED_WIDTH = 16 };

/* One side of all columns: next <- relaxed weight / (K other). */
typedef struct half_step {
    const double *kernel;
    int64_t rows;
    int width; /* lanes: SHARED_WIDTH or 1 */
    const double *other, *weight, *scale;
    double *next;
    double *sum;                 /* rows: room for a pair on its own */
    double beyond[SHARED_WIDTH]; /* omega - 1 */
    int64_t move[SHARED_WIDTH];  /* all bits: the scaling is changed */
    double error[SHARED_WIDTH];  /* of the marginal, before */
    double mass[SHARED_WIDTH];   /* before */
    double low[SHARED_WIDTH], high[SHARED_WIDTH];
} half_step;

/* A lane of the full width and a pair on its own come out the same to the last bit. */
void shared_half_run(half_step *h);

#endif
