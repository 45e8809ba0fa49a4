/* update: shared by the files of `ddsc update`. */
#ifndef DDSC_CLI_UPDATE_H
#define DDSC_CLI_UPDATE_H

#include "json.h"
#include "options.h"

/* Known classes of the items of an updated result. */
typedef struct update_classes {
    int32_t *truth; /* one number of a name per item, or -1; NULL: unknown */
    char **name;
    int64_t n_names;
} update_classes;

/* Joins the classes of the old result in `dir` with those of `added` (or NULL). c->truth is NULL if
 * the old result has no classes. Returns false on error. */
bool update_take_classes(update_classes *c, session *s, const char *dir, const json_t *root,
                         const ddsc_update_view *update, const ddsc_measures *added, int *code);
void update_free_classes(update_classes *c);

#endif
