#!/usr/bin/env python3
"""python generate.py OUT  -> OUT/<NN-name>/<NN>-<uuid>.jsonl (deterministic). Specs: specs_a/b/c.txt beside this file."""
import copy, datetime as dt, json, os, random, re, sys, uuid
HERE = os.path.dirname(os.path.abspath(__file__))

# ---------------------------------------------------------------- specs
def load():
    out = []
    for fn in ("specs_a.txt", "specs_b.txt", "specs_c.txt"):
        for chunk in re.split(r"^## ", open(os.path.join(HERE, fn), encoding="utf8").read(), flags=re.M)[1:]:
            lines = chunk.strip("\n").split("\n")
            num_name, kind, lang, agent, cwd, branch = [x.strip() for x in lines[0].split(" | ")]
            num, name = num_name.split(" ", 1)
            p = dict(num=int(num), name=name, kind=kind, lang=lang, agent=agent, cwd=cwd, branch=branch,
                     fill={}, W=[], A=[], D=[], R=[], ok=[], Q=[], must=[], rule="")
            for l in lines[1:]:
                if not l.strip(): continue
                key, _, val = l.partition(":")
                val = val[1:] if val.startswith(" ") else val
                if key.startswith("fill "): p["fill"][key[5:]] = [v.strip() for v in val.split(" ;; ")]
                elif key in ("W", "A", "D", "R", "ok"): p[key].append(val)
                elif key in ("task", "Q"): p[key] = [v.strip() for v in val.split(" ;; ")]
                elif key == "files": p["files"] = val.split()
                elif key == "edits": p["edits"] = [tuple(e.split(" => ", 1)) if " => " in e else (e.replace(" =>", ""), "") for e in val.split(" ;; ")]
                elif key == "test": p["test"] = [v.replace("\\n", "\n") for v in (val + " ").split(" ;; ")]
                elif key == "must": p["must"] = [g.split("|") for g in val.split(" ;; ")]
                elif key == "rule": p["rule"] = val
                else: raise SystemExit("bad key " + l)
            out.append(p)
    return out

NEG = {"en": ["instead of ", "do not use ", "avoid "], "de": ["statt "], "ru": ["вместо "], "es": ["en vez de "], "ja": []}
def folder_forms(p):
    tok = p["must"][0][0]
    pre = ["cd ", "in ", "inside ", "from ", "under ", "folder ", "directory ", "dir ", "workdir ", "workdir=", "-p ", "-C ", "ordner ", "verzeichnis ", "aus "]
    forms = [a + q + b + tok for a in pre for q in ("", "`", "'", '"') for b in ("", p["cwd"] + "/")]
    return forms + [tok + " &&", tok + "` folder", tok + " folder", '"workdir": "%s/%s' % (p["cwd"], tok)]
def expected(ps):
    res = []
    for p in ps:
        learn = not p["kind"].startswith("nothing")
        mn = []
        if learn:
            tok = p["must"][-1][0]
            for n in dict.fromkeys(NEG[p["lang"]] + NEG["en"]):
                mn += [n + tok, n + "`" + tok]
        res.append(dict(number=p["num"], name=p["name"], kind=p["kind"], learn=learn, language=p["lang"], agent=p["agent"],
                        rule=p["rule"], must=[folder_forms(p)] if p["kind"] == "another folder" else p["must"], must_not=mn))
    return res

# ---------------------------------------------------------------- words
SAY = {
 "en": ["Let me look.", "Checking that first.", "I'll run it.", "Now the change itself.", "Hm, that is not what I expected.", "Trying it differently.", "Let me see what is there.", "One more look.", "OK.", "Next step.", "That points somewhere else.", "Let me verify."],
 "de": ["Ich sehe nach.", "Das prüfe ich zuerst.", "Ich lasse es laufen.", "Jetzt die Änderung.", "Das hatte ich anders erwartet.", "Ich versuche es anders.", "Noch ein Blick.", "Weiter.", "Mal sehen, was da ist."],
 "ru": ["Сейчас посмотрю.", "Сначала проверю.", "Запускаю.", "Теперь сама правка.", "Не то, что ожидалось.", "Попробую иначе.", "Ещё раз взгляну.", "Дальше.", "Проверяю."],
 "es": ["Voy a mirarlo.", "Primero compruebo.", "Lo ejecuto.", "Ahora el cambio.", "No es lo que esperaba.", "Pruebo de otra forma.", "Sigo."],
 "ja": ["確認します。", "まず見てみます。", "実行します。", "変更します。", "想定と違いますね。", "別の方法を試します。", "次に進みます。"]}
END = {
 "en": ["Done: the change is in and checked.", "Finished. Summary: small change, everything else untouched.", "That's in place now. Let me know if you'd like it different.", "All set."],
 "de": ["Fertig, die Änderung ist drin und geprüft.", "Erledigt. Sag Bescheid, wenn es anders sein soll.", "Das ist jetzt umgesetzt."],
 "ru": ["Готово, изменение внесено и проверено.", "Сделано. Скажите, если нужно иначе.", "Всё на месте."],
 "es": ["Hecho, el cambio está aplicado y comprobado.", "Listo."], "ja": ["完了しました。", "対応しました。ご確認ください。"]}
