/* The parts of `ddsc explain`. */
#ifndef DDSC_CLI_EXPLAIN_H
#define DDSC_CLI_EXPLAIN_H

#include "json.h"

/* Explains the transport between the two items that follow the folder. Returns the exit code. */
int explain_items(session *s);

#endif
