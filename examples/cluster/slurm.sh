#!/bin/bash
# A Slurm array of 16 shards, and one job that merges them when all have ended well:
#   jobid=$(sbatch --parsable slurm.sh audits) && sbatch --dependency=afterok:$jobid --wrap "dp-audit merge shards --html report.html"
# A shard that died is run again on its own: sbatch --array=7 slurm.sh audits
#SBATCH --job-name=dp-audit
#SBATCH --array=1-16
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
#SBATCH --output=dp-audit-%a.log
set -euo pipefail
dp-audit run "${@:-audits}" --shard auto/16 --out shards --resume --threads "${SLURM_CPUS_PER_TASK:-1}"
