/* JSON for machines: what verbs print with --json. What a result says is made by the library
 * (ddsc_report_create) and taken over from there. */
#ifndef DDSC_CLI_JSON_H
#define DDSC_CLI_JSON_H

#include <jansson.h>

#include "cli.h"

/* A key with a value; `value` is taken over. Running out of memory ends the program. */
void json_put(json_t *object, const char *key, json_t *value);
void json_put_text(json_t *object, const char *key, const char *value); /* any bytes */
void json_put_count(json_t *object, const char *key, int64_t value);
void json_put_count_or_auto(json_t *object, const char *key, int64_t value); /* 0: "auto" */
void json_put_real(json_t *object, const char *key, double value);           /* NaN, inf: null */
void json_put_bool(json_t *object, const char *key, bool value);
json_t *json_put_object(json_t *object, const char *key);
json_t *json_put_array(json_t *object, const char *key);
void json_add(json_t *array, json_t *value);
json_t *json_from_text(const char *value);
/* Keys in the order they were put, 15 digits, a final newline; `root` is taken over. */
void json_to_text(text *t, json_t *root);
/* Print on standard output; `root` is taken over. */
bool json_print(session *s, json_t *root, int *code);
void json_put_scores(json_t *object, const ddsc_scores *scores);
/* With --resume: pairs taken from an earlier run. */
void json_put_resumed(json_t *object, const session *s);

/* What the library tells about a run over pairs: settings, pairs, approximation. */
json_t *json_run(const session *s, const ddsc_report_source *from);
/* The source of such a run. */
ddsc_report_source json_source(const session *s, const ddsc_pair_stats *stats);
/* A key of `told` under the same name; nothing where it is not there. */
void json_take(json_t *object, const json_t *told, const char *key);
/* The keys of the object that `told` has there. */
void json_join(json_t *object, const json_t *told, const char *key);

/* result.json of a folder that `ddsc cluster -o` wrote, or NULL with a message. */
json_t *json_load_result(const char *dir, int *code);

#endif
