/* progress: progress reports on standard error. */
#ifndef DDSC_CLI_PROGRESS_H
#define DDSC_CLI_PROGRESS_H

#include "cli.h"

typedef struct progress progress;

progress *progress_create(cli_progress how, bool quiet);
void progress_destroy(progress *p); /* also clears the bar */
/* Receives progress events from the library. `user` is the progress. */
void progress_event(void *user, const char *stage, int64_t done, int64_t total);
/* Returns true if progress is displayed as a bar on a terminal, or if a program requested
 * events. */
bool progress_watched(const progress *p);
/* Reports the estimated cost of the upcoming computation, as text or numbers. */
void progress_estimate(const progress *p, const char *words, double low, double high, double bytes,
                       bool could_resume);
/* Clears the bar from the terminal before other output. */
void progress_clear(void);

#endif
