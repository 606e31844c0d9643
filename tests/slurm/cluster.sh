# shellcheck shell=bash
# Sourced by run and replay: a Slurm cluster of four nodes with eight pretended GPUs each, on this machine, in a folder of its own. No munge, no accounting,
# nothing listens beyond loopback. It needs root.

failures=0
check() {  # check WHAT GOT WANT
  if [[ $2 == "$3" ]]; then
    echo "ok: $1"
  else
    printf 'FAILED: %s\n  got  %s\n  want %s\n' "$1" "${2//$'\n'/ | }" "${3//$'\n'/ | }"
    failures=$((failures + 1))
  fi
}

install_slurm() {
  local unit
  command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v squeue >/dev/null && return
  "$(dirname "${BASH_SOURCE[0]}")/../../scripts/install-deps" --slurm
  # The packages may have started services of theirs; they were not asked for.
  [[ -d /run/systemd/system ]] || return 0
  for unit in slurmctld slurmd munge; do systemctl disable --now "$unit" || true; done
}

# unpacked ARCHIVE DIR: the one folder that is in it.
unpacked() {
  mkdir "$2"
  tar xzf "$1" -C "$2"
  echo "$2"/*
}

# start_slurm DIR [SCHEDULER PARAMETERS TOPOLOGY]: writes the configuration there and starts the daemons; SLURM_CONF names it from then on.
start_slurm() {
  slurm_dir=$1
  local scheduler=${2:-sched/backfill} parameters=${3:-bf_interval=1,bf_resolution=1,sched_min_interval=0} topology=${4:-topology/tree}
  local host base node
  host=$(hostname -s)
  base=$((20000 + BASHPID % 2000 * 5))
  mkdir -p "$slurm_dir"/{state,spool,log,dev}
  touch "$slurm_dir"/dev/gpu{0..7}
  cat >"$slurm_dir/slurm.conf" <<EOF
ClusterName=berth
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$base
AuthType=auth/none
CredType=cred/none
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
TopologyPlugin=$topology
SchedulerType=$scheduler
SchedulerParameters=$parameters
PriorityType=priority/basic
GresTypes=gpu
SlurmdParameters=config_overrides
SlurmUser=root
SlurmdUser=root
ReturnToService=2
KillWait=1
StateSaveLocation=$slurm_dir/state
SlurmdSpoolDir=$slurm_dir/spool/%n
SlurmctldPidFile=$slurm_dir/slurmctld.pid
SlurmdPidFile=$slurm_dir/%n.pid
SlurmctldLogFile=$slurm_dir/log/slurmctld
SlurmdLogFile=$slurm_dir/log/%n
NodeName=n[1-4] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((base + 1))-$((base + 4))] CPUs=64 RealMemory=20000 Gres=gpu:h100:8 Feature=fast,ib
PartitionName=main Nodes=n[1-4] Default=YES MaxTime=INFINITE DefaultTime=60 DefMemPerNode=100
EOF
  echo "NodeName=n[1-4] Name=gpu Type=h100 File=$slurm_dir/dev/gpu[0-7]" >"$slurm_dir/gres.conf"
  printf '%s\n' 'SwitchName=leaf1 Nodes=n[1-2]' 'SwitchName=leaf2 Nodes=n[3-4]' 'SwitchName=spine Switches=leaf[1-2]' >"$slurm_dir/topology.conf"
  export SLURM_CONF=$slurm_dir/slurm.conf
  slurm_pids=()
  slurmctld -D -c >/dev/null 2>&1 & slurm_pids+=($!)
  for node in n1 n2 n3 n4; do slurmd -D -c -N "$node" >/dev/null 2>&1 & slurm_pids+=($!); done
  wait_until 30 'all nodes idle' all_idle
}

all_idle() { [[ $(sinfo -h -N -o %T 2>/dev/null | grep -cx idle) == 4 ]]; }

# stop_slurm: ends jobs first, whose processes would outlive the daemons, then these. Never fails.
stop_slurm() {
  [[ -n ${slurm_pids[*]:-} ]] || return 0
  timeout 10 scancel -u root 2>/dev/null || true
  wait_until 10 'no jobs' no_jobs || true
  kill "${slurm_pids[@]}" 2>/dev/null || true
  wait_until 10 'the daemons to end' daemons_gone || kill -9 "${slurm_pids[@]}" 2>/dev/null || true
  wait "${slurm_pids[@]}" 2>/dev/null || true
  slurm_pids=()
}

no_jobs() { [[ -z $(timeout 5 squeue -h 2>/dev/null) ]]; }

daemons_gone() {
  local pid
  for pid in "${slurm_pids[@]}"; do ! kill -0 "$pid" 2>/dev/null || return 1; done
}

# wait_until SECONDS WHAT COMMAND...: fails, saying what it waited for, when the command has not succeeded by then.
wait_until() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    ((SECONDS < end)) || { echo "waited in vain for: $what" >&2; return 1; }
    sleep 0.2
  done
}

running() {
  local id
  for id in "$@"; do [[ $(squeue -h -j "$id" -o %T 2>/dev/null) == RUNNING ]] || return 1; done
}
