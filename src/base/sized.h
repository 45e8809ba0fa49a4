/* Settings, problems, results and views of the caller: see the rules on top of ddsc.h. Every struct
 * with a struct_size has one sized_struct, in the file that has its _init_sized function. */
#ifndef DDSC_BASE_SIZED_H
#define DDSC_BASE_SIZED_H

#include "base/base.h"

typedef struct sized_struct {
    const char *name;
    size_t size;          /* of the struct today */
    size_t first;         /* up to the end of the last field that its shortest form has */
    const void *defaults; /* NULL: all zero */
} sized_struct;

/* `last` names the last field of the shortest form that is accepted: the struct's first version. */
#define SIZED_STRUCT(type, last, defaults)                                              \
    {                                                                                   \
#type, sizeof(type), offsetof(type, last) + sizeof(((type *)0)->last), defaults \
    }

/* The struct's description `kind`, and its public _init_sized function. */
#define SIZED_INIT(kind, type, last, defaults)    \
    static const sized_struct kind;               \
    void type##_init_sized(type *to, size_t size) \
    {                                             \
        sized_init(&kind, to, size);              \
    }                                             \
    static const sized_struct kind = SIZED_STRUCT(type, last, defaults)

/* Defaults into the caller's `size` bytes, which are also recorded in its struct_size. */
void sized_init(const sized_struct *kind, void *to, size_t size);
/* Defaults, then the caller's fields over them (given NULL: none) into *own, a whole struct of
 * today. Refused: sizes that no version ever had, and fields set that are not known here. */
ddsc_status sized_take(ddsc_context *ctx, const sized_struct *kind, void *own, const void *given);
/* The same without a context to explain in; false where it is refused. */
bool sized_copy(const sized_struct *kind, void *own, const void *given);
/* Results into the caller's struct, which sized_take has accepted; given NULL: nothing. */
void sized_give(const sized_struct *kind, void *given, const void *own);
/* As much of a view as the caller has room for; fields that are not known here are zero. */
void sized_view(void *view, size_t size, const void *own, size_t own_size);

/* ---- statistics of runs over pairs, which many rooms fill ---- */

/* A caller's struct that cannot be written to is refused before the long work. */
ddsc_status stats_check(ddsc_context *ctx, const ddsc_pair_stats *given);
void stats_give(ddsc_pair_stats *given, const ddsc_pair_stats *own);

#endif
