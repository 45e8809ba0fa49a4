/* Carries known classes of the old items (DIR/truth.csv) over to an updated result, and joins them
 * with the classes of the new items by name. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "options.h"
#include "update.h"

enum { NUMBER_TEXT = 16 };

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Lists the distinct classes of n items in ascending order, and returns their number. */
static int64_t list_classes(int32_t *class, const int32_t *label, int64_t n)
{
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++)
        if (label[i] >= 0)
            class[found++] = label[i];
    qsort(class, (size_t)found, sizeof *class, by_number);
    int64_t distinct = 0;
    for (int64_t i = 0; i < found; i++)
        if (distinct == 0 || class[distinct - 1] != class[i])
            class[distinct++] = class[i];
    return distinct;
}

static void add_name(update_classes *c, const char *name, int32_t number)
{
    char digits[NUMBER_TEXT];
    if (!name)
        snprintf(digits, sizeof digits, "%" PRId32, number);
    name = name ? name : digits;
    c->name[c->n_names] = cli_allocate(strlen(name) + 1, 1);
    strcpy(c->name[c->n_names++], name);
}

/* Returns the index of the name at `from`, or of an equal one before `from`, which is then
 * removed. */
static int32_t joined_name(update_classes *c, int64_t from)
{
    for (int64_t k = 0; k < from; k++)
        if (strcmp(c->name[k], c->name[from]) == 0) {
            free(c->name[--c->n_names]);
            return (int32_t)k;
        }
    return (int32_t)from;
}

/* Adds the class names of n labels to the names, and replaces the labels with the numbers of these
 * names. */
static void number_classes(update_classes *c, int32_t *label, int64_t n, const json_t *names,
                           const ddsc_measures *named)
{
    int32_t *class = cli_allocate((size_t)n + 1, sizeof *class);
    int64_t n_classes = list_classes(class, label, n);
    int32_t *number = cli_allocate((size_t)n_classes + 1, sizeof *number);
    char **extended = cli_allocate((size_t)(c->n_names + n_classes + 1), sizeof *extended);
    if (c->name)
        memcpy(extended, c->name, (size_t)c->n_names * sizeof *extended);
    free(c->name);
    c->name = extended;
    for (int64_t k = 0; k < n_classes; k++) {
        const char *name = named ? ddsc_measures_get_label_name(named, class[k])
                           : (int64_t)json_array_size(names) == n_classes
                               ? json_string_value(json_array_get(names, (size_t)k))
                               : NULL;
        add_name(c, name, class[k]);
        number[k] = joined_name(c, c->n_names - 1);
    }
    for (int64_t i = 0; i < n; i++) {
        const int32_t *at =
            label[i] < 0 ? NULL
                         : bsearch(&label[i], class, (size_t)n_classes, sizeof *class, by_number);
        label[i] = at ? number[at - class] : -1;
    }
    free(number);
    free(class);
}

/* Reads the classes of the old items. Returns NULL if no classes are known, or if rows were
 * dropped. */
static int32_t *read_old(session *s, const char *path, const ddsc_model_view *m, int *code)
{
    int64_t n = 0;
    int32_t *label = NULL;
    if (!session_ok(s, ddsc_labels_read(s->ctx, &label, &n, path), code))
        return NULL;
    ddsc_release(s->ctx, label);
    if (n != m->n_items) {
        message_warning(s,
                        "%s has %" PRId64 " rows for %" PRId64 " items, so the known classes are "
                        "not carried over",
                        path, n, m->n_items);
        return NULL;
    }
    return session_ok(s, ddsc_labels_read_for(s->ctx, &label, NULL, m->measures, path), code)
               ? label
               : NULL;
}

/* Classes that are plain numbers keep their numbers. */
static void restore_numbers(update_classes *c, int64_t n)
{
    int32_t *number = cli_allocate((size_t)c->n_names + 1, sizeof *number);
    bool plain = true;
    for (int64_t k = 0; k < c->n_names; k++) {
        char digits[NUMBER_TEXT];
        number[k] = (int32_t)strtol(c->name[k], NULL, 10);
        snprintf(digits, sizeof digits, "%" PRId32, number[k]);
        plain &= number[k] >= 0 && strcmp(digits, c->name[k]) == 0;
    }
    for (int64_t i = 0; plain && i < n; i++)
        c->truth[i] = c->truth[i] < 0 ? -1 : number[c->truth[i]];
    for (; plain && c->n_names > 0; c->n_names--)
        free(c->name[c->n_names - 1]);
    free(number);
}

bool update_take_classes(update_classes *c, session *s, const char *dir, const json_t *root,
                         const ddsc_update_view *update, const ddsc_measures *added, int *code)
{
    ddsc_model_view m;
    ddsc_measures_view v;
    char *path = output_path(dir, "truth.csv");
    const json_t *confusion = json_object_get(json_object_get(root, "scores"), "confusion");
    ddsc_model_get_view(s->like, &m);
    ddsc_measures_get_view(added, &v);
    int64_t n = update->n_kept + update->n_added;
    int32_t *old = root && access(path, F_OK) == 0 ? read_old(s, path, &m, code) : NULL;
    free(path);
    if (!old)
        return *code == EXIT_GOOD;
    c->truth = cli_allocate((size_t)n, sizeof *c->truth);
    number_classes(c, old, m.n_items, json_object_get(confusion, "classes"), NULL);
    for (int64_t k = 0; k < update->n_kept; k++)
        c->truth[k] = old[update->kept[k]];
    ddsc_release(s->ctx, old);
    for (int64_t i = 0; i < update->n_added; i++)
        c->truth[update->n_kept + i] = v.label ? v.label[v.row[i]] : -1;
    number_classes(c, c->truth + update->n_kept, update->n_added, NULL, added);
    restore_numbers(c, n);
    return true;
}

void update_free_classes(update_classes *c)
{
    for (int64_t k = 0; k < c->n_names; k++)
        free(c->name[k]);
    free(c->name);
    free(c->truth);
}
