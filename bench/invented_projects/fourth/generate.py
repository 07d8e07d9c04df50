"""python generate.py OUT: OUT/sessions/NN-name/SS-id.jsonl in Claude Code's form, and OUT/expected.json; deterministic."""
import datetime as dt, json, pathlib, random, re, sys, uuid
from specs import P, b, e, r, t, u
WORDS = "amount batch cursor draft entry feed guard handle journal limit margin node offset payload range score token unit value window zone anchor bucket carrier digest plan basket coupon".split()
TALK = {"en": (["Let me look.", "I'll start here.", "", "", "Checking."], ["That failed. Let me see.", "Hm.", "", ""], ["Done: {w} in {mod}.", "Finished, {w} is in place."], ["thanks", "good", "ok, next", "fine, now look at {v} too"]),
        "de": (["Ich sehe nach.", "", ""], ["Das ging nicht.", "", ""], ["Fertig: {w} in {mod}."], ["danke", "passt", "gut"]),
        "ru": (["Смотрю.", "", ""], ["Не вышло.", "", ""], ["Готово: {w} в {mod}."], ["спасибо", "хорошо"])}
REJECT = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "

def fill(x, slots):
    if isinstance(x, str): return re.sub(r"\{(\w+)\}", lambda m: slots.get(m[1], m[0]), x)
    if isinstance(x, dict): return {k: fill(v, slots) for k, v in x.items()}
    if isinstance(x, (list, tuple)): return type(x)(fill(v, slots) for v in x)
    return x

