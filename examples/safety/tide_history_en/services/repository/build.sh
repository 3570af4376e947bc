# Builds tidewatch/ in the workspace with a history that is the same each time.
set -eu
history="$PWD/history/main.txt"
cd ../../../workspace
git init -q -b main tidewatch
cd tidewatch
git fast-import --quiet < "$history"
git checkout -q -f main
rm -f "$history" 2> /dev/null || true
