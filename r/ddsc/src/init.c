/* Registers the routines that R calls. */
#include "calls.h"

#include <R_ext/Rdynload.h>

#define ROUTINE(name, n)                 \
    {                                    \
#name, (DL_FUNC)(void *)&name, n \
    }

static const R_CallMethodDef routines[] = {
    ROUTINE(r_choices, 0),      ROUTINE(r_set_arrays, 5),    ROUTINE(r_set_read, 3),
    ROUTINE(r_set_describe, 7), ROUTINE(r_set_transform, 2), ROUTINE(r_set_compress, 2),
    ROUTINE(r_set_subset, 3),   ROUTINE(r_set_view, 1),      ROUTINE(r_set_item, 2),
    ROUTINE(r_set_write, 3),    ROUTINE(r_cluster, 6),       ROUTINE(r_result, 1),
    ROUTINE(r_report, 2),       ROUTINE(r_save, 3),          ROUTINE(r_model_read, 2),
    ROUTINE(r_model_view, 1),   ROUTINE(r_assign, 3),        ROUTINE(r_pictures, 1),
    ROUTINE(r_distance, 5),     ROUTINE(r_scores, 3),        {NULL, NULL, 0}};

void R_init_ddsc(DllInfo *dll);

void R_init_ddsc(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, routines, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
