"""Measures the overhead of ranks: CPU seconds of ddsc-mpi outside MPI compared with those of ddsc, for one command.

    /usr/bin/python3 bench/ranks.py [--ranks 1,2,4] [--build build] [--compare] VERB WORDS...

The command is run by `ddsc --threads 1` and by `mpirun -n P ddsc-mpi --threads 1`, with -o in a scratch folder.
graph.mtx or the output file must be byte-identical, and labels must be equal. --compare runs `ddsc` at the same time as
the ranks, so that varying load on the machine affects both equally. tests/mpi/cpu.c subtracts the waiting time inside
MPI. Resident memory (RSS) counts shared memory on each rank. The sum of proportional shares (PSS) is the memory that is
actually used, sampled every 20 ms, or less often if sampling takes longer."""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import tempfile
import time

ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def run_alone(build, words, place):
    began = time.monotonic()
    program = os.fspath(build / "ddsc")
    job = os.spawnv(os.P_NOWAIT, program, [program, *words, "--threads", "1", "-q", "-o", os.fspath(place)])
    _, status, used = os.wait4(job, 0)
    if status != 0:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), program)
    return used.ru_utime + used.ru_stime, time.monotonic() - began, used.ru_maxrss / 1024


def own_share(process):
    """Return the megabytes of a process, with shared memory divided among the processes, or 0 if the process has
    ended."""
    try:
        lines = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def below(process):
    """Return the descendants of a process: guards, and the ranks that they started."""
    for place in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found = place.read_text().split()
        except OSError:
            continue
        for child in found:
            yield child
            yield from below(child)


def most_together(job, program):
    """Sample the total memory of a job's ranks until it ends, and return the peak."""
    most = 0
    while job.poll() is None:
        began = time.monotonic()
        most = max(most, sum(own_share(process) for process in below(job.pid)))
        time.sleep(max(0.02, 20 * (time.monotonic() - began)))  # the kernel walks all pages for each sample
    if job.returncode != 0:
        raise subprocess.CalledProcessError(job.returncode, program)
    return most


def run_ranks(build, n, words, place, folder):
    shim, began = build / "tests" / "mpi_cpu.so", time.monotonic()
    command = ["mpirun", "-q", "--bind-to", "none", "-x", f"LD_PRELOAD={shim}", "-x", f"DDSC_MPI_CPU={folder}/cpu", "-n", str(n),
               build / "ddsc-mpi", *words, "--threads", "1", "-q", "-o", place]
    together = most_together(subprocess.Popen(command, env={**os.environ, **ENVIRONMENT}), "ddsc-mpi")
    wall = time.monotonic() - began
    return wall, together, [list(map(float, (folder / f"cpu.{r}").read_text().split())) for r in range(n)]


def same(one, other):
    """Compare the graphs and labels of two results, or two output files."""
    if one.is_dir():
        return {name: (one / name).read_bytes() == (other / name).read_bytes() for name in ("graph.mtx", "labels.csv")}
    return {"output": one.read_bytes() == other.read_bytes()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    build = given.build.resolve()
    ending = {"cluster": "", "neighbors": ".mtx", "assign": ".csv"}.get(given.words[0], ".npy")
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor() as pool:
        folder = pathlib.Path(scratch)
        alone = pool.submit(run_alone, build, given.words, folder / f"alone{ending}")
        if not given.compare:
            alone.result()
        ranks = {n: run_ranks(build, n, given.words, folder / f"ranks{n}{ending}", folder) for n in map(int, given.ranks.split(","))}
        cpu, wall, resident = alone.result()
        print("| | CPU outside MPI | largest rank | ratio to ddsc | inside MPI | sent, largest rank | resident, largest | PSS, all | wall | same |")
        print("|---|---|---|---|---|---|---|---|---|---|")
        print(f"| ddsc | {cpu:.1f} s | {cpu:.1f} s | 1 | | | {resident:.0f} MB | | {wall:.1f} s | |")
        for n, (wall, together, of_rank) in ranks.items():
            out = [r[0] for r in of_rank]
            alike = ", ".join(f"{k} {'yes' if v else 'NO'}" for k, v in same(folder / f"alone{ending}", folder / f"ranks{n}{ending}").items())
            print(f"| {n} ranks | {sum(out):.1f} s | {max(out):.1f} s | {sum(out) / cpu:.2f} | {sum(r[1] for r in of_rank):.1f} s "
                  f"| {max(r[2] for r in of_rank) / 1e6:.1f} MB | {max(r[3] for r in of_rank):.0f} MB | {together:.0f} MB | {wall:.1f} s | {alike} |")


if __name__ == "__main__":
    main()