class Writer:
    def __init__(self, rng, p, start):
        self.rng, self.p, self.t = rng, p, start
        self.id, self.parent, self.lines = str(uuid.UUID(int=rng.getrandbits(128), version=4)), None, []
        self.cwd = "/srv/" + p["name"].split("-")[0]
    def line(self, kind, message, **more):
        self.t += self.rng.uniform(1, 20)
        at = dt.datetime.fromtimestamp(self.t, dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        me = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        self.lines.append({"parentUuid": self.parent, "isSidechain": False, "userType": "external", "cwd": self.cwd, "sessionId": self.id, "version": "2.0.69", "gitBranch": "main", "type": kind, "message": message, **more, "uuid": me, "timestamp": at})
        self.parent = me
    def user(self, text):
        self.t += self.rng.uniform(10, 200); self.line("user", {"role": "user", "content": text}, permissionMode="default")
    def agent(self, blocks):
        self.line("assistant", {"model": "claude-sonnet-4-5-20250929", "id": "msg_%022x" % self.rng.getrandbits(88), "type": "message", "role": "assistant", "content": blocks, "stop_reason": None, "usage": {"input_tokens": 5, "output_tokens": self.rng.randint(20, 300), "cache_read_input_tokens": self.rng.randint(9000, 40000)}}, requestId="req_%x" % self.rng.getrandbits(60))
    def result(self, call, text, error=None, raw=None):
        block = {"tool_use_id": call, "type": "tool_result", "content": text}
        if error is not None: block["is_error"] = error
        self.line("user", {"role": "user", "content": [block]}, toolUseResult=raw if raw is not None else ("Error: " + text if error else {"stdout": text, "stderr": "", "interrupted": False}))
    def do(self, act, talk):
        kind = act[0]
        if kind == "u": return self.user(act[1])
        if kind == "s": return self.agent([{"type": "text", "text": act[1]}])
        inner = act[1] if kind == "no" else act
        name, args = {"b": lambda a: ("Bash", {"command": a[1], "description": "Run " + a[1].split()[0]}), "t": lambda a: (a[1], a[2]),
            "e": lambda a: ("Edit", {"file_path": f"{self.cwd}/{a[1]}", "old_string": a[2], "new_string": a[3]}), "r": lambda a: ("Read", {"file_path": f"{self.cwd}/{a[1]}"})}[inner[0]](inner)
        call = "toolu_%022x" % self.rng.getrandbits(88)
        self.agent(([{"type": "text", "text": talk}] if talk else []) + [{"type": "tool_use", "id": call, "name": name, "input": args}])
        if kind == "no":
            if self.rng.random() < .7: return self.result(call, REJECT + "To tell you how to proceed, the user said:\n" + act[2], True, "User rejected tool use")
            self.result(call, REJECT + "STOP what you are doing and wait for the user to tell you how to proceed.", True, "User rejected tool use")
            self.line("user", {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user for tool use]"}]}); return self.user(act[2])
        if kind == "b": return self.result(call, (f"Exit code {act[3]}\n" if act[3] else "") + act[2], bool(act[3]))
        if kind == "t": return self.result(call, act[3], None if act[4] else True)
        if kind == "r": return self.result(call, "     1→%s = %d\n     2→return" % (self.rng.choice(WORDS), self.rng.randint(1, 99)))
        return self.result(call, f"The file {self.cwd}/{act[1]} has been updated.")

def slips(rng, slots):
    """One-off trouble that teaches nothing."""
    w, m, n = slots["w"], slots["mod"], slots["n"]
    k = rng.randint(100, 999)
    return rng.choice([
        [b(f"grep -rn {w}{k} .", "", 1)], [t("Glob", {"pattern": f"**/{w}{k}*"}, "No files found")],
        [("t", "Edit", {"file_path": f"/srv/x/{w}{k}", "old_string": w, "new_string": m}, "<tool_use_error>String to replace not found in file.</tool_use_error>", False)],
        [b(f"cat notes/{w}{k}.txt", f"cat: notes/{w}{k}.txt: No such file or directory", 1), b(f"ls notes | grep {w}", f"{w}.txt")],
        [b(f"python tools/{w}{k}.py", f"Traceback (most recent call last):\nKeyError: '{w}{k}'", 1)],
        [b(f"curl -s https://example.org/{w}{k}", "", 6), b(f"curl -s https://example.org/{w}{k}", "ok")], []])

def session(p, number, shows, rng, start):
    words = rng.sample(WORDS, 2)
    slots = {"w": words[0], "v": words[1], "W": words[0].title(), "V": words[1].title(), "n": str(rng.randint(11, 98)), "d": str(rng.randint(2, 9))}
    slots |= {k: rng.choice(v) for k, v in p["fill"].items()}
    out = Writer(rng, p, start)
    ask, bad, done, more = TALK[p["lang"]]
    acts = [u(rng.choice(p["tasks"]))] + [r(f) for f in p["files"][:rng.randint(1, 2)]]
    if rng.random() < .5: acts.append(b("git log --oneline -5", "a1b2c3 {w}"))
    body = []
    if shows: body += list(p["show"][number % len(p["show"])])
    elif p["show"] and p["learn"] and rng.random() < .5: body += [a for a in p["show"][number % len(p["show"])] if a[0] == "b" and a[3] == 0][-1:]
    edits = [e(rng.choice(p["files"]), "{w}", "{v}")]
    test, good, red = p["test"]
    checks = [b(test, red, 1), e(p["files"][0], "{v}", "{w}")] if rng.random() < .35 else []
    checks.append(b(test, good))
    late = bool(body) and body[0][0] == "u"
    middle = edits + slips(rng, slots) + (body if not late and rng.random() < .6 else [])
    rest = body if not late and not any(x in middle for x in body) else []
    acts += middle + checks + rest + (slips(rng, slots) if rng.random() < .4 else [])
    acts += [("s", rng.choice(done))] + (body + [("s", rng.choice(done))] if late else [])
    if rng.random() < .5: acts += [u(rng.choice(more)), ("s", "ok")]
    failed = False
    for act in fill(acts, slots):
        out.do(act, rng.choice(bad if failed else ask)); failed = act[0] == "b" and act[3] != 0
    return out

def main(out):
    expected = []
    for number, p in enumerate(P, start=1):
        place = out / "sessions" / f"{number:02}-{p['name']}"; place.mkdir(parents=True, exist_ok=True)
        rng = random.Random(f"fourth {p['name']}")
        shown = sorted(rng.sample((1, 2, 3), 2 + (rng.random() < .4)) + rng.sample(range(4, 13), 6)) if p["learn"] else list(range(1, 13))
        start = dt.datetime(2026, 1, rng.randint(1, 28), 9, tzinfo=dt.UTC).timestamp()
        for each in range(1, 13):
            start += rng.uniform(4e4, 2e5)
            made = session(p, each, each in shown, rng, start)
            (place / f"{each:02}-{made.id}.jsonl").write_text("".join(json.dumps(x, ensure_ascii=False) + "\n" for x in made.lines))
        expected.append({"number": number, "name": p["name"], "kind": p["kind"], "learn": p["learn"], "rule": p["rule"], "must": p["must"], "must_not": p["must_not"], "shown_in": shown if p["learn"] else []})
    (out / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n")

main(pathlib.Path(sys.argv[1]))
