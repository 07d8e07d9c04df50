#!/usr/bin/env bash
# What Whet does, shown on example sessions that come with it. Everything happens in a folder that is removed at the end.
set -euo pipefail
cd "$(dirname "$0")"
WHET_HOME=$(mktemp -d)
PROJECT=$(mktemp -d)
export WHET_HOME
# The demonstration plays a person, whoever runs it: in an agent's shell every change would wait for approval.
unset CLAUDECODE CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CURSOR_AGENT GEMINI_CLI OPENCODE WHET_RUN
trap 'rm -rf "$WHET_HOME" "$PROJECT"' EXIT

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
echo "Each kind of failure has rules that come with Whet. One for the loop above, with its evidence:"
step whet rules catalogue --seen --kind retry_loop
step whet rules add change-before-retry
step whet ledger why "change something"
echo
echo "Every change can be taken back, all the way to nothing, and made again:"
step whet ledger undo
step whet ledger redo
echo
echo "Notes are facts. What you write is in force at once; what is written in an agent's shell may be a stranger's"
echo "wish, so it waits until you have approved that very text:"
step whet memory add --about-user "Prefers tables to prose."
step env CLAUDECODE=1 whet memory add "The build server is called anvil."
step whet pending
waiting=$(whet pending --json | python -c 'import json, sys; print(json.load(sys.stdin)["pending"][0]["id"])')
# Approving asks a person on a terminal; the demonstration sits at one.
at_a_terminal() { python -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$@" <<<y; }
printf '\n\033[1m$ whet pending approve %s\033[0m\n' "$waiting"
at_a_terminal whet pending approve "$waiting"
step whet ledger
echo
echo "All of it reaches the agent in one prompt, each part within its budget:"
step whet prompt --sizes --folder "$PROJECT" --tools terminal,edit,memory
echo
echo "Other agents read it where they always read. Nothing else in their files is touched:"
printf '# My project\n\n- Use tabs.' >"$PROJECT/CLAUDE.md"
cp "$PROJECT/CLAUDE.md" "$WHET_HOME/before.md"
step whet target add claude-code --project "$PROJECT"
step whet sync
step cat "$PROJECT/CLAUDE.md"
step whet target remove claude-code
step cmp "$PROJECT/CLAUDE.md" "$WHET_HOME/before.md"
echo "The file is as it was, byte for byte."
echo
echo "Whet is an agent too. This one is embedded: a very small model on this machine, without any key."
step whet models pull
step whet config set model local
cd "$PROJECT"
step whet run "What is a lighthouse for? Answer in one sentence." --max-calls 2
step whet sessions --source whet
echo
echo "That was a demonstration. \`whet import\` does the same for your own sessions, in ~/.whet."
