/* bench/spectral_scale.c on several ranks: eigenvectors and k-means of a synthetic graph of N
 * items. mpirun -n P build/tests/mpi_spectral N [K [tau [threads]]] */
#include "ddsc_mpi.h"
#include "give_back.h"

int bench_spectral(int argc, char **argv, const ddsc_team *team);

int main(int argc, char **argv)
{
    int provided;
    ddsc_team team;
    give_memory_back();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (ddsc_team_create_mpi(&team, MPI_COMM_WORLD) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (bench_spectral(argc, argv, &team) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    ddsc_team_destroy_mpi(&team);
    MPI_Finalize();
    return 0;
}
