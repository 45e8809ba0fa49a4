/* progress: signs of life on standard error. */
#ifndef DDSC_CLI_PROGRESS_H
#define DDSC_CLI_PROGRESS_H

#include "cli.h"

typedef struct progress progress;

progress *progress_create(cli_progress how, bool quiet);
void progress_destroy(progress *p); /* takes the bar away */
/* The library's callback; user is the progress. */
void progress_event(void *user, const char *stage, int64_t done, int64_t total);
/* Does somebody watch: a bar on a terminal, or a program that asked for events? */
bool progress_watched(const progress *p);
/* What the work ahead will take, in words and numbers. */
void progress_estimate(const progress *p, const char *words, double low, double high, double bytes,
                       bool could_resume);
/* Take the bar off the terminal so that other words can be printed. */
void progress_clear(void);

#endif
