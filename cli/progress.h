/* progress: signs of life on standard error. */
#ifndef DDSC_CLI_PROGRESS_H
#define DDSC_CLI_PROGRESS_H

#include "cli.h"

typedef struct progress progress;

progress *progress_create(cli_progress how, bool quiet);
void progress_destroy(progress *p); /* takes the bar away */
/* The library's callback; user is the progress. */
void progress_event(void *user, const char *stage, int64_t done, int64_t total);
/* Take the bar off the terminal so that other words can be printed. */
void progress_clear(void);

#endif
