#!/usr/bin/env bash
# Prints a web page: ./url.sh https://example.com/ example.pdf
set -euo pipefail
jq --null-input --arg url "$1" '{ url: $url, print_background: true, wait_for: { network_idle: true } }' |
  "$(dirname "$0")/convert.sh" - "$2"
