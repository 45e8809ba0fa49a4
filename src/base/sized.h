/* Copies settings, problems, results and views between the caller and the library; see the rules at
 * the top of ddsc.h. Every struct with a struct_size has one sized_struct, in the file that defines
 * its _init_sized function. */
#ifndef DDSC_BASE_SIZED_H
#define DDSC_BASE_SIZED_H

#include "base/base.h"

typedef struct sized_struct {
    const char *name;
    size_t size;          /* current size of the struct */
    size_t first;         /* size of its first version, which ends with that version's last field */
    const void *defaults; /* NULL: all zero */
} sized_struct;

/* `last` is the last field of the first version of the struct, which is the shortest accepted
 * version. */
#define SIZED_STRUCT(type, last, defaults)                                              \
    {                                                                                   \
#type, sizeof(type), offsetof(type, last) + sizeof(((type *)0)->last), defaults \
    }

/* Defines the description `kind` of a struct, and the public _init_sized function of the struct. */
#define SIZED_INIT(kind, type, last, defaults)    \
    static const sized_struct kind;               \
    void type##_init_sized(type *to, size_t size) \
    {                                             \
        sized_init(&kind, to, size);              \
    }                                             \
    static const sized_struct kind = SIZED_STRUCT(type, last, defaults)

/* Writes the defaults into the caller's `size` bytes, and `size` into the field struct_size. */
void sized_init(const sized_struct *kind, void *to, size_t size);
/* Fills *own, a struct of the current version, with the defaults and then with the caller's fields
 * (none if `given` is NULL). Rejects invalid sizes, and nonzero fields that this version does not
 * know. */
ddsc_status sized_take(ddsc_context *ctx, const sized_struct *kind, void *own, const void *given);
/* Does the same as sized_take, but without a context for messages. Returns false if the struct
 * is rejected. */
bool sized_copy(const sized_struct *kind, void *own, const void *given);
/* Copies results to the caller's struct, which sized_take has accepted. Does nothing if `given` is
 * NULL. */
void sized_give(const sized_struct *kind, void *given, const void *own);
/* Copies as much of a view as the caller's struct can hold. Fields that this version does not know
 * become zero. */
void sized_view(void *view, size_t size, const void *own, size_t own_size);

/* Defines the public _get_view_sized function of an object that has a view. The other arguments
 * initialize the view of a NULL object. */
#define SIZED_VIEW(type, ...)                                                    \
    void type##_get_view_sized(const type *from, type##_view *view, size_t size) \
    {                                                                            \
        static const type##_view none = {__VA_ARGS__};                           \
        sized_view(view, size, from ? &from->view : &none, sizeof none);         \
    }

/* ---- pair statistics, which several modules fill ---- */

/* Rejects an invalid struct of the caller before the computation begins. */
ddsc_status stats_check(ddsc_context *ctx, const ddsc_pair_stats *given);
void stats_give(ddsc_pair_stats *given, const ddsc_pair_stats *own);

#endif