ALSO = {
 "en": ["thanks. while you are there: anything odd in {f}?", "ok and now {f}, same idea", "does {f} need the same?", "go on", "looks good, continue"],
 "de": ["danke. und {f}, passt das auch?", "weiter bitte", "ok, dann noch {f}", "sieht gut aus"],
 "ru": ["спасибо, а {f}?", "продолжай", "хорошо, теперь {f}"], "es": ["gracias, ¿y {f}?", "sigue"], "ja": ["ありがとう。{f} も見てください", "続けてください"]}

BADSAY = {"en": ["Hm, that is not what I expected.", "Trying it differently.", "That points somewhere else."], "de": ["Das hatte ich anders erwartet.", "Ich versuche es anders."], "ru": ["Не то, что ожидалось.", "Попробую иначе."], "es": ["No es lo que esperaba.", "Pruebo de otra forma."], "ja": ["想定と違いますね。", "別の方法を試します。"]}
def remark(rng, lang, failed): return rng.choice(BADSAY[lang] if failed and rng.random() < .6 else [x for x in SAY[lang] if x not in BADSAY[lang]])

# ---------------------------------------------------------------- actions
def parse(block, sub):
    acts = []
    for part in re.split(r" ~ ", block):
        part = part.strip()
        if part: acts.append(parse1(part, sub))
    return acts
def unesc(s): return s.replace("\\n", "\n").replace("\\|", "|").replace("%%", "%")
def split_result(s):
    m = re.search(r" =(>|!(\d*))(?: |$)", s)
    if not m: return s, "", 0
    code = 0 if m.group(1) == ">" else int(m.group(2) or 1)
    return s[:m.start()], s[m.end():], code
def parse1(s, sub):
    t = s[0]
    if t == "N":
        body, words = s[2:].rsplit(" => ", 1)
        return ("no", parse1(body, sub), unesc(sub(words)))
    if t == "U": return ("user", unesc(sub(s[2:])))
    if t == "S": return ("say", unesc(sub(s[2:])))
    if t == "R":
        path, _, c = s[2:].partition(" => ")
        return ("read", sub(path), unesc(sub(c)))
    if t == "E":
        f = s[2:].split(" => ")
        return ("edit", sub(f[0]), unesc(sub(f[1])), unesc(sub(f[2])) if len(f) > 2 else "", None)
    head, out, code = split_result(s)
    if t == "$":
        wd = None
        m = re.match(r"\$\[(.*?)\] ", head)
        if m: wd, cmd = m.group(1), head[m.end():]
        else: cmd = head[2:]
        return ("bash", sub(cmd).replace("%%", "%"), unesc(sub(out)), code, wd)
    if t == "@":
        name, js = head[1:].split(" ", 1)
        return ("tool", name, json.loads(sub(js)), unesc(sub(out)), code == 0)
    raise SystemExit("bad action " + s)

class Sub:
    def __init__(self, rng, p, i=0):
        self.rng, self.p, self.v = rng, p, {}
        for k, vals in p["fill"].items(): self.v[k] = rng.choice(vals)
    def __call__(self, s):
        def f(m):
            k = m.group(1)
            if k == "n": return str(self.rng.randint(2, 97))
            return self.v.get(k, m.group(0))
        return re.sub(r"%(\w+)%", f, s)

