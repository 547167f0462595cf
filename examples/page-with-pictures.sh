#!/usr/bin/env bash
# Prints a page with the styles, pictures and fonts beside it: ./page-with-pictures.sh page/ page.pdf
# The page itself is the folder's index.html. Options of the request are further fields of the form.
set -euo pipefail
server=${PRESSLEDGER_SERVER:-http://localhost:8080}

parts=()
while IFS= read -r file; do
  parts+=(--form "files=@$1/$file;filename=$file")
done < <(cd "$1" && find . -type f -printf '%P\n')

curl --silent --show-error --fail-with-body --output "$2" \
  --header "X-API-Key: ${PRESSLEDGER_API_KEY:?set it to an API key}" \
  --header 'Prefer: wait=30' --header 'Accept: application/pdf' \
  "${parts[@]}" --form print_background=true "$server/api/v1/pdf/"
