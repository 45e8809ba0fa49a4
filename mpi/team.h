/* Shared declarations of the folder mpi, which is the only one that uses MPI and SLEPc. */
#ifndef DDSC_MPI_TEAM_H
#define DDSC_MPI_TEAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ddsc_mpi.h"

/* Largest message in bytes, because counts in MPI 3 are ints. */
#ifndef MESSAGE_MOST
#define MESSAGE_MOST ((int64_t)1 << 30)
#endif

/* A block of memory shared by the ranks of a machine. */
typedef struct shared_block {
    struct shared_block *next;
    void *memory;
    int64_t bytes;
} shared_block;

typedef struct mpi_state {
    MPI_Comm comm;    /* all ranks */
    MPI_Comm machine; /* ranks that share memory with this one */
    int rank, size;
    shared_block *blocks;
    bool own_slepc; /* true if this team initialized SLEPc */
} mpi_state;

/* Implements ddsc_team.eigen. state is an mpi_state. The first problem initializes SLEPc. */
int eigen_slepc(void *state, ddsc_team_eigen *problem);
void eigen_slepc_end(mpi_state *m);

#endif
