#!/usr/bin/env bash
# The second act of the demonstration, with a model that can follow a rule: sessions that fail the same way, the lesson, a
# rule, a trial on cases that Whet makes from those sessions, the verdict, and what becomes of it. Everything happens in
# folders that are removed at the end. After the download it takes two to four minutes on two idle cores.
#   WHET_WEIGHTS=FILE         weights of Qwen2.5-Coder-1.5B-Instruct that are here already; else 1.1 GB are downloaded, once
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
source "$HERE/demo_models.sh"
WHET_HOME=$(mktemp -d)
WORK=$(mktemp -d)
export WHET_HOME
# The demonstration plays a person, whoever runs it: in an agent's shell every change would wait for approval.
unset CLAUDECODE CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CURSOR_AGENT GEMINI_CLI OPENCODE WHET_RUN
trap 'rm -rf "$WHET_HOME" "$WORK"' EXIT

taken() { # a part of a command's JSON, as a Python expression on `it`
    python -c "import json, sys; it = json.load(sys.stdin); print($1)"
}

model=$LARGE
mkdir -p "$WHET_HOME/models"
if [[ -f ${WHET_WEIGHTS:-} ]]; then
    cp "$WHET_WEIGHTS" "$WHET_HOME/models/$model.gguf"
else
    fetch_model "$model" "hf:Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf" --name "$model"
fi
printf '%s\n' "model = \"local:$model\"" '[sampling]' temperature=0.0 output_tokens=64 '[local]' \
    "template = \"$HERE/qwen-coder.jinja\"" >"$WHET_HOME/settings.toml"

mkdir "$WORK/shop" && cd "$WORK/shop"
cat >dev <<'DEV'
#!/usr/bin/env bash
# Everything is run by this script: it sets what the code needs.
[[ $# == 2 && $1 == test ]] || { echo "Use: ./dev test MODULE" >&2; exit 2; }
SHOP_CONFIG=test exec python -m pytest -q "test_$2.py"
DEV
chmod +x dev
cat >conftest.py <<'CONFTEST'
import os
import sys

if os.environ.get("SHOP_CONFIG") != "test":
    sys.exit("Use: ./dev test MODULE")
CONFTEST
for module in cart price stock order user mail tax login search refund ship coupon invoice; do
    printf 'def total():\n    return 1\n' >"$module.py"
    printf 'from %s import total\n\n\ndef test_total():\n    assert total() == 1\n' "$module" >"test_$module.py"
done
git init -q . && git remote add origin https://example.org/shop.git && git add .
git -c user.name=Demo -c user.email=demo@example.org commit -qm "A small shop"

# Where the sandbox hid the project's own tools, every session would fail for that, and nothing below would mean anything.
printf '%s\n' '{"calls": [{"name": "terminal", "arguments": "{\"command\": \"./dev test cart\"}"}]}' '{"text": "Done."}' \
    >"$WORK/check.jsonl"
checked=$(WHET_HOME=$WORK/home whet run --model "scripted:$WORK/check.jsonl" --tools terminal --stream-json "Check." 2>&1) || true
if [[ $checked != *"1 passed"* ]]; then
    printf '%s\n' "The agent cannot run ./dev test cart here, so there is nothing to show:" "$checked" >&2
    exit 1
fi

echo
echo "1. FAIL. In this project tests run with ./dev test MODULE. The model ($model) does not know it:"
step whet run --tools terminal --max-calls 1 "Run the tests of the module cart." || true
echo
echo "   Twelve sessions of an agent that finds out each time anew. A script plays the agent; the project, the tools and"
echo "   the errors are real:"
played=0
session() { # module, task
    played=$((played + 1))
    local script=$WORK/agent-$played.jsonl
    printf '{"calls": [{"name": "terminal", "arguments": "{\\"command\\": \\"%s\\"}"}]}\n' \
        "python -m pytest test_$1.py" "./dev test $1" >"$script"
    echo '{"text": "Done: 1 passed."}' >>"$script"
    echo
    echo "> $2"
    whet run --model "scripted:$script" --tools terminal "$2"
}
session cart "Run the tests of the module cart."
session price "Do the tests of price pass?"
session stock "Run the tests for stock."
session order "Check that the tests of order pass."
session user "Please run the tests of user."
session mail "Test the module mail."
session tax "Run the tests of tax and tell me the result."
session login "Are the tests of login green?"
session search "Run the search tests."
session refund "Run the tests of refund."
session ship "Please test the module ship."
session coupon "Run the tests of coupon."

echo
echo "2. ANALYSE. What recurs, and what the record says would have been right:"
step whet lessons

echo
echo "3. REWRITE. The rule that follows. The oldest sessions wrote it; each later one becomes a case that judges it: the"
echo "   conversation up to the failed call, and the demand that the next call is one that does it."
step whet try --most 1 --placebo --dry-run

echo
echo "4. RETRY AND VERIFY. The model gets each case without the rule, with it, and with a text of the same form and length"
echo "   that teaches nothing (the placebo):"
step whet try --most 1 --placebo --now
verdict=$(whet ledger --json | taken 'next((e["step"] for e in it["entries"] if e["step"] in ("accepted", "rejected", "undecided")), "none")')

echo
if [[ $verdict == accepted ]]; then
    echo "5. PROVED, AND KEPT. The verdict was: accepted. The rule has words that a command printed, so a person has the last"
    echo "   word. The demo plays one who reads it and says yes:"
    waiting=$(whet lessons --waiting --json | taken 'it["waiting"][0]["id"]')
    at_a_terminal whet lessons approve "$waiting" <<<y
    echo
    echo "   The same model, a module that was in no session:"
    step whet run --tools terminal --max-calls 1 "Run the tests of invoice." || true
    echo
    echo "   Other agents get it in the file that they read. (Claude Code would not: it runs other models, and on those"
    echo "   nothing is proved yet.)"
    step whet sync add opencode --project .
    step whet sync
    step cat AGENTS.md
    echo
    echo "6. UNDO, REDO. Every change can be taken back, and the file with it; and back again:"
    step whet ledger
    at_a_terminal whet ledger undo </dev/null
    step whet sync
    at_a_terminal whet ledger redo </dev/null
    step whet rules
else
    echo "5. NOT PROVED. The verdict was: $verdict. So nothing changes: what is not proved is not kept by itself."
    step whet ledger
    step whet lessons --waiting </dev/null # on a terminal it would ask
    if [[ $verdict == none ]]; then
        echo "There was no verdict: this demonstration has shown nothing." >&2
        exit 1
    fi
fi
