#!/usr/bin/env bash
# Prints many documents, all or none, into one ZIP file: ./batch.sh requests/batch.json letters.zip
set -euo pipefail
base="${PRESSLEDGER_SERVER:-http://localhost:8080}/api/v1"
key="X-API-Key: ${PRESSLEDGER_API_KEY:?set it to an API key}"
answer=$(curl --silent --show-error --fail-with-body "$base/batches/" --header "$key" \
  --header 'Content-Type: application/json' --data "@$1") || { echo "$answer" >&2; exit 1; }
batch=$(jq --raw-output .id <<< "$answer")
until curl --silent --show-error --fail-with-body "$base/batches/$batch/" --header "$key" |
  jq --exit-status '.status == "ended"' > /dev/null; do sleep 1; done
curl --silent --show-error --fail-with-body "$base/batches/$batch/zip/" --header "$key" --output "$2"
echo "$batch"