# ---------------------------------------------------------------- writers
def iso(t): return t.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (t.microsecond // 1000)
B62 = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
REJ = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "
class Base:
    def __init__(self, rng, p, start):
        self.rng, self.p, self.t = rng, p, start
        self.lines, self.sid, self.cwd, self.base = [], self.uid(), p["cwd"], p["cwd"]
        self.failed = False
    def uid(self): return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
    def tok(self, n): return "".join(self.rng.choice(B62) for _ in range(n))
    def tick(self, a=2.0, b=14.0): self.t += dt.timedelta(seconds=round(self.rng.uniform(a, b), 3)); return iso(self.t)
    def path(self, f):
        sep = "\\" if self.base[1:2] == ":" else "/"
        return f if f.startswith("/") else self.base + sep + f.replace("/", sep)
    def content(self, f, old=None):
        r = self.rng
        pool = [e[0] for e in self.p["edits"]]
        body = [f.split("/")[-1], ""] + [r.choice(pool), "", old or r.choice(pool), r.choice(pool)]
        return "\n".join(body)

class Claude(Base):
    def __init__(self, rng, p, start):
        super().__init__(rng, p, start)
        self.version = rng.choice(["2.0.28", "2.0.69", "2.0.14", "2.1.4", "1.0.98"])
        self.model = rng.choice(["claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929", "claude-opus-4-1-20250805"])
        self.parent, self.mode = None, rng.choice(["default", "default", "acceptEdits"])
        if rng.random() < .25: self.lines.append({"type": "summary", "summary": p["task"][0][:50], "leafUuid": self.uid()})
    def line(self, typ, msg, **kw):
        o = {"parentUuid": self.parent, "isSidechain": False, "userType": "external", "cwd": self.cwd, "sessionId": self.sid,
             "version": self.version, "gitBranch": self.p["branch"], "type": typ, "message": msg}
        o.update(kw); o["uuid"] = self.uid(); o["timestamp"] = iso(self.t)
        self.parent = o["uuid"]; self.lines.append(o)
    def user(self, text):
        self.tick(8, 240)
        kw = {"permissionMode": self.mode} if not self.version.startswith("1.") else {}
        if self.rng.random() < .3:
            u = self.uid()
            self.lines.append({"type": "file-history-snapshot", "messageId": u, "snapshot": {"messageId": u, "trackedFileBackups": {}, "timestamp": iso(self.t)}, "isSnapshotUpdate": False})
        self.line("user", {"role": "user", "content": text}, **kw)
    def assistant(self, blocks):
        mid, req = "msg_01" + self.tok(22), "req_011" + self.tok(21)
        usage = {"input_tokens": self.rng.randint(3, 9), "cache_creation_input_tokens": self.rng.randint(150, 4000), "cache_read_input_tokens": self.rng.randint(11000, 60000), "output_tokens": self.rng.randint(20, 400), "service_tier": "standard"}
        for i, b in enumerate(blocks):
            self.tick(1.5, 9) if i == 0 else self.tick(.2, 1.1)
            self.line("assistant", {"model": self.model, "id": mid, "type": "message", "role": "assistant", "content": [b],
                      "stop_reason": None if b["type"] == "tool_use" and i < len(blocks) - 1 else ("tool_use" if b["type"] == "tool_use" else "end_turn" if len(blocks) == 1 else None), "stop_sequence": None, "usage": usage}, requestId=req)
    def say(self, text): self.assistant([{"type": "text", "text": text}])
    def use(self, a):
        k, tid = a[0], "toolu_01" + self.tok(22)
        if k == "bash":
            cmd = a[1] if not a[4] else "cd %s && %s" % (a[4], a[1])
            inp = {"command": cmd}
            if self.rng.random() < .8: inp["description"] = self.rng.choice(["Run %s", "Execute %s", "Call %s", "Use %s"]) % " ".join(w for w in cmd.split()[:2] if w[0].isalpha()) or "Run it"
            if self.rng.random() < .08: inp["timeout"] = 600000
            return {"type": "tool_use", "id": tid, "name": "Bash", "input": inp}
        if k == "tool": return {"type": "tool_use", "id": tid, "name": a[1], "input": a[2]}
        if k == "read": return {"type": "tool_use", "id": tid, "name": "Read", "input": {"file_path": self.path(a[1])}}
        if k == "edit": return {"type": "tool_use", "id": tid, "name": "Edit", "input": {"file_path": self.path(a[1]), "old_string": a[2], "new_string": a[3]}}
        raise ValueError(k)
    def result(self, u, a, rej=None):
        k = a[0]; self.tick(.2, 25 if k == "bash" else 2)
        def out(content, tur, err=None):
            b = {"tool_use_id": u["id"], "type": "tool_result", "content": content}
            if err is not None: b["is_error"] = err
            self.line("user", {"role": "user", "content": [b]}, toolUseResult=tur)
        if rej is not None:
            if self.rng.random() < .75:
                txt = REJ + "To tell you how to proceed, the user said:\n" + rej
                return out(txt, "Error: " + txt if self.rng.random() < .5 else "User rejected tool use", True)
            txt = REJ + "STOP what you are doing and wait for the user to tell you how to proceed."
            out(txt, "Error: " + txt, True)
            self.tick(.01, .05); self.line("user", {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user for tool use]"}]})
            return self.user(rej)
        if k == "bash":
            o, code = a[2], a[3]
            if code:
                txt = ("Exit code %d\n" % code if not self.version.startswith("1.") else "") + o
                return out(txt or "Error", "Error: " + (txt or "Error"), True)
            m = re.match(r"cd (\S+?)(?:;| &&|$)", u["input"]["command"])
            if m: self.cwd = self.path(m.group(1))
            return out(o, {"stdout": o, "stderr": "", "interrupted": False, "isImage": False}, False)
        if k == "tool":
            if a[1] == "Grep": return out(a[3], {"mode": a[2].get("output_mode", "files_with_matches"), "numFiles": 0 if a[3].startswith("No ") else 1, "filenames": [], "content": a[3]})
            if a[1] == "Glob": return out(a[3], {"filenames": [] if a[3].startswith("No ") else a[3].split("\n"), "durationMs": self.rng.randint(4, 40), "numFiles": 0, "truncated": False})
            if a[4]:
                c = [{"type": "text", "text": a[3]}] if a[1].startswith("mcp__") else a[3]
                return out(c, c)
            return out(a[3], "Error: " + a[3], True)
        if k == "read":
            if len(a) > 3: return out(a[3], "Error: " + re.sub("<.*?>", "", a[3]), True)
            c = a[2] or self.content(a[1])
            return out("\n".join("%6d→%s" % (i + 1, x) for i, x in enumerate(c.split("\n"))), {"type": "text", "file": {"filePath": self.path(a[1]), "content": c, "numLines": c.count("\n") + 1, "startLine": 1, "totalLines": c.count("\n") + 1}})
        if k == "edit":
            if a[4]: return out("<tool_use_error>%s</tool_use_error>" % a[4], "Error: " + a[4], True)
            return out("The file %s has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n    12→%s\n" % (self.path(a[1]), a[3]),
                       {"filePath": self.path(a[1]), "oldString": a[2], "newString": a[3], "originalFile": None, "structuredPatch": [], "userModified": False, "replaceAll": False})
    def run(self, acts):
        i, pend = 0, []
        acts = [x for j, x in enumerate(acts) if j == 0 or x != acts[j - 1] or (x[0] == "bash" and x[3])]
        while i < len(acts):
            a = acts[i]
            if a[0] == "user": self.user(a[1]); i += 1; continue
            if a[0] == "say":
                if i + 1 < len(acts) and acts[i + 1][0] not in ("user", "say"): pend = [{"type": "text", "text": a[1]}]
                else: self.say(a[1])
                i += 1; continue
            grp = [a]
            def safe(x): return x[0] == "read" or (x[0] == "bash" and x[3] == 0 and re.match(r"(ls|git (log|status|diff)|wc|cat|head|grep)\b", x[1]))
            if safe(a) and i + 1 < len(acts) and safe(acts[i + 1]) and self.rng.random() < .5: grp.append(acts[i + 1])
            if not pend and self.rng.random() < .4: pend = [{"type": "text", "text": remark(self.rng, self.p["lang"], self.failed)}]
            rej = None
            real = [(x[1] if x[0] == "no" else x) for x in grp]
            uses = [self.use(x) for x in real]
            self.assistant(pend + uses); pend = []; l = real[-1]
            self.failed = (l[0] == "bash" and l[3] != 0) or (l[0] == "tool" and not l[4]) or (l[0] == "edit" and bool(l[4]))
            for x, r, u in zip(grp, real, uses): self.result(u, r, x[2] if x[0] == "no" else None)
            i += len(grp)
    def dump(self): return self.lines

class Codex(Base):
    def __init__(self, rng, p, start):
        super().__init__(rng, p, start)
        self.new = rng.random() < .5
        self.ev("session_meta", {"id": self.sid, "timestamp": iso(self.t), "cwd": p["cwd"], "originator": "codex_cli_rs", "cli_version": "0.99.0" if self.new else "0.40.0", "instructions": None, "git": {"commit_hash": "%040x" % rng.getrandbits(160), "branch": p["branch"]}})
        self.msg("user", "<environment_context>\n  <cwd>%s</cwd>\n  <approval_policy>on-request</approval_policy>\n  <sandbox_mode>workspace-write</sandbox_mode>\n  <shell>bash</shell>\n</environment_context>" % p["cwd"])
    def ev(self, typ, payload): self.tick(.01, .4); self.lines.append({"timestamp": iso(self.t), "type": typ, "payload": payload})
    def msg(self, role, text): self.ev("response_item", {"type": "message", "role": role, "content": [{"type": "input_text" if role == "user" else "output_text", "text": text}]})
    def user(self, text):
        self.tick(8, 240); self.msg("user", text); self.ev("event_msg", {"type": "user_message", "message": text})
        self.ev("turn_context", {"cwd": self.p["cwd"], "approval_policy": "on-request", "sandbox_policy": {"mode": "workspace-write"}, "model": "gpt-5-codex", "effort": "medium", "summary": "auto"})
    def say(self, text): self.tick(2, 9); self.ev("event_msg", {"type": "agent_message", "message": text}); self.msg("assistant", text)
    def shell(self, cmd, out, code, wd):
        cid = "call_" + self.tok(24); self.tick(2, 9)
        d = self.p["cwd"] + ("/" + wd if wd else "")
        if self.new: self.ev("response_item", {"type": "function_call", "name": "shell_command", "arguments": json.dumps({"command": cmd, "workdir": d}, ensure_ascii=False), "call_id": cid})
        else: self.ev("response_item", {"type": "function_call", "name": "shell", "arguments": json.dumps({"command": ["bash", "-lc", cmd], "workdir": d if wd else ".", "timeout_ms": 120000}, ensure_ascii=False), "call_id": cid})
        self.tick(.2, 20); sec = round(self.rng.uniform(0, .3) if re.match("sed|rg|ls|git|cat", cmd) else self.rng.uniform(.4, 39), 1)
        if self.new: o = "Exit code: %d\nWall time: %s seconds\nOutput:\n%s\n" % (code, sec, out)
        else: o = json.dumps({"output": out + "\n", "metadata": {"exit_code": code, "duration_seconds": sec}}, ensure_ascii=False)
        self.ev("response_item", {"type": "function_call_output", "call_id": cid, "output": o})
        self.ev("event_msg", {"type": "token_count", "info": {"total_token_usage": {"input_tokens": self.rng.randint(4000, 60000), "cached_input_tokens": 3000, "output_tokens": self.rng.randint(50, 900), "total_tokens": 61000}}})
    def run(self, acts):
        for a in acts:
            k = a[0]
            if k == "user": self.user(a[1]); continue
            if k == "say": self.say(a[1]); continue
            if self.rng.random() < .35:
                s = remark(self.rng, "en", self.failed); self.ev("response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "**" + s + "**"}], "content": None, "encrypted_content": "gAAAA" + self.tok(60)})
            self.failed = k == "bash" and a[3] != 0
            if k == "bash": self.shell(a[1], a[2], a[3], a[4])
            elif k == "read":
                if len(a) > 3: self.shell("sed -n '1,80p' " + a[1], "sed: can't read %s: No such file or directory" % a[1], 2, None)
                else: self.shell("sed -n '1,80p' " + a[1], a[2] or self.content(a[1]), 0, None)
            elif k == "tool": # Grep / Glob
                none = a[3].startswith("No ")
                self.shell("rg -n '%s'" % a[2].get("pattern", ""), "" if none else a[3], 1 if none else 0, None)
            elif k == "edit":
                cid = "call_" + self.tok(24); self.tick(2, 9)
                patch = "*** Begin Patch\n*** Update File: %s\n@@\n-%s\n+%s\n*** End Patch" % (a[1], a[2], a[3])
                self.ev("response_item", {"type": "custom_tool_call", "status": "completed", "call_id": cid, "name": "apply_patch", "input": patch}); self.tick(.1, 1)
                o = json.dumps({"output": "apply_patch verification failed: Failed to find expected lines in %s" % a[1] if a[4] else "Success. Updated the following files:\nM %s\n" % a[1], "metadata": {"exit_code": 1 if a[4] else 0, "duration_seconds": 0.0}})
                self.ev("response_item", {"type": "custom_tool_call_output", "call_id": cid, "output": o})
    def dump(self): return self.lines

# ---------------------------------------------------------------- pieces
def edit(r, p, err=None):
    ext = os.path.splitext(p["files"][0])[1]
    same = [f for f in p["files"] if f.endswith(ext)]
    f = r.choice(same if len(same) > 1 else p["files"]); o, n = r.choice(p["edits"])
    return ("edit", f, o, n, err)
def shown(r, p, e):
    """the read of a file that holds the line to be edited"""
    pool = [x[0] for x in p["edits"]]
    return ("read", e[1], "\n".join(r.sample(pool, min(2, len(pool))) + ["", e[2], "", r.choice(pool)]))
def work(r, p):
    """read and edit one file"""
    e = edit(r, p); acts = [shown(r, p, e)]
    if r.random() < .35: acts.insert(0, ("tool", "Grep", {"pattern": re.escape(e[2].split("(")[0].split(" ")[0]) or "x", "output_mode": "files_with_matches"}, "Found 1 file\n" + p["cwd"] + "/" + e[1], True))
    return acts + [e]
def bash(c, o="", code=0): return ("bash", c, o, code, None)
def red(r, p, sub):
    t = p["test"]
    acts = [bash(t[0], sub(t[1]).strip(), r.choice([1, 1, 2]))] + [edit(r, p)]
    if r.random() < .3: acts += [bash(t[0], sub(t[1]).strip(), 1), ("read", r.choice(p["files"]), ""), edit(r, p)]
    return acts + [bash(t[0], sub(t[2]).strip())]
def typo(r, p):
    f = r.choice(p["files"]); d, b = os.path.split(f); stem, ext = os.path.splitext(b)
    j = r.randrange(1, max(2, len(stem)))
    bad = r.choice([stem[:j] + stem[j + 1:], stem + "s", stem[:j] + stem[j - 1] + stem[j:], stem.capitalize() + "_old"]) + ext
    badf = (d + "/" if d else "") + bad
    if r.random() < .5: return [("read", badf, "", "File does not exist."), bash("ls " + (d or "."), "\n".join(sorted(os.path.basename(x) for x in p["files"] if os.path.dirname(x) == d))), ("read", f, "")]
    return [bash(r.choice(["cat ", "wc -l ", "head -40 "]) + badf, "%s: No such file or directory" % badf, 1), ("read", f, "")]
def complaint(r, p):
    e = edit(r, p); m = r.randrange(4)
    if m == 0: return [e[:4] + ("File has not been read yet. Read it first before writing to it.",), shown(r, p, e), e]
    if m == 1: return [shown(r, p, e), ("edit", e[1], e[2] + " ", e[3], "String to replace not found in file.\nString: " + e[2] + " "), shown(r, p, e), e]
    if m == 2: return [shown(r, p, e), e[:4] + ("Found %d matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true." % r.randint(2, 5),), ("edit", e[1], "\n" + e[2] + "\n", "\n" + e[3] + "\n", None)]
    return [shown(r, p, e), e[:4] + ("File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.",), shown(r, p, e), e]
WORDS = "legacyRetry foldMap oldTotals SECRET_SALT toRoman parse_v1 TODO(ann) deprecated_flag renderInline mkPath quux normalise_name shadowCopy useLegacy invoice_service XXX".split()
def empty(r, p):
    w = r.choice(WORDS); m = r.randrange(3)
    if m == 0: return [("tool", "Grep", {"pattern": w, "output_mode": "files_with_matches"}, "No files found", True)]
    if m == 1: return [bash("grep -rn '%s' %s" % (w, p["files"][0].split("/")[0]), "", 1)]
    return [("tool", "Glob" if p["agent"] == "claude" else "Grep", {"pattern": "**/*%s*" % w}, "No files found", True)]
FL = [("git fetch origin", "fatal: unable to access remote: Recv failure: Connection reset by peer", 128, "From origin\n * branch  HEAD -> FETCH_HEAD"),
      ("curl -sSf https://status.example.net/v1/ping", "curl: (28) Operation timed out after 10001 milliseconds", 28, "pong"),
      ("git pull --rebase", "ssh: connect to host git.example.net port 22: Connection timed out\nfatal: Could not read from remote repository.", 128, "Already up to date."),
      ("gh run list --limit 3", "HTTP 502: Bad Gateway (https://api.github.com/graphql)", 1, "completed  success  ci"),
      ("rsync -a out/ preview:/srv/p/", "rsync: connection unexpectedly closed (0 bytes received so far)", 12, ""),
      ("gh issue view 88", "HTTP 503: No server is currently available", 1, "open  #88 small things"),
      ("nslookup cdn.example.net", ";; connection timed out; no servers could be reached", 1, "Address: 10.2.0.9")]
def flake(r, p, sub, extra=True):
    c, e, code, o = r.choice(FL)
    if extra and r.random() < .4 and p["kind"].startswith("nothing: flaky"):
        c, e, code, o = p["test"][0], r.choice(["** (DBConnection.ConnectionError) tcp recv: closed", "timeout after 60000ms", "(Mint.TransportError) :closed"]), 1, sub(p["test"][2]).strip()
    acts = [bash(c, e, code)]
    if r.random() < .4: acts.append(bash(c, e, code))
    if r.random() < .5: acts.append(bash("sleep %d" % r.randint(3, 20)))
    return acts + [bash(c, o)]
ONE = [("tar xzf vendor.tgz -C /tmp/v", "tar: /tmp/v: Cannot open: No such file or directory", 2, "mkdir -p /tmp/v && tar xzf vendor.tgz -C /tmp/v"),
       ("sed -i 's/a/b' notes.txt", "sed: -e expression #1, char 5: unterminated `s' command", 1, "sed -i 's/a/b/' notes.txt"),
       ("git stash pop", "error: Your local changes to the following files would be overwritten by merge", 1, "git checkout . && git stash pop"),
       ("chmod +x bin/*", "chmod: cannot access 'bin/*': No such file or directory", 1, "ls"),
       ("git apply fix.patch", "error: corrupt patch at line 14", 128, "patch -p1 < fix.patch"),
       ("mv a.txt old/", "mv: cannot move 'a.txt' to 'old/': Not a directory", 1, "mkdir old && mv a.txt old/"),
       ("awk '{print $2' list.txt", "awk: syntax error at source line 1", 2, "awk '{print $2}' list.txt"),
       ("find . -name *.bak -delete", "find: paths must precede expression: `b.bak'", 1, "find . -name '*.bak' -delete"),
       ("kill 48213", "kill: (48213) - No such process", 1, "ps aux | head -3"),
       ("git cherry-pick 91ab0c", "error: could not apply 91ab0c... wip", 1, "git cherry-pick --abort"),
       ("diff -u a.out b.out", "--- a.out\n+++ b.out\n-1\n+2", 1, "cat a.out"),
       ("date -d 'next moonday'", "date: invalid date 'next moonday'", 1, "date -d 'next monday'"),
       ("unzip pack.zip", "unzip: cannot find zipfile directory in pack.zip", 9, "file pack.zip"),
       ("git branch -d spike", "error: The branch 'spike' is not fully merged.", 1, "git log spike -1 --oneline"),
       ("printf '%d\\n' abc", "printf: abc: invalid number", 1, "printf '%s\\n' abc"),
       ("base64 -d token.txt", "base64: invalid input", 1, "cat token.txt | tr -d '\\n' | base64 -d")]
def oneoff(r, p, k=None):
    if k is None:
        left = p.setdefault("_one", list(range(len(ONE))))
        if not left: return typo(r, p)
        k = left.pop(r.randrange(len(left)))
    c, e, code, fix = ONE[k]
    return [bash(c, e, code)] + ([("read", r.choice(p["files"]), "")] if r.random() < .4 else []) + [bash(fix, "")]
def ok(r, p, sub): return parse(r.choice(p["ok"]), sub)
def noise(r, p, sub):
    k = r.random()
    if k < .3: return red(r, p, sub)
    if k < .45: return typo(r, p)
    if k < .57: return complaint(r, p)
    if k < .7: return empty(r, p)
    if k < .8: return flake(r, p, sub)
    if k < .9: return oneoff(r, p)
    return work(r, p)

def task(r, p, i, used):
    ts = p["task"]; t = ts[i % len(ts)]
    if used.get(t): t = t + " " + {"en": r.choice(["(again, after yesterday's merge)", "There is one more case of this in %s.", "Same as last time but for %s.", "cc %s"]), "de": r.choice(["(nochmal, wegen %s)", "Diesmal betrifft es %s."]),
        "ru": r.choice(["(теперь ещё и %s)", "Смотри также %s."]), "es": "Mira también %s.", "ja": "%s も関係します。"}[p["lang"]].replace("%s", r.choice(p["files"]).split("/")[-1])
    used[t] = 1; used[ts[i % len(ts)]] = 1
    return t

def lesson_session(r, p, s, i, show, used, st):
    sub = Sub(r, p); a = []
    key = "s" if show else "h"; st[key] = st.get(key, -1) + 1
    t = task(r, p, st[key] % 4 if show else 4 + st[key] % 2, used)
    recur, refuse = p["kind"].startswith("a request"), p["kind"].startswith("a refusal")
    merged = recur and show and r.random() < .3
    q = None
    if recur and show:
        q = sub(p["Q"][st["q"] % len(p["Q"])]); st["q"] += 1
    a.append(("user", t + (". " if t[-1].isalnum() else " ") + q if merged else t))
    for _ in range(r.randint(0, 2)): a += r.choice([ok, lambda *x: work(*x[:2])])(r, p, sub)
    if r.random() < .35: a += noise(r, p, sub)
    if not show:
        a += work(r, p)
        for _ in range(r.randint(1, 3)): a += noise(r, p, sub) if r.random() < .6 else ok(r, p, sub)
        if r.random() < .4 and not recur and not refuse: a += parse(p["R"][r.randrange(len(p["R"]))], sub)
        if r.random() < .4: a += [("say", r.choice(END[p["lang"]])), ("user", r.choice(ALSO[p["lang"]]).replace("{f}", r.choice(p["files"])))] + work(r, p)
    elif recur:
        a += work(r, p) + (noise(r, p, sub) if r.random() < .6 else [])
        if not merged: a += [("say", r.choice(END[p["lang"]])), ("user", q)]
        a += parse(p["R"][st["R"] % len(p["R"])], sub); st["R"] += 1
        if r.random() < .3: a += ok(r, p, sub)
    else:
        w = st["W"]; st["W"] += 1
        if r.random() < .7: a += work(r, p)
        a += parse(p["W"][w % len(p["W"])], sub)
        if not refuse and r.random() < .3: a += parse(p["W"][(w + 1) % len(p["W"])], sub)
        mid = [parse(x, sub) for x in r.sample(p["A"], r.randint(0, min(2, len(p["A"]))))]
        if not refuse:
            if r.random() < .45: mid.append(noise(r, p, sub))
            if r.random() < .3: mid.append(ok(r, p, sub))
        elif r.random() < .35: mid.append(work(r, p))
        r.shuffle(mid)
        for m in mid: a += m
        if p["D"] and r.random() < .5: a += parse(r.choice(p["D"]), sub)
        if not refuse and r.random() < .25: a += noise(r, p, sub)
        if not refuse and r.random() < .25: # other arguments in the working call
            sub2 = Sub(r, p)
            if not any(k in ("f", "g") for k in p["fill"]): sub = sub2
        a += parse(p["R"][st["R"] % len(p["R"])], sub); st["R"] += 1
        if r.random() < .5: a += noise(r, p, sub) if r.random() < .5 else work(r, p)
    a.append(("say", r.choice(END[p["lang"]])))
    s.run(a)

def nothing_actions(r, p, i, used):
    sub, k = Sub(r, p), p["num"]
    a = [("user", task(r, p, i, used))] + work(r, p)
    if r.random() < .5: a += ok(r, p, sub)
    if k == 41:
        for _ in range(r.randint(1, 3)): a += flake(r, p, sub)
    elif k == 42:
        for _ in range(r.randint(1, 2)): a += red(r, p, sub)
    elif k == 43: a += oneoff(r, p, i % len(ONE)) + ok(r, p, sub)
    elif k == 44:
        for _ in range(r.randint(1, 3)): a += complaint(r, p)
    elif k == 45:
        for _ in range(r.randint(2, 4)): a += empty(r, p)
        a += work(r, p)
    elif k == 46:
        for _ in range(r.randint(1, 3)): a += typo(r, p)
    elif k == 47:
        if i % 3 == 1: a += oneoff(r, p, (i * 5 + 3) % len(ONE))
        if i % 4 == 2: a += red(r, p, sub)
    elif k == 49:
        c, e, o = [("terraform plan -out=p.bin", "Error: Error acquiring the state lock\nLock Info: ID 7f%n%", "Plan: 1 to add, 1 to change, 0 to destroy."),
                   ("aws rds describe-db-instances --max-items 1", "An error occurred (Throttling): Rate exceeded", "{\"DBInstances\": []}"),
                   ("terraform init", "Error: Failed to query available provider packages: context deadline exceeded", "Terraform has been successfully initialized!"),
                   ("dig +short api.dev.curlew.example", ";; communications error to 10.0.0.2#53: timed out", "10.4.1.9"),
                   ("terraform apply -auto-approve p.bin", "Error: waiting for DB modification: unexpected state 'backing-up'", "Apply complete! Resources: 0 added, 1 changed"),
                   ("infracost breakdown --path envs/dev", "Error: 429 from pricing api", "OVERALL TOTAL $41.%n%")][i % 6]
        a.append(bash(c, sub(e), 1))
        for _ in range(r.randint(2, 4)): a += r.choice([work(r, p), ok(r, p, sub), [("read", r.choice(p["files"]), "")]])
        a.append(bash(c, sub(o)))
    else:
        for _ in range(r.randint(1, 3)): a += work(r, p) if r.random() < .5 else ok(r, p, sub)
        a.append(bash(p["test"][0], sub(p["test"][2]).strip()))
    if r.random() < .4: a += [("say", r.choice(END[p["lang"]])), ("user", r.choice(ALSO[p["lang"]]).replace("{f}", r.choice(p["files"])))] + work(r, p)
    if r.random() < .5 and k not in (43,): a.append(bash(p["test"][0], sub(p["test"][2]).strip()))
    return a + [("say", r.choice(END[p["lang"]]))]

def main(out):
    ps = load()
    for p in ps:
        r = random.Random(7919 * p["num"] + 20250611)
        d = os.path.join(out, "%02d-%s" % (p["num"], p["name"])); os.makedirs(d, exist_ok=True)
        for f in os.listdir(d): os.remove(os.path.join(d, f))
        learn = not p["kind"].startswith("nothing")
        shows = set(r.sample(range(3), 2) + r.sample(range(3, 12), 6))
        start = dt.datetime(2025, r.randint(2, 8), r.randint(1, 9), r.randint(7, 11), r.randint(0, 59), r.randint(0, 59))
        used, st, base, off = {}, {"q": 0, "W": r.randrange(3), "R": r.randrange(3)}, None, r.randrange(6)
        for i in range(12):
            start += dt.timedelta(hours=r.choice([5, 21, 26, 49]), minutes=r.randint(0, 59), seconds=r.randint(0, 59), milliseconds=r.randint(0, 999))
            cls = Claude if p["agent"] == "claude" else Codex
            if p["num"] == 48 and i in (1, 2, 4, 5, 7, 8, 10) and base: # a fork: same lines, new session id, other tail
                s = copy.deepcopy(base); s.rng = r; s.sid = s.uid(); s.t = start
                for l in s.lines:
                    if "sessionId" in l: l["sessionId"] = s.sid
                sub = Sub(r, p)
                s.run([("user", r.choice(["other idea: keep it smaller", "again from here, please", "go on with " + r.choice(p["files"]), "what about the docs?"]))] + work(r, p) + ok(r, p, sub) + [("say", r.choice(END["en"]))])
            else:
                s = cls(r, p, start)
                if learn: lesson_session(r, p, s, i + off, i in shows, used, st)
                elif p["num"] == 48 and i == 0:
                    sub = Sub(r, p)
                    s.run([("user", p["task"][0])] + work(r, p) + [bash("crystal build src/dipper.cr -o bin/dipper", "Error: can't write bin/dipper: no such directory", 1), bash("make", "make: *** No targets.  Stop.", 2), bash("shards build", "Building: dipper")] + red(r, p, sub))
                    base = copy.deepcopy(s); s.run([("say", END["en"][0])])
                else: s.run(nothing_actions(r, p, i, used))
            with open(os.path.join(d, "%02d-%s.jsonl" % (i + 1, s.sid)), "w", encoding="utf8") as fh:
                for l in s.dump(): fh.write(json.dumps(l, ensure_ascii=False) + "\n")
        p["shows"] = sorted(x + 1 for x in shows) if learn else []
    exp = expected(ps)
    for e, p in zip(exp, ps): e["shown_in"] = p["shows"]
    json.dump(exp, open(os.path.join(HERE, "expected.json"), "w", encoding="utf8"), ensure_ascii=False, indent=1)

if __name__ == "__main__": main(sys.argv[1])
