/* What the bounds of W2 share with its backend. */
#ifndef DDSC_METRIC_W2_H
#define DDSC_METRIC_W2_H

#include "bound/bound.h"

/* Where the state of the backend keeps its refined potentials; NULL there: none yet. */
bound_refined **w2_refined(void *state);

#endif
