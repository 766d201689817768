#!/bin/sh
# A tracking server on this machine: runs in SQLite, files beside it, both in one folder.
#
#     mlflow/serve.sh [FOLDER]           HOST=127.0.0.1 PORT=5000
#
# It has no login: whoever reaches HOST:PORT reads and writes everything. To others on a trusted
# network: HOST=0.0.0.0 ALLOWED_HOSTS=their-name-for-this-machine:5000.
set -eu

folder=${1:-mlflow-server}
host=${HOST:-127.0.0.1}
port=${PORT:-5000}

mkdir -p "$folder/artifacts"
folder=$(cd "$folder" && pwd)
[ -z "${ALLOWED_HOSTS:-}" ] || set -- --allowed-hosts "$ALLOWED_HOSTS"
[ -n "${ALLOWED_HOSTS:-}" ] || set --

# Ten more processes, for jobs of MLflow's that raybench has none of.
export MLFLOW_SERVER_ENABLE_JOB_EXECUTION="${MLFLOW_SERVER_ENABLE_JOB_EXECUTION:-false}"

exec mlflow server --host "$host" --port "$port" --workers "${WORKERS:-2}" \
    --backend-store-uri "sqlite:///$folder/mlflow.db" \
    --serve-artifacts --artifacts-destination "$folder/artifacts" "$@"
