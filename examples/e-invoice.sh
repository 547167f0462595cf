#!/usr/bin/env bash
# Prints an electronic invoice (Factur-X) that conforms to PDF/A-3 and PDF/UA-1, and has it checked by the tools that are
# there: ./e-invoice.sh e-invoice/ invoice.pdf. VERAPDF and MUSTANG are the commands of those two, if they are installed.
set -euo pipefail
server=${PRESSLEDGER_SERVER:-http://localhost:8080}
pdf=$2

jq --null-input --rawfile html "$1/page.html" --rawfile xml "$1/invoice.xml" '{
  html: $html,
  print_background: true,
  pdf: { conformance: ["pdfa-3b", "pdfua-1"], invoice: { xml: ($xml | @base64), profile: "EN 16931" } }
}' | curl --silent --show-error --fail-with-body --output "$pdf" \
  --header "X-API-Key: ${PRESSLEDGER_API_KEY:?set it to an API key}" --header 'Content-Type: application/json' \
  --header 'Prefer: wait=30' --header 'Accept: application/pdf' --data-binary @- "$server/api/v1/pdf/"

check() {
  local name=$1
  shift
  if ! command -v "$1" > /dev/null; then
    echo "$name: not checked, for $1 is not installed"
  elif "$@" > "$pdf.log" 2>&1; then
    echo "$name: valid"
  else
    cat "$pdf.log" >&2
    echo "$name: not valid" >&2
    exit 1
  fi
}
check 'PDF syntax (qpdf)' qpdf --check "$pdf"
# One word or several, such as java with its arguments.
read -r -a verapdf <<< "${VERAPDF:-verapdf}"
check 'PDF/A-3b (veraPDF)' "${verapdf[@]}" -f 3b "$pdf"
check 'PDF/UA-1 (veraPDF)' "${verapdf[@]}" -f ua1 "$pdf"
read -r -a mustang <<< "${MUSTANG:-mustang}"
check 'Factur-X (Mustang)' "${mustang[@]}" "$pdf"
rm -f "$pdf.log"
