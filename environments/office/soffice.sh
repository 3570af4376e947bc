#!/bin/sh
# Without a display it has a profile of its own: conversions work beside open windows, and the
# window size of a run that has none is not remembered.
headless= own=
for word; do
  case $word in
    --headless | -headless) headless=1 ;;
    -env:UserInstallation=*) own=1 ;;
  esac
done
if [ -n "$headless" ] && [ -z "$own" ]; then
  set -- "-env:UserInstallation=file://${HOME:-/tmp}/.cache/soffice-headless" "$@"
fi
exec /usr/bin/soffice "$@"
