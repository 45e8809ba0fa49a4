/* The list of all public calls that can fail. */
#include "public_calls.h"

static const call_table *const tables[] = {&context_calls,  &measures_calls, &pairs_calls,
                                           &clusters_calls, &words_calls,    &assess_calls,
                                           &reports_calls};

const call_entry *calls_get(size_t k)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        if (k < tables[t]->n)
            return &tables[t]->entry[k];
        k -= tables[t]->n;
    }
    return NULL;
}
