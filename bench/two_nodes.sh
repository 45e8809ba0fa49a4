#!/bin/sh
# Runs a program on two virtual nodes of one machine. Each has its own network and host-name namespaces, and a virtual
# cable with TCP connects them. Needs root (or CAP_SYS_ADMIN and CAP_NET_ADMIN) and iproute2.
#   bench/two_nodes.sh RANKS-PER-NODE PROGRAM WORDS...
set -eu
each=$1
shift
scratch=$(mktemp -d)
name=ddsc$$
a=$name-a b=$name-b
clean() {
    ip netns del "$a" 2>/dev/null || true
    ip netns del "$b" 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean EXIT
trap 'exit 143' INT TERM HUP # a shell that is killed would leave the nodes behind
ip netns add "$a"
ip netns add "$b"
ip link add "va$$" netns "$a" type veth peer name "vb$$" netns "$b"
ip -n "$a" address add 10.77.0.1/24 dev "va$$"
ip -n "$b" address add 10.77.0.2/24 dev "vb$$"
for side in "$a:va$$" "$b:vb$$"; do
    ip -n "${side%%:*}" link set lo up
    ip -n "${side%%:*}" link set "${side##*:}" up
done
# mpirun calls this instead of ssh: HOST COMMAND...
cat >"$scratch/agent" <<END
#!/bin/sh
shift
exec ip netns exec $b unshare -u sh -c 'hostname node-b; exec sh -c "\$*"' sh "\$@"
END
chmod +x "$scratch/agent"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
ip netns exec "$a" unshare -u sh -c 'hostname node-a; exec "$@"' sh \
    mpirun -q --mca plm_rsh_agent "$scratch/agent" --mca plm rsh --mca btl tcp,self,vader --mca pml ob1 \
    --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 --bind-to none \
    --host "10.77.0.1:$each,10.77.0.2:$each" -n $((2 * each)) "$@"
