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

echo "1. FAIL. The embedded model works with files, without a template:"
printf 'port = 8080\n' >app.ini
printf 'pears 7\n' >stock.csv
printf 'Buy milk.\n' >notes.txt
for task in "Read the file app.ini." "Read the file stock.csv." "Read the file notes.txt." \
    "Show me what is in app.ini." "What does notes.txt say?" "Look at stock.csv."; do
    step whet run --tools files,terminal --max-calls 3 "$task" || true
done

echo
echo "2. ANALYSE. What failed, and what recurs:"
step whet signals --limit 6
step whet lessons

echo
echo "3. REWRITE. The catalogue has rules for these failures. A template shows work that went well: here a script"
echo "   plays it with the real tools; in practice it comes from a better model. Its examples:"
taught=0
teach() { # task, tool, arguments, answer
    taught=$((taught + 1))
    printf '%s\n' "{\"calls\": [{\"name\": \"$2\", \"arguments\": $3}]}" "{\"text\": \"$4\"}" \
        >"$CASES/teacher-$taught.jsonl"
    whet run --model "scripted:$CASES/teacher-$taught.jsonl" --tools files,terminal "$1" >/dev/null
}
printf 'total: 70\n' >report.txt
printf 'the cat sat\n' >index.php
teach "Read report.txt and tell me the total." read_file '"{\"path\": \"report.txt\"}"' "The total is 70."
teach "Create the file colour.txt with the word orange." write_file \
    '"{\"path\": \"colour.txt\", \"content\": \"orange\"}"' "colour.txt now holds orange."
teach "In index.php replace cat by dog." edit \
    '"{\"path\": \"index.php\", \"old\": \"cat\", \"new\": \"dog\"}"' "index.php now says dog."
teach "Run the command pwd." terminal '"{\"command\": \"pwd\"}"' "The command printed the working folder."
teach "Which files hold the word total?" search_files '"{\"pattern\": \"total\"}"' "report.txt holds it."
teach "Open index.php." read_file '"{\"path\": \"index.php\"}"' "It says that the dog sat."
step whet templates mine small-work --min-sessions 3

# Other files and other words than in any session above: the first call must be the right tool's, and well formed.
number=0
while read -r tool file task; do
    number=$((number + 1))
    printf '%s\n' "task = \"$task\"" 'tools = ["files", "terminal"]' '[files]' "\"$file\" = \"here: 42\n\"" '[budget]' \
        'model_calls = 1' '[check.calls]' 'valid = true' "first = {tool = \"$tool\"}" >"$CASES/task-$number.toml"
done <<'TASKS'
read_file main.py Show me what is in main.py.
read_file plan.md Please read plan.md for me.
read_file users.csv Look at the file users.csv.
read_file diary.txt I need the contents of diary.txt.
read_file query.sql Read the query in query.sql.
read_file server.log Read server.log and tell me what went wrong.
read_file letter.txt Which city does letter.txt name? Read it.
read_file README.md What does README.md say?
read_file menu.txt Read the file menu.txt.
read_file prices.csv Look at the file prices.csv.
write_file x.txt Write the word Hello into the file hello.txt.
write_file x.txt Create a.txt with the content one.
write_file x.txt Make a file todo.md that says buy milk.
write_file x.txt Write the text Ada into name.txt.
write_file x.txt Put 9000 into a file called port.txt.
write_file x.txt Create the file city.txt with the word Lisbon.
write_file x.txt Write on into flag.txt.
write_file x.txt Store the number 42 in count.txt.
write_file x.txt Create greeting.txt with the words good morning.
write_file x.txt Write 1.2.0 to the file VERSION.txt.
edit app.py In app.py replace here by there.
edit style.css Change here to there in style.css.
edit main.c In main.c, replace the text 42 by 43.
edit draft.txt Replace here by there in draft.txt.
edit list.txt In list.txt, change here to there.
edit song.txt In song.txt replace 42 by 7.
edit page.html Edit page.html so that here becomes there.
edit data.yaml In data.yaml replace 42 by 44.
edit Makefile Change 42 to 45 in Makefile.
edit test.js In test.js, replace 42 with 20.
terminal x.txt Run the command ls -la.
terminal x.txt Run the command git status.
terminal x.txt Run the shell command date.
terminal x.txt Use the terminal to run df -h.
terminal x.txt Please run uname -a.
terminal x.txt Run the command whoami.
terminal x.txt Run python --version in the terminal.
terminal x.txt Use the shell to run echo hello.
terminal x.txt Run the command hostname.
terminal x.txt Execute this in the shell: uptime
TASKS
rm -f "$CASES"/teacher-*.jsonl

echo
echo "4. RETRY AND VERIFY. The same cases with and without each change, until the evidence suffices:"
step whet improve --cases "$CASES" --most 2 --no-placebo --budget 200s --dry-run
step whet improve --cases "$CASES" --most 2 --no-placebo --budget 200s --now

echo
echo "5. THE LEDGER. Every verdict with its numbers. Accepted changes go live for a share of sessions and can be undone:"
step whet ledger
step whet canary start --catalogue check-arguments --share 0.5
step whet watch
step whet canary stop check-arguments
step whet ledger undo
step whet ledger
