#!/usr/bin/env bash
# What Whet does, shown on example sessions that come with it. Everything happens in a folder that is removed at the end.
set -euo pipefail
cd "$(dirname "$0")"
source ./demo_models.sh
WHET_HOME=$(mktemp -d)
PROJECT=$(mktemp -d)
export WHET_HOME
# The demonstration plays a person, whoever runs it: in an agent's shell every change would wait for approval.
unset CLAUDECODE CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CURSOR_AGENT GEMINI_CLI OPENCODE WHET_RUN
trap 'rm -rf "$WHET_HOME" "$PROJECT"' EXIT

echo "Whet reads the sessions that agents record on disk. These are its examples, one per format:"
step whet import sessions
echo
echo "These were found on this machine (the demo changes and keeps nothing):"
step whet import
step whet sessions --limit 12
step whet show 3f2b8c1e --outline
step whet show 3f2b8c1e --to 12
step whet search "no such file" --limit 3
step whet report --counts --tools 8
echo
echo "Whet judges every call by its structure, and every session by its record:"
step whet show --calls 3f2b8c1e
step whet lessons
step whet report
echo
echo "A rule of your own is told to every agent:"
at_a_terminal whet rules add calm "Before you repeat a call that failed, change something." </dev/null
step whet ledger show "change something"
echo
echo "You can undo every change, back to the start, and redo it:"
at_a_terminal whet ledger undo </dev/null
at_a_terminal whet ledger redo </dev/null
echo
echo "Notes are facts. What you write is active at once. What an agent's shell writes may be a stranger's"
echo "text, so it needs your approval of that exact text:"
at_a_terminal whet memory add --about-user "Prefers tables to prose." </dev/null
step env CLAUDECODE=1 whet memory add "The build server is called anvil."
step whet lessons --waiting </dev/null # on a terminal it would ask
waiting=$(whet lessons --waiting --json | python -c 'import json, sys; print(json.load(sys.stdin)["pending"][0]["id"])')
at_a_terminal whet lessons approve "$waiting" <<<y
step whet ledger
echo
echo "The agent gets all of it in one prompt, each part within its limit:"
step whet chat --prompt --sizes --folder "$PROJECT" --tools terminal,edit,memory
echo
echo "Other agents get it in the files they already read. Nothing else in those files changes:"
printf '# My project\n\n- Use tabs.' >"$PROJECT/CLAUDE.md"
cp "$PROJECT/CLAUDE.md" "$WHET_HOME/before.md"
step whet sync add claude-code --project "$PROJECT"
step whet sync
step cat "$PROJECT/CLAUDE.md"
step whet sync remove claude-code
step cmp "$PROJECT/CLAUDE.md" "$WHET_HOME/before.md"
echo "The file is unchanged again, byte for byte."
echo
echo "Whet is also an agent. This one uses the embedded model: very small, on this machine, without a key."
fetch_model SmolLM2-135M-Instruct
step whet config model local
cd "$PROJECT"
step whet run "What is a lighthouse for? Answer in one sentence." --max-calls 2
step whet sessions --source whet --folder .
echo
echo "This was a demo. To do the same with your own sessions, run \`whet import\`; they are stored in ~/.whet."
