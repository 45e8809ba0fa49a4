/* mpi: the one folder that knows MPI and SLEPc. What its files share. */
#ifndef DDSC_MPI_TEAM_H
#define DDSC_MPI_TEAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ddsc_mpi.h"

/* Bytes of one message at most: counts of MPI 3 are ints. */
#ifndef MESSAGE_MOST
#define MESSAGE_MOST ((int64_t)1 << 30)
#endif

/* A block of memory that the ranks of a machine share. */
typedef struct shared_block {
    struct shared_block *next;
    void *memory;
    int64_t bytes;
} shared_block;

typedef struct mpi_state {
    MPI_Comm comm;    /* all ranks */
    MPI_Comm machine; /* those that share memory with this one */
    int rank, size;
    shared_block *blocks;
    bool own_slepc; /* initialised here */
} mpi_state;

/* ddsc_team.eigen; state is an mpi_state. SLEPc is initialised by the first problem. */
int eigen_slepc(void *state, ddsc_team_eigen *problem);
void eigen_slepc_end(mpi_state *m);

#endif
