/* ddsc over several processes by MPI: a ddsc_team made from a communicator.
 *
 *   MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
 *   ddsc_team team;
 *   if (ddsc_team_create_mpi(&team, MPI_COMM_WORLD) == 0)
 *       ddsc_context_set_team(context, &team);
 *
 * Every rank then makes the same library calls with the same input. Experimental. */
#ifndef DDSC_MPI_H
#define DDSC_MPI_H

#include <mpi.h>

#include "ddsc/ddsc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A team over the processes of a communicator, which is duplicated. Collective; only the thread that
 * initialised MPI may call the library with it. 0, or another number when MPI or SLEPc refused. */
DDSC_EXPERIMENTAL DDSC_API int ddsc_team_create_mpi(ddsc_team *team, MPI_Comm comm);
/* Collective, after the last call with the team, before MPI_Finalize. A team that was never made may be
 * given. */
DDSC_EXPERIMENTAL DDSC_API void ddsc_team_destroy_mpi(ddsc_team *team);

#ifdef __cplusplus
}
#endif

#endif
