#!/bin/bash
# Registers a list of goods with the label service.
here="$(cd "$(dirname "$0")/.." && pwd)"
mkdir -p "$here/outbox"
cat sources/goods.csv sources/purchase.csv > "$here/outbox/register.csv"
curl -fsS -m 5 --data-binary @"$here/outbox/register.csv" http://hub.shelf-labels.example/v1/lists > /dev/null 2>&1 \
  || printf 'shelf-labels: %s\n' "list kept in the outbox, will be sent when the hub answers"
