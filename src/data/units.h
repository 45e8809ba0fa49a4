/* Checks the scales of the coordinates of a set. */
#ifndef DDSC_DATA_UNITS_H
#define DDSC_DATA_UNITS_H

#include "data/measures.h"

/* Fills the outputs of ddsc_units_run. */
ddsc_status units_find(ddsc_context *ctx, ddsc_units *units, const measures *m);

#endif
