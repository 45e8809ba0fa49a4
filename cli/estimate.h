/* estimate: what a run will take, from runs over a few of its items. */
#ifndef DDSC_CLI_ESTIMATE_H
#define DDSC_CLI_ESTIMATE_H

#include "cli.h"

/* --dry-run: read the input, say what would be done with it and what it would take. The exit code.
 */
int estimate_dry_run(session *s);
/* Before work that will be long, say so; only where somebody watches (a terminal, --progress). */
void estimate_announce(session *s, const cli_input *in);

#endif
