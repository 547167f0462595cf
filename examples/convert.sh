#!/usr/bin/env bash
# Converts one request: ./convert.sh requests/html.json hello.pdf ("-" reads the request from standard input)
set -euo pipefail
key=${PRESSLEDGER_API_KEY:?set it to an API key}
pdf=$2
url=${PRESSLEDGER_SERVER:-http://localhost:8080}/api/v1/pdf/
body=(--header 'Content-Type: application/json' --data-binary "@$1")

while true; do
  # The answer is the PDF as soon as it is there, or a status after 30 seconds.
  read -r status location < <(curl --silent --show-error --output "$pdf" \
    --header "X-API-Key: $key" --header 'Prefer: wait=30' --header 'Accept: application/pdf' \
    --write-out '%{http_code} %header{location}\n' "${body[@]}" "$url")
  case $status in
    200) exit ;;
    # The page takes longer: the next requests ask for the file of this conversion.
    202) url=${location}file/ body=() ;;
    409) ;;
    *) cat "$pdf" >&2; rm "$pdf"; exit 1 ;;
  esac
done
