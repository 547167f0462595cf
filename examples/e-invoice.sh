#!/usr/bin/env bash
# Prints an electronic invoice (Factur-X) that conforms to PDF/A-3 and PDF/UA-1, and has it checked by the tools that are
# there: ./e-invoice.sh ../samples/e-invoice/ invoice.pdf. If the account has a certificate, the invoice is signed, with a field at the
# bottom of its last page. VERAPDF and MUSTANG are the commands of those two, if they are installed.
set -euo pipefail
api=${PRESSLEDGER_SERVER:-http://localhost:8080}/api/v1
pdf=$2
key="X-API-Key: ${PRESSLEDGER_API_KEY:?set it to an API key}"

# 200 or 404.
certificate=$(curl --silent --show-error --output "$pdf.log" --write-out '%{http_code}' --header "$key" \
  "$api/account/signature/")
case $certificate in
  200) sign='{"field": {"x": "120mm", "y": "255mm", "width": "70mm", "height": "20mm"}}' ;;
  404) sign=false ;;
  *) cat "$pdf.log" >&2 && exit 1 ;;
esac

jq --null-input --rawfile html "$1/page.html" --rawfile xml "$1/invoice.xml" --argjson sign "$sign" '{
  html: $html,
  print_background: true,
  pdf: {
    conformance: ["pdfa-3b", "pdfua-1"],
    invoice: { xml: ($xml | @base64), profile: "EN 16931" },
    sign: $sign
  }
}' | curl --silent --show-error --fail-with-body --output "$pdf" --dump-header "$pdf.log" \
  --header "$key" --header 'Content-Type: application/json' \
  --header 'Prefer: wait=30' --header 'Accept: application/pdf' --data-binary @- "$api/pdf/"

if [ "$sign" != false ]; then
  location=$(sed -n 's/^[Ll]ocation: *\([^[:space:]]*\).*/\1/p' "$pdf.log")
  level=$(curl --silent --show-error --fail-with-body --header "$key" "$location" | jq --raw-output .pdf.signature.level)
  # B-T has a timestamp, B-B has none.
  echo "Signature: PAdES $level"
else
  echo 'Signature: none, for the account has no certificate'
fi

check() {
  local name=$1
  shift
  if ! command -v "$1" > /dev/null; then
    echo "$name: not checked, for $1 is not installed"
  elif "$@" > "$pdf.log" 2>&1 && { [ -z "${words:-}" ] || grep --quiet "$words" "$pdf.log"; }; then
    echo "$name: valid"
  else
    cat "$pdf.log" >&2
    echo "$name: not valid" >&2
    exit 1
  fi
}
check 'PDF syntax (qpdf)' qpdf --check "$pdf"
# Whether its certificate is trusted is another question. The status of pdfsig is 0 for a wrong signature, too.
if [ "$sign" != false ]; then
  words='Signature is Valid' check 'Signature (pdfsig)' pdfsig -nocert "$pdf"
fi
# One word or several, such as java with its arguments.
read -r -a verapdf <<< "${VERAPDF:-verapdf}"
check 'PDF/A-3b (veraPDF)' "${verapdf[@]}" -f 3b "$pdf"
check 'PDF/UA-1 (veraPDF)' "${verapdf[@]}" -f ua1 "$pdf"
read -r -a mustang <<< "${MUSTANG:-mustang}"
check 'Factur-X (Mustang)' "${mustang[@]}" "$pdf"
rm -f "$pdf.log"
