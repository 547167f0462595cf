#!/usr/bin/env bash
# Makes invoice.png again, from examples/invoice.mjs and a running service (see examples/README.md). Needs poppler-utils.
set -euo pipefail
cd "$(dirname "$0")"
pdf=$(mktemp)
trap 'rm -f "$pdf"' EXIT
node ../../examples/invoice.mjs ../../examples/invoice.json "$pdf"
# The upper 60 % of the page, in 256 colours or fewer.
pdftoppm -png -r 80 -x 0 -y 0 -W 661 -H 420 -singlefile "$pdf" invoice
