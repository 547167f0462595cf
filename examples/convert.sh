#!/usr/bin/env bash
# Converts one request: ./convert.sh requests/html.json hello.pdf ("-" reads the request from standard input)
set -euo pipefail
server=${PRESSLEDGER_SERVER:-http://localhost:8080}
request=$1
pdf=$2

api() {
  local answer
  answer=$(curl --silent --show-error --fail-with-body \
    --header "X-API-Key: ${PRESSLEDGER_API_KEY:?set it to an API key}" "$@") && echo "$answer" && return
  echo "$answer" >&2
  return 1
}

id=$(api "$server/api/v1/pdf/" --header 'Content-Type: application/json' --data-binary "@$request" | jq -r .id)
while true; do
  # Answers as soon as the conversion has ended, or after 30 seconds.
  record=$(api "$server/api/v1/conversions/$id/" --header 'Prefer: wait=30')
  case $(jq -r .status <<<"$record") in
    completed) break ;;
    failed) jq -r .error_message <<<"$record" >&2; exit 1 ;;
  esac
done
curl --silent --show-error --fail --output "$pdf" "$(jq -r .file_url <<<"$record")"
