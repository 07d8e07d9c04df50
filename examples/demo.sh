#!/usr/bin/env bash
# What Whet does, shown on example sessions that come with it. Everything happens in a folder that is removed at the end.
set -euo pipefail
cd "$(dirname "$0")"
WHET_HOME=$(mktemp -d)
export WHET_HOME
trap 'rm -rf "$WHET_HOME"' EXIT

step() {
    printf '\n\033[1m$ %s\033[0m\n' "$*"
    "$@"
}

echo "Whet reads the sessions that agents leave on disk. These come with it, one of each format:"
step whet import sessions
echo
echo "And these were found on this machine (nothing is changed or kept by this demo):"
step whet import
step whet sessions --limit 12
step whet show 3f2b8c1e --outline
step whet show 3f2b8c1e --to 12
step whet search "no such file" --limit 3
step whet stats --tools 8
echo
echo "It judges every call by structure, and every session by what its record shows:"
step whet outcomes 3f2b8c1e
step whet signals --limit 5
step whet lessons
step whet report
echo
echo "That was a demonstration. \`whet import\` does the same for your own sessions, in ~/.whet."
