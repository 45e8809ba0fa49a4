#!/bin/sh
# Runs a command in a Slurm cluster of two virtual nodes on this machine, which communicate over 127.0.0.1. It starts
# munge, slurmctld and one slurmd per node, with files in a scratch folder. Each node has its own host name and
# /dev/shm. Needs root and Debian's packages slurm-wlm and munge.
#   bench/slurm.sh COMMAND WORDS...           e.g.  bench/slurm.sh sbatch --wait job.sh
set -eu
for program in munged slurmctld slurmd sbatch; do
    command -v "$program" >/dev/null || { echo "skipped: no $program (slurm-wlm, munge)"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
scratch=$(mktemp -d)
daemons=
clean() {
    scancel --user=root --full --signal=KILL 2>/dev/null || true # the daemons leave jobs running
    for _ in $(seq 40); do
        scancel --user=root 2>/dev/null || true
        [ -n "$(squeue -h 2>/dev/null)" ] || break
        sleep 0.5
    done
    for process in $daemons; do kill "$process" 2>/dev/null || true; done
    wait
    rm -rf "$scratch"
}
trap clean EXIT
trap 'exit 143' INT TERM HUP
chmod 755 "$scratch"
export SLURM_CONF="$scratch/slurm.conf"
cpus=${SLURM_TRY_CPUS:-4} # of each node, whatever this machine has
cat >"$SLURM_CONF" <<END
ClusterName=ddsc
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=17817
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$scratch/munge.socket
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool-%n
TmpFS=$scratch/tmp-%n
MailProg=/bin/true
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd-%n.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MpiDefault=pmix
ReturnToService=2
KillWait=${SLURM_TRY_KILL_WAIT:-30}
JobRequeue=1
SchedulerParameters=sched_interval=2,requeue_delay=1
NodeName=node[1-2] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[17821-17822] CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP
END
{ cat /etc/hosts; echo "127.0.0.1 node1 node2"; } >"$scratch/hosts"
mkdir "$scratch/state" "$scratch/spool-node1" "$scratch/spool-node2" "$scratch/tmp-node1" "$scratch/tmp-node2"
dd if=/dev/urandom of="$scratch/key" bs=128 count=1 2>/dev/null
chmod 600 "$scratch/key"
munged -F -f --key-file="$scratch/key" --socket="$scratch/munge.socket" --pid-file="$scratch/munge.pid" \
    --log-file="$scratch/munge.log" --seed-file="$scratch/munge.seed" 2>/dev/null &
daemons=$!
until [ -S "$scratch/munge.socket" ]; do sleep 0.1; done
slurmctld -D >/dev/null 2>&1 &
daemons="$daemons $!"
for node in node1 node2; do
    unshare -u -m sh -c 'hostname "$1"; mount --bind "$2/hosts" /etc/hosts; mount -t tmpfs tmpfs /dev/shm; exec slurmd -D -N "$1"' \
        sh "$node" "$scratch" >/dev/null 2>&1 &
    daemons="$daemons $!"
done
for _ in $(seq 60); do
    [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && break
    sleep 0.5
done
# Open MPI ignores the loopback interface unless it is specified.
export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_btl=tcp,self,vader OMPI_MCA_pml=ob1
"$@" && code=0 || code=$?
[ "$code" = 0 ] || tail -n 5 "$scratch"/*.log >&2
exit "$code"
