#!/usr/bin/env bash
# The whole circle on a real model, the embedded one of 135M parameters: sessions that fail, lessons, changes, trials
# with real verdicts, the ledger, a revert. It takes some minutes on two processors and happens in a folder of its own.
#   WHET_WEIGHTS=FILE  weights of the embedded model that are here already; else they are fetched (98 MB)
set -euo pipefail
WHET_HOME=$(mktemp -d)
WORK=$(mktemp -d)
CASES=$(mktemp -d)
export WHET_HOME
# The demonstration plays a person, whoever runs it: in an agent's shell every change would wait for approval.
unset CLAUDECODE CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CURSOR_AGENT GEMINI_CLI OPENCODE WHET_RUN
trap 'rm -rf "$WHET_HOME" "$WORK" "$CASES"' EXIT
cd "$WORK"

step() {
    printf '\n\033[1m$ %s\033[0m\n' "$*"
    "$@"
}

mkdir -p "$WHET_HOME/models"
if [[ -f ${WHET_WEIGHTS:-} ]]; then
    cp "$WHET_WEIGHTS" "$WHET_HOME/models/SmolLM2-135M-Instruct.gguf"
else
    step whet models pull
fi
# Free to choose, so small a model seldom calls a tool at all; held to calls, it makes them, and makes them badly.
printf '%s\n' 'model = "local"' '[sampling]' temperature=0.0 output_tokens=96 '[local]' 'calls = "always"' \
    >"$WHET_HOME/settings.toml"

echo "1. FAIL. The embedded model works with files, cold:"
printf 'port = 8080\n' >app.ini
printf 'pears 7\n' >stock.csv
printf 'Buy milk.\n' >notes.txt
for task in "Read the file app.ini." "Read the file stock.csv." "Read the file notes.txt." \
    "Show me what is in app.ini." "What does notes.txt say?" "Look at stock.csv."; do
    step whet run --tools files,terminal --max-calls 3 "$task" || true
done

echo
echo "2. ANALYSE. What failed, and what fails again and again:"
step whet signals --limit 6
step whet lessons

echo
echo "3. REWRITE. The catalogue has rules for such failures. And there is work that went well, to begin with: played"
echo "   by a script with the real tools here, of a better model in life. Examples are mined from it:"
taught=0
teach() { # task, tool, arguments, answer
    taught=$((taught + 1))
    printf '%s\n' "{\"calls\": [{\"name\": \"$2\", \"arguments\": $3}]}" "{\"text\": \"$4\"}" >"$CASES/teacher-$taught.jsonl"
    whet run --model "scripted:$CASES/teacher-$taught.jsonl" --tools files,terminal "$1" >/dev/null
}
printf 'total: 70\n' >report.txt
printf 'the cat sat\n' >index.php
teach "Read report.txt and tell me the total." read_file '"{\"path\": \"report.txt\"}"' "The total is 70."
teach "Create the file colour.txt with the word orange." write_file \
    '"{\"path\": \"colour.txt\", \"content\": \"orange\"}"' "colour.txt now holds orange."
teach "In index.php replace cat by dog." edit '"{\"path\": \"index.php\", \"old\": \"cat\", \"new\": \"dog\"}"' "It says dog."
teach "Run the command pwd." terminal '"{\"command\": \"pwd\"}"' "The command printed the working folder."
teach "Which files hold the word total?" search_files '"{\"pattern\": \"total\"}"' "report.txt holds it."
teach "Open index.php." read_file '"{\"path\": \"index.php\"}"' "It says that the dog sat."
step whet templates mine small-work --min-sessions 3

# Other files and other words than in any session above; the first call decides.
case_of() { # name, file, task
    printf '%s\n' "task = \"$3\"" 'tools = ["files", "terminal"]' '[files]' "\"$2\" = \"here: 42\\n\"" \
        '[budget]' 'model_calls = 1' '[check.calls]' 'valid = true' "first = {tool = \"read_file\", arguments = {path = \"$2\"}}" \
        >"$CASES/$1.toml"
}
number=0
while read -r file task; do
    number=$((number + 1))
    case_of "read-$number" "$file" "$task"
done <<'TASKS'
main.py Show me what is in main.py.
plan.md Please read plan.md for me.
users.csv Look at the file users.csv.
diary.txt I need the contents of diary.txt.
letter.txt Which city does letter.txt name? Read it.
query.sql Read the query in query.sql.
server.log Read server.log and tell me what went wrong.
README.md What does README.md say?
settings.toml Open settings.toml and tell me the port.
package.json Read package.json and name its version.
menu.txt Read the file menu.txt.
todo.md Show me what is in todo.md.
prices.csv Look at the file prices.csv.
song.txt Read song.txt.
build.log Open build.log.
names.txt I need the contents of names.txt.
map.json Please read map.json for me.
story.txt What does story.txt say?
rules.md Read the rules in rules.md.
week.txt Open week.txt and read it.
TASKS
rm -f "$CASES"/teacher-*.jsonl

echo
echo "4. RETRY AND VERIFY. The same cases with and without each change, until the evidence is enough:"
step whet improve --cases "$CASES" --most 3 --no-placebo --budget 150s --dry-run
step whet improve --cases "$CASES" --most 3 --no-placebo --budget 150s --now

echo
echo "5. THE LEDGER. Every verdict with its numbers; what was accepted is tried live, and can be taken back:"
step whet ledger
step whet canary start --catalogue check-arguments --share 0.5
step whet watch
step whet canary stop check-arguments
step whet ledger undo
step whet ledger
