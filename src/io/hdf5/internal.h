/* libhdf5 behind one lock, silent. */
#ifndef DDSC_IO_HDF5_INTERNAL_H
#define DDSC_IO_HDF5_INTERNAL_H

#define H5_USE_110_API
#include <hdf5.h>

#include "io/hdf5/hdf5.h"

typedef struct h5_turn {
    H5E_auto2_t print;
    void *print_arg;
} h5_turn;

/* Around every use of libhdf5: its builds need not be safe in threads, and it prints its errors. */
h5_turn h5_begin(void);
void h5_end(h5_turn turn);
/* "NAME: WHAT (reason of libhdf5)". */
ddsc_status h5_fail(h5_file *f, const char *what, const char *path);
/* The object at a path, -1 where there is none; for H5Oclose. */
ddsc_status h5_reach(h5_file *f, const char *path, hid_t *object);

#endif
