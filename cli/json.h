/* json: JSON output of the verbs with --json. The library describes the result
 * (ddsc_report_create), and the verbs copy parts of this report. */
#ifndef DDSC_CLI_JSON_H
#define DDSC_CLI_JSON_H

#include <jansson.h>

#include "cli.h"

/* Adds a key with a value and takes ownership of `value`. If memory is exhausted, the program
 * exits. */
void json_put(json_t *object, const char *key, json_t *value);
void json_put_text(json_t *object, const char *key, const char *value); /* any bytes */
void json_put_count(json_t *object, const char *key, int64_t value);
void json_put_real(json_t *object, const char *key, double value); /* NaN and inf: null */
void json_put_bool(json_t *object, const char *key, bool value);
json_t *json_put_object(json_t *object, const char *key);
json_t *json_put_array(json_t *object, const char *key);
void json_add(json_t *array, json_t *value);
json_t *json_from_text(const char *value);
/* Writes JSON with keys in insertion order, 15 digits and a final newline. Takes ownership of
 * `root`. */
void json_to_text(text *t, json_t *root);
/* Prints JSON on standard output. Takes ownership of `root`. */
bool json_print(session *s, json_t *root, int *code);
void json_put_scores(json_t *object, const ddsc_scores *scores);
/* With --resume, adds the number of pairs taken from an earlier run. */
void json_put_resumed(json_t *object, const session *s);

/* Returns the library's report on a run over pairs: settings, pairs, approximation. */
json_t *json_run(const session *s, const ddsc_report_source *from);
/* Returns the report source of such a run. */
ddsc_report_source json_source(const session *s, const ddsc_pair_stats *stats);
/* Returns an origin with the result of --compress, for the key `compress` of the report. */
ddsc_report_origin json_origin(const cli_input *in);
/* Copies one key of `source`, if it exists. */
void json_take(json_t *object, const json_t *source, const char *key);
/* Copies all keys of the object that `source` has under `key`. */
void json_join(json_t *object, const json_t *source, const char *key);

/* Loads result.json from a folder written by `ddsc cluster -o`, in the current format. On failure,
 * prints a message and returns NULL. */
json_t *json_load_result(session *s, const char *dir, int *code);

#endif
