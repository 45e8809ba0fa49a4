/* Runs ddsc on several processes with MPI: creates a ddsc_team from a communicator.
 *
 *   MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided); ddsc_team team; if
 *   (ddsc_team_create_mpi(&team, MPI_COMM_WORLD) == 0)
 *       ddsc_context_set_team(context, &team);
 *
 * Every rank then makes the same library calls with the same input. This interface is
 * experimental. */
#ifndef DDSC_MPI_H
#define DDSC_MPI_H

#include <mpi.h>

#include "ddsc/ddsc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Creates a team from the processes of a communicator, which is duplicated. This call is
 * collective. Only the thread that initialized MPI may call the library with the team. Returns 0,
 * or another value if MPI or SLEPc fails. */
DDSC_EXPERIMENTAL DDSC_API int ddsc_team_create_mpi(ddsc_team *team, MPI_Comm comm);
/* Destroys a team. This call is collective and must be made after the last use of the team and
 * before MPI_Finalize. The team may be one whose creation failed. */
DDSC_EXPERIMENTAL DDSC_API void ddsc_team_destroy_mpi(ddsc_team *team);

#ifdef __cplusplus
}
#endif

#endif
