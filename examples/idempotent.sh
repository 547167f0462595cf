#!/usr/bin/env bash
# Sends a request that may be repeated: ./idempotent.sh invoice-4711 requests/html.json
# However often it is sent within 24 hours, it makes one conversion and costs one credit.
set -euo pipefail
server=${PRESSLEDGER_SERVER:-http://localhost:8080}

# curl repeats the request where no answer comes, or one of 408, 429 and 5xx. It waits as Retry-After says.
answer=$(curl --silent --show-error --fail-with-body --retry 5 --retry-connrefused \
  --header "X-API-Key: ${PRESSLEDGER_API_KEY:?set it to an API key}" \
  --header "Idempotency-Key: $1" \
  --header 'Content-Type: application/json' \
  --data-binary "@$2" \
  "$server/api/v1/pdf/") || { echo "$answer" >&2; exit 1; }
jq -r .id <<<"$answer"
