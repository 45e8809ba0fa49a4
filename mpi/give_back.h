/* What a program that loads PETSc does first: the library leaves malloc alone. */
#ifndef DDSC_MPI_GIVE_BACK_H
#define DDSC_MPI_GIVE_BACK_H

#include <malloc.h>

/* SuperLU_DIST, which PETSc brings along, tells malloc when it is loaded to give nothing back to the system: what is freed
 * before the solver runs would stay with the process. */
static inline void give_memory_back(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 65536);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 21);
#endif
}

#endif
