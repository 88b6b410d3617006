#!/bin/bash
# Runs examples/cluster/slurm.sh in Slurm itself, on this machine alone, and compares the merged report with that of a single run.
#   apt-get install slurm-wlm munge && cargo build --release && scripts/try_slurm.sh      (as root)
# It uses its own configuration, ports and folders, and ends what it starts. The last line is `Slurm: the reports are equal.`
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
program=${DP_AUDIT:-$root/target/release/dp-audit}
folder=$(mktemp -d)
chmod 755 "$folder"
pids=()
finish() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    sleep 1
    rm -rf "$folder"
}
trap finish EXIT
mkdir -p "$folder"/{bin,state,spool,munge,work/audits}
cp "$program" "$folder/bin/dp-audit"
cp "$root"/audits/basics/*.toml "$folder/work/audits/"

head -c 1024 /dev/urandom > "$folder/munge/key"
chmod 700 "$folder/munge" && chmod 400 "$folder/munge/key"
munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
    --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" 2> "$folder/munge/errors" &
pids+=($!)
cores=$(nproc)
cat > "$folder/slurm.conf" <<CONF
ClusterName=try
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
NodeName=$(hostname) NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$folder/slurm.conf PATH="$folder/bin:$PATH"
slurmctld -D > "$folder/slurmctld.log" 2>&1 &
pids+=($!)
slurmd -D > "$folder/slurmd.log" 2>&1 &
pids+=($!)
for _ in $(seq 60); do
    [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ] && break
    sleep 1
done
if [ "$(sinfo --noheader --format=%T)" != idle ]; then
    tail -5 "$folder"/*.log "$folder/munge/log"
    exit 1
fi

cd "$folder/work"
# This machine may have fewer cores than the script asks for.
array=$(sbatch --parsable --cpus-per-task=1 "$root/examples/cluster/slurm.sh" audits)
merge=$(sbatch --parsable --dependency="afterok:$array" --output=merge.log --wrap "dp-audit merge shards --csv merged.csv --witnesses merged")
while squeue --noheader --jobs="$array,$merge" 2>/dev/null | grep -q .; do sleep 1; done
ls shards | wc -l
# A shard that died is run again on its own.
rm shards/shard-07-of-16.jsonl
again=$(sbatch --parsable --cpus-per-task=1 --array=7 "$root/examples/cluster/slurm.sh" audits)
while squeue --noheader --jobs="$again" 2>/dev/null | grep -q .; do sleep 1; done
dp-audit merge -q shards --csv again.csv --witnesses again
dp-audit run -q audits --csv single.csv --witnesses single
python3 - <<'PYTHON'
import csv

def rows(file):
    return [{key: value for key, value in row.items() if key != "seconds"} for row in csv.DictReader(open(file))]

single = rows("single.csv")
assert single and rows("merged.csv") == single == rows("again.csv"), "the reports differ"
print(f"{len(single)} rows, as of a single run")
PYTHON
echo "Slurm: the reports are equal."
