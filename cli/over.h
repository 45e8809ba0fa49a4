/* The option --over: the clusters of a result in each period of a metadata column. */
#ifndef DDSC_CLI_OVER_H
#define DDSC_CLI_OVER_H

#include "json.h"

/* Checks, before the computation starts, that the items have the column of --over. Returns true
 * without --over. */
bool over_check(session *s, const cli_input *in, int *code);
/* Adds the periods of --over to a report that was read from the folder in the first operand. The
 * column comes from the result or from the tables of --meta. Returns true without --over. */
bool over_add(session *s, ddsc_report *report, int *code);
/* Reads the folder in the first operand, and returns its tree with the key "over", or NULL after a
 * message. The caller releases it. */
json_t *over_load(session *s, int *code);
void over_to_text(text *t, const json_t *root);

#endif
