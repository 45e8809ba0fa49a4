/* Sets options of malloc for programs that load PETSc. The library itself does not change
 * malloc. */
#ifndef DDSC_MPI_GIVE_BACK_H
#define DDSC_MPI_GIVE_BACK_H

#include <malloc.h>

/* SuperLU_DIST, a dependency of PETSc, disables the return of freed memory to the system when it is
 * loaded. Memory freed before the solver runs would then remain allocated to the process, so this
 * function re-enables it. */
static inline void give_memory_back(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 65536);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 21);
#endif
}

#endif
