#!/usr/bin/env python3
"""Invented sessions of coding agents: 40 projects with a lesson, 10 without. python generate.py OUT [EXPECTED]"""
import json, os, random, re, sys, uuid, datetime as dt

# ------------------------------------------------------------------ phrases by language
PH = {
 'en': dict(look=["Let me look at {f} first.", "I'll start with {f}.", "Checking {f}.", "Let me see how this is wired up in {f}.", "", ""],
  bad=["That didn't work.", "Hm, that failed. Let me see why.", "Not what I expected.", "Failed; looking into it.", "", "", ""],
  okk=["That worked.", "Good, that goes through.", "There we go.", "", "", ""],
  done=["Done. {t}", "All set: {t}", "Finished. {t}", "That's in place now. {t}"],
  tail=["Let me know if you want it split up.", "Nothing else was touched.", "The diff is small.", "Two files changed.", "I left the public signature as it was."],
  more=["thanks, looks good", "ok", "nice. anything else open there?", "fine by me", "good, leave it like that", "cheers"],
  edit=["Now the edit.", "Changing it here.", "", ""], red=["One test is red, my edit broke an assumption.", "A real failure this time; fixing the code.", "The test is right, the code is not."]),
 'de': dict(look=["Ich sehe mir zuerst {f} an.", "Ich beginne mit {f}.", "Schauen wir in {f}.", "", ""],
  bad=["Das hat nicht geklappt.", "Fehlgeschlagen, ich sehe nach, warum.", "Hm, so geht es nicht.", "", ""],
  okk=["So geht es.", "Das läuft jetzt.", "", ""],
  done=["Fertig. {t}", "Erledigt: {t}", "Ist drin. {t}"], tail=["Sonst ist nichts geändert.", "Der Diff ist klein.", "Zwei Dateien sind betroffen.", "Sag Bescheid, wenn es anders aussehen soll."],
  more=["danke, passt", "ok", "gut so", "prima, lass es so"], edit=["Jetzt die Änderung.", "Ich passe das an.", ""], red=["Ein Test ist rot, das liegt an meiner Änderung.", "Der Test hat recht, der Code nicht."]),
 'ru': dict(look=["Сначала посмотрю {f}.", "Начну с {f}.", "Смотрю {f}.", "", ""],
  bad=["Не получилось.", "Ошибка, разбираюсь.", "Так не работает.", "", ""],
  okk=["Теперь работает.", "Прошло.", "", ""],
  done=["Готово. {t}", "Сделано: {t}"], tail=["Больше ничего не менял.", "Изменены два файла.", "Правка небольшая."],
  more=["спасибо, хорошо", "ок", "пойдёт", "отлично, оставь так"], edit=["Вношу правку.", "Меняю здесь.", ""], red=["Один тест красный — из-за моей правки.", "Тест прав, ошибка в коде."]),
}
WORDS = "amount batch cursor draft entry feed guard handle index journal key limit margin node offset payload quota range score token unit value window zone anchor bucket carrier digest".split()
SNIP = {
 'py': ["def {a}_{b}({c}, *, {d}=None):", "    if {c} is None:", "        return {d}", "    return {{'{a}': {c}, '{b}': {d}}}"],
 'js': ["export function {a}{B}({c}, {d} = {{}}) {{", "  if (!{c}) return {d};", "  return {{ ...{d}, {a}: {c} }};", "}}"],
 'go': ["func (s *Service) {A}{B}(ctx context.Context, {c} string) error {{", "\tif {c} == \"\" {{", "\t\treturn errEmpty{A}", "\t}}", "\treturn s.{d}.Put(ctx, {c})", "}}"],
 'rs': ["pub fn {a}_{b}({c}: &str) -> Result<{D}, Error> {{", "    let {d} = {c}.trim();", "    Ok({D}::new({d}))", "}}"],
 'java': ["public {D} {a}{B}(String {c}) {{", "    Objects.requireNonNull({c});", "    return {d}Repository.find({c});", "}}"],
 'cs': ["public async Task<{D}> {A}{B}Async(string {c})", "{{", "    var {d} = await _store.Load({c});", "    return {d} ?? {D}.Empty;", "}}"],
 'ex': ["def {a}_{b}(%{{{c}: {c}}} = attrs) do", "  {d} = Map.get(attrs, :{d}, 0)", "  {{:ok, {c} + {d}}}", "end"],
 'php': ["public function {a}{B}(string ${c}): array", "{{", "    return ['{a}' => ${c}, '{d}' => now()];", "}}"],
 'rb': ["def {a}_{b}({c}, {d}: nil)", "  return {d} if {c}.blank?", "  {c}.to_s.strip", "end"],
 'cpp': ["std::optional<{D}> {A}{B}(std::string_view {c}) {{", "  if ({c}.empty()) return std::nullopt;", "  return {D}{{{c}}};", "}}"],
 'tf': ["resource \"aws_{a}\" \"{b}\" {{", "  name = \"{c}-{d}\"", "  tags = local.tags", "}}"],
 'yaml': ["{a}:", "  {b}: {c}", "  {d}:", "    enabled: true"],
 'sql': ["select {a}, sum({b}) as {b}_total", "from {{{{ ref('{c}') }}}}", "where {d} is not null", "group by 1"],
 'md': ["## {A} and {b}", "", "The {c} is set per {d}; see below.", "- {a}", "- {b}"],
 'gd': ["func {a}_{b}({c}: int) -> void:", "\tvar {d} := {c} * 2", "\temit_signal(\"{a}\", {d})"],
 'sh': ["{a}_{b}() {{", "  local {c}=\"$1\"", "  printf '%s\\n' \"${c}\" >> \"${D}\"", "}}"],
 'ps1': ["function Get-{A}{B} {{", "  param([string]${c})", "  return ${c}.Trim()", "}}"],
 'nix': ["{{ pkgs, {a}, ... }}:", "{{", "  {b} = pkgs.{c};", "  enable{D} = true;", "}}"],
}
def mk(rng, stack):
    a, b, c, d = rng.sample(WORDS, 4)
    return [l.format(a=a, b=b, c=c, d=d, A=a.title(), B=b.title(), C=c.title(), D=d.title()) for l in SNIP[stack]]

# ------------------------------------------------------------------ session assembly: abstract events
ODDS = [("git cherry-pick {w}", "fatal: bad revision", 128), ("diff {f} /tmp/{w}.orig", "diff: /tmp/{w}: No such file or directory".replace('{w}', 'orig'), 2), ("test -x bin/{w}", "", 1), ("git apply /tmp/{w}.patch", "error: patch failed: {f}:3", 1),
 ("grep -c {w} {f}", "0", 1), ("timeout 20 tail -f log/{w}.log", "", 124), ("git show {w}:{f}", "fatal: invalid object name", 128), ("curl -sf https://example.org/{w}.json", "", 22), ("kill %1", "bash: kill: %1: no such job", 1), ("file {f} | grep -q {w}", "", 1), ("xmllint --noout {w}.xml", "warning: failed to load external entity", 1), ("awk '/{w}/{{exit 3}}' {f}", "", 3)]
class Sess:
    def __init__(s, p, i, level):
        s.p, s.i = p, i
        s.rng = random.Random(f"{p['name']}:{i}:{level}")
        srt = random.Random('slots' + p['name'])
        s.slot = {}
        for k, v in p.get('slots', {}).items():
            v = list(v); srt.shuffle(v); s.slot[k] = v[(i + (i // len(v)) * 1) % len(v)]
        s.ph = PH[p['lang']]; s.level = level; s.ev = []; s.k = 0
        s.files = list(p['files']); s.rng.shuffle(s.files)
    def f(s, t):
        if not isinstance(t, str):
            if isinstance(t, dict): return {k: s.f(v) for k, v in t.items()}
            if isinstance(t, list): return [s.f(v) for v in t]
            return t
        for _ in range(3):
            t = re.sub(r'@int:(\d+):(\d+)@', lambda m: str(s.rng.randint(int(m[1]), int(m[2]))), t)
            t = t.replace('@sec@', f"{s.rng.uniform(0.2, 48):.2f}") if '@sec@' in t else t
            t = t.replace('@hex@', f"{s.rng.getrandbits(28):07x}") if '@hex@' in t else t
            t = t.replace('@cwd@', s.p['cwd'])
            t = re.sub(r'@([a-z]+)(?:\.(\d))?@', lambda m: s.slot[m[1]].split('|')[int(m[2])] if m[2] else s.slot[m[1]].split('|')[0], t)
        return t
    def say(s, kind, p=1.0, **kw):
        if s.rng.random() < p:
            t = s.rng.choice(s.ph[kind]).format(**kw)
            if t: s.ev.append(('say', t))
    def j(s, f):
        c = s.p['cwd']; return c + '\\' + f.replace('/', '\\') if '\\' in c else c + '/' + f
    def file(s):
        s.k += 1; return s.files[s.k % len(s.files)]
    def stack(s, f):
        e = f.rsplit('.', 1)[-1]
        return {'ts': 'js', 'tsx': 'js', 'vue': 'js', 'kt': 'java', 'h': 'cpp', 'c': 'cpp', 'yml': 'yaml', 'json': 'yaml', 'exs': 'ex', 'hcl': 'tf', 'toml': 'yaml', 'proto': 'go',
                'graphql': 'js', 'gradle': 'java', 'bats': 'sh', 'cc': 'cpp', 'env': 'yaml', 'cfg': 'yaml', 'tscn': 'gd', 'txt': 'md', 'svelte': 'js'}.get(e, e if e in SNIP else s.p['stack'])
    def edit(s, f, old=None, new=None):
        if old is None:
            l = mk(s.rng, s.stack(f)); w = s.rng.choice(WORDS)
            has = [x for x in l if any(v in x for v in WORDS)]
            old = s.rng.choice(has); v = next(v for v in WORDS if v in old); new = old.replace(v, w if w != v else w + '_id')
            if s.rng.random() < .3: new = old + '\n' + s.rng.choice(has).replace(v, w)
        s.ev.append(('call', 'Edit', dict(file_path=s.j(f), old_string=old, new_string=new), None, 'ok'))
    def noise(s, lo, hi, late=False):
        n = s.rng.randint(lo, max(lo, hi)); n = max(0, n - s.level)
        own = s.p.get('noise')
        while n > 0:
            n -= 1; r = s.rng.random()
            if own and (r < .85 or s.p.get('office')):
                t = s.rng.choice(own); s.ev.append(('call', t[0], s.f(t[1]), s.f(t[2]), 'ok')); continue
            f = s.file(); c = s.p['cwd']
            if r < .30:
                s.say('look', .6, f=f)
                if s.rng.random() < .25:
                    g = s.file(); s.ev.append(('par', [s.rd(f), s.rd(g)]))
                else: s.ev.append(s.rd(f))
            elif r < .45:
                w = s.rng.choice(WORDS); fs = s.rng.sample(s.files, min(3, len(s.files)))
                s.ev.append(('call', 'Grep', dict(pattern=w, path=c, output_mode='files_with_matches'), f"Found {len(fs)} files\n" + '\n'.join(s.j(x) for x in fs), 'ok'))
            elif r < .52:
                e = f.rsplit('.', 1)[-1]; fs = [x for x in s.files if x.endswith('.' + e)]
                s.ev.append(('call', 'Glob', dict(pattern='**/*.' + e), '\n'.join(s.j(x) for x in fs), 'ok'))
            elif r < .66:
                cmd, out = s.rng.choice([('git status --short', f" M {f}\n?? notes.txt"), ('git log --oneline -5', '\n'.join(f"{s.rng.getrandbits(28):07x} {a} {b}" for a, b in [(s.rng.choice(['fix', 'add', 'drop', 'tidy']), s.rng.choice(WORDS)) for _ in range(5)])),
                    (f'git diff --stat -- {f}', f" {f} | {s.rng.randint(2,30)} +++--\n 1 file changed"), (f'ls {os.path.dirname(f) or "."}', '\n'.join(os.path.basename(x) for x in s.files if os.path.dirname(x) == os.path.dirname(f))), (f'wc -l {f}', f"{s.rng.randint(20,600)} {f}")])
                s.ev.append(('call', 'Bash', dict(command=cmd, description='Look around'), out, 'ok'))
            elif r < .84: s.say('edit', .5); s.edit(f)
            elif r < .90 and late and s.p.get('test'):
                cmd, red, green = s.f(list(s.p['test']))
                s.ev.append(('call', 'Bash', dict(command=cmd), red, 1)); s.say('red', .8); s.edit(f); s.ev.append(('call', 'Bash', dict(command=cmd), green, 'ok'))
            elif r < .92 and r >= .90:
                o = s.rng.choice(ODDS); c1 = o[0].format(f=f, w=s.rng.choice(WORDS)); s.ev.append(('call', 'Bash', dict(command=c1), o[1].format(f=f), o[2]))
            elif r >= .925 and r < .95:
                bad = f.replace('/', '/' + s.rng.choice(['old_', 'lib', 'x', 'core/']), 1)
                s.ev.append(('call', 'Read', dict(file_path=s.j(bad)), '<tool_use_error>File does not exist.</tool_use_error>', 'err')); s.ev.append(s.rd(f))
            elif s.rng.random() < .65: s.ev.append(s.rd(f))
            else:
                s.ev.append(('call', 'TodoWrite', dict(todos=[dict(content=s.task[:60], status='in_progress', activeForm=s.task[:60])]), 'Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed with the current tasks if applicable', 'ok'))
    def rd(s, f):
        l = [x for _ in range(s.rng.randint(1, 4)) for x in mk(s.rng, s.stack(f)) + ['']]
        return ('call', 'Read', dict(file_path=s.j(f)), '\n'.join(f"{n:6d}→{x}" for n, x in enumerate(l, 1)), 'ok')
    def steps(s, st):
        for x in st:
            k = x[0]
            if k == 'b': s.ev.append(('call', s.p.get('shell', 'Bash'), dict(command=s.f(x[1])), s.f(x[2]), 'ok'))
            elif k == 'x':
                s.ev.append(('call', s.p.get('shell', 'Bash'), dict(command=s.f(x[1])), s.f(s.rng.choice(x[2]) if isinstance(x[2], list) else x[2]), x[3] if len(x) > 3 else 1)); s.say('bad', .6)
            elif k == 't': s.ev.append(('call', x[1], s.f(x[2]), s.f(x[3]), 'ok'))
            elif k == 'tx':
                s.ev.append(('call', x[1], s.f(x[2]), s.f(s.rng.choice(x[3]) if isinstance(x[3], list) else x[3]), 'err')); s.say('bad', .6)
            elif k == 'rj': s.ev.append(('call', x[1], s.f(x[2]), s.f(s.pick('rj', x[3])), 'rej'))
            elif k == 'e': s.edit(s.f(x[1]), *(s.f(list(x[2:4])) if len(x) > 2 else ()))
            elif k == 's': s.ev.append(('say', s.f(s.pick('s' + str(x[1])[:9], x[1]))))
            elif k == 'u': s.ev.append(('user', s.f(s.pick('u' + str(x[1])[:9], x[1]))))
            elif k == 'n': s.noise(x[1], x[2], len(x) > 3)
            elif k == 'or': s.steps(s.rng.choice(x[1:]))
            elif k == 'maybe':
                if s.rng.random() < x[1]: s.steps(x[2])
    def pick(s, key, v):
        if isinstance(v, str): return v
        v = list(v); random.Random(s.p['name'] + key).shuffle(v); return v[s.i % len(v)]
    def build(s):
        p = s.p
        ts = list(p['tasks']); random.Random('t' + p['name']).shuffle(ts)
        s.task = s.f(ts[s.i % len(ts)])
        s.ev.append(('user', s.task))
        s.noise(*p.get('pre', (1, 4)))
        eps = p['eps']; s.steps(eps[s.i % len(eps)])
        if p.get('ep2'): s.noise(0, 2); s.steps(p['ep2'])
        s.noise(*p.get('post', (0, 4)), True) if p.get('post') else s.noise(0, 4, True)
        if s.ev[-1][0] != 'say' : s.say('done', 1, t=s.rng.choice(s.ph['tail']))
        if s.rng.random() < .3: s.ev.append(('user', s.rng.choice(s.ph['more']))); s.ev.append(('say', s.rng.choice(s.ph['tail'])))
        ev = []
        for e in s.ev:   # two remarks in a row are one message
            if ev and e[0] == 'say' == ev[-1][0]: ev[-1] = ('say', ev[-1][1] + ' ' + e[1])
            else: ev.append(e)
        s.ev = ev
        n = 0
        for e in s.ev: n += 2 if e[0] == 'call' else 4 if e[0] == 'par' else 1
        return n

# ------------------------------------------------------------------ writers
REJ = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
class W:
    def __init__(s, p, sess, start):
        s.p, s.s = p, sess; s.rng = random.Random(f"w{p['name']}:{sess.i}"); s.t = start; s.out = []; s.par = None
        s.sid = s.uu(); s.ver = random.Random('v' + p['name']).choice(['2.0.14', '2.0.31', '2.0.76', '2.1.9', '2.1.22']); s.model = random.Random('m' + p['name']).choice(['claude-sonnet-4-5-20250929', 'claude-opus-4-5-20251101', 'claude-haiku-4-5-20251001'])
        s.ctx = s.rng.randint(14000, 22000)
    def uu(s): return str(uuid.UUID(int=s.rng.getrandbits(128), version=4))
    def tick(s, a, b): s.t += dt.timedelta(milliseconds=s.rng.randint(int(a * 1000), int(b * 1000))); return s.t.strftime('%Y-%m-%dT%H:%M:%S.') + f"{s.t.microsecond // 1000:03d}Z"
    def rid(s, n=24): return ''.join(s.rng.choice('abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ123456789') for _ in range(n))
    def line(s, typ, msg, ts, **kw):
        o = dict(parentUuid=s.par, isSidechain=False, userType='external', cwd=s.p['cwd'], sessionId=s.sid, version=s.ver, gitBranch=s.p.get('branch', 'main'), type=typ, message=msg)
        if typ == 'assistant': o['requestId'] = 'req_011' + s.rid(20)
        o['uuid'] = s.par = s.uu(); o['timestamp'] = ts; o.update(kw); s.out.append(o); return o['uuid']
    def asst(s, block, mid, last, ts, use):
        s.line('assistant', dict(model=s.model, id=mid, type='message', role='assistant', content=[block], stop_reason=last, stop_sequence=None, usage=use), ts)
    def usage(s):
        new = s.rng.randint(120, 1900); u = dict(input_tokens=s.rng.randint(3, 12), cache_creation_input_tokens=new, cache_read_input_tokens=s.ctx, output_tokens=s.rng.randint(40, 420), service_tier='standard'); s.ctx += new; return u
    def claude(s):
        ev = s.s.ev
        if s.rng.random() < .2: s.out.append(dict(type='summary', summary=s.s.task[:50], leafUuid=s.uu()))
        j = 0
        while j < len(ev):
            e = ev[j]
            if e[0] == 'user':
                s.line('user', dict(role='user', content=e[1]), s.tick(*((0, 1) if j == 0 else (20, 400)))); j += 1; continue
            mid = 'msg_01' + s.rid(22); use = s.usage()
            if s.rng.random() < .08: s.asst(dict(type='thinking', thinking=s.s.task[:80], signature='Er' + s.rid(40)), mid, None, s.tick(2, 9), use)
            if e[0] == 'say':
                nxt = ev[j + 1] if j + 1 < len(ev) else None
                call = nxt and nxt[0] in ('call', 'par')
                s.asst(dict(type='text', text=e[1]), mid, None if call else 'end_turn', s.tick(2, 12), use); j += 1
                if not call: continue
                e = nxt
            calls = e[1] if e[0] == 'par' else [e]; ids = []
            for c in calls:
                i = 'toolu_01' + s.rid(22); ids.append(i)
                inp = dict(c[2])
                if c[1] == 'Bash' and s.rng.random() < .7: inp.setdefault('description', ' '.join(inp['command'].split()[:2]).capitalize())
                s.asst(dict(type='tool_use', id=i, name=c[1], input=inp), mid, 'tool_use', s.tick(1, 9), use)
            for i, c in zip(ids, calls): s.result(i, c)
            j += 1
    def result(s, i, c):
        _, name, inp, out, st = c
        b = dict(tool_use_id=i, type='tool_result', content=out); ts = s.tick(.1, 3) if name in ('Read', 'Grep', 'Glob', 'Edit', 'Write', 'TodoWrite') else s.tick(.1, 2) if re.match(r'(git|ls|wc|cat|grep|which|head|curl) ', str(inp.get('command', ''))) else s.tick(.4, 35)
        if st == 'rej':
            ts = s.tick(3, 90); b.update(content=REJ + out, is_error=True); tur = 'User rejected tool use'
        elif st == 'err': b['is_error'] = True; tur = 'Error: ' + out.replace('<tool_use_error>', '').replace('</tool_use_error>', '')
        elif st != 'ok': b.update(content=f"Exit code {st}\n{out}", is_error=True); tur = f"Error: Exit code {st}\n{out}"
        elif name in ('Bash', 'PowerShell'): b['is_error'] = False; tur = dict(stdout=out, stderr='', interrupted=False, isImage=False)
        elif name == 'Edit':
            fp = inp['file_path']; b['content'] = f"The file {fp} has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n{s.rng.randint(2,90):6d}→{inp['new_string']}"
            tur = dict(filePath=fp, oldString=inp['old_string'], newString=inp['new_string'], originalFile=None, structuredPatch=[], userModified=False, replaceAll=False)
        elif name == 'Write': b['content'] = f"File created successfully at: {inp['file_path']}"; tur = dict(type='create', filePath=inp['file_path'], content=inp['content'], structuredPatch=[])
        elif name == 'Read': tur = dict(type='text', file=dict(filePath=inp['file_path'], content=re.sub(r'(?m)^ *\d+→', '', out), numLines=out.count('\n') + 1, startLine=1, totalLines=out.count('\n') + 1))
        elif name == 'Grep': tur = dict(mode='files_with_matches', filenames=out.split('\n')[1:], numFiles=max(0, out.count('\n')))
        elif name == 'Glob': tur = dict(filenames=out.split('\n'), durationMs=s.rng.randint(3, 60), numFiles=out.count('\n') + 1, truncated=False)
        elif name.startswith('mcp__'): b['content'] = [dict(type='text', text=out)]; tur = b['content']
        else: tur = dict(result=out) if name == 'WebFetch' else dict(oldTodos=[], newTodos=inp.get('todos', []))
        s.line('user', dict(role='user', content=[b]), ts, toolUseResult=tur)
    # ---- Codex
    def cx(s, typ, payload, ts): s.out.append(dict(timestamp=ts, type=typ, payload=payload))
    def codex(s):
        new = s.p['codex'] == 'new'; cwd = s.p['cwd']; ts = s.tick(0, 1); s.sid = '019' + s.uu()[3:]
        s.cx('session_meta', dict(id=s.sid, timestamp=ts, cwd=cwd, originator='codex_cli_rs', cli_version='0.99.0' if new else '0.40.0', instructions=None, git=dict(commit_hash=f"{s.rng.getrandbits(160):040x}", branch=s.p.get('branch', 'main'))), ts)
        s.cx('response_item', dict(type='message', role='user', content=[dict(type='input_text', text=f"<environment_context>\n  <cwd>{cwd}</cwd>\n  <approval_policy>on-request</approval_policy>\n  <sandbox_mode>workspace-write</sandbox_mode>\n  <network_access>restricted</network_access>\n  <shell>bash</shell>\n</environment_context>")]), s.tick(.01, .02))
        tot = 0
        for j, e in enumerate(s.s.ev):
            if e[0] == 'user':
                ts = s.tick(.05, .3) if j == 0 else s.tick(20, 300)
                s.cx('response_item', dict(type='message', role='user', content=[dict(type='input_text', text=e[1])]), ts); s.cx('event_msg', dict(type='user_message', message=e[1], kind='plain'), s.tick(.001, .002))
                s.cx('turn_context', dict(cwd=cwd, approval_policy='on-request', sandbox_policy=dict(mode='workspace-write'), model='gpt-5-codex' if not new else 'gpt-5.1-codex', effort='medium', summary='auto'), s.tick(.001, .002)); continue
            if e[0] == 'say':
                ts = s.tick(2, 12); s.cx('event_msg', dict(type='agent_message', message=e[1]), ts); s.cx('response_item', dict(type='message', role='assistant', content=[dict(type='output_text', text=e[1])]), s.tick(.001, .002)); continue
            if s.rng.random() < .3: s.cx('response_item', dict(type='reasoning', summary=[dict(type='summary_text', text='**Planning the next step**')], content=None, encrypted_content='gAAAA' + s.rid(60)), s.tick(1, 6))
            calls = e[1] if e[0] == 'par' else [e]; ids = []
            for c in calls:
                i = 'call_' + s.rid(24); ids.append(i); n, inp = c[1], c[2]; rel = lambda x: x.replace(cwd + '/', '')
                if n == 'Edit': nm, ar = 'apply_patch', dict(input=f"*** Begin Patch\n*** Update File: {rel(inp['file_path'])}\n@@\n-{inp['old_string']}\n+{inp['new_string']}\n*** End Patch\n")
                elif n == 'TodoWrite': nm, ar = 'update_plan', dict(plan=[dict(step=t['content'], status=t['status']) for t in inp['todos']])
                else:
                    cmd = inp['command'] if n == 'Bash' else f"sed -n '1,160p' {rel(inp['file_path'])}" if n == 'Read' else f"rg -ln '{inp['pattern']}'" if n == 'Grep' else f"rg --files -g '{inp['pattern']}'"
                    nm, ar = ('shell_command', dict(command=cmd, workdir=cwd)) if new else ('shell', dict(command=['bash', '-lc', cmd], workdir=cwd))
                s.cx('response_item', dict(type='function_call', name=nm, arguments=json.dumps(ar, ensure_ascii=False), call_id=i), s.tick(1, 8))
            for i, c in zip(ids, calls):
                n, inp, out, st = c[1:]
                code = 0 if st == 'ok' else 1 if st == 'err' else st; d = round(s.rng.uniform(.1, 20), 1)
                if n == 'Edit': out = f"Success. Updated the following files:\nM {inp['file_path'].replace(cwd + '/', '')}\n"
                if n == 'TodoWrite': o = 'Plan updated'
                else:
                    if n == 'Read': out = re.sub(r'(?m)^ *\d+→', '', out) if st == 'ok' else f"sed: can't read {inp['file_path'].replace(cwd + '/', '')}: No such file or directory"
                    if n in ('Grep', 'Glob'): out = '\n'.join(x.replace(cwd + '/', '') for x in out.split('\n') if not x.startswith('Found'))
                    o = f"Exit code: {code}\nWall time: {d} seconds\nOutput:\n{out}" if new else json.dumps(dict(output=out + '\n', metadata=dict(exit_code=code, duration_seconds=d)), ensure_ascii=False)
                s.cx('response_item', dict(type='function_call_output', call_id=i, output=o), s.tick(.1, 25))
            tot += s.rng.randint(600, 2600); s.cx('event_msg', dict(type='token_count', info=dict(total_token_usage=dict(input_tokens=tot, cached_input_tokens=tot // 2, output_tokens=tot // 20, reasoning_output_tokens=0, total_tokens=tot + tot // 20), model_context_window=272000)), s.tick(.01, .1))

def write(out, num, p):
    d = os.path.join(out, f"{num:02d}-{p['name']}"); os.makedirs(d, exist_ok=True)
    prng = random.Random('d' + p['name']); t = dt.datetime(2026, prng.randint(1, 7), prng.randint(1, 26), prng.randint(6, 18), prng.randint(0, 59), prng.randint(0, 59))
    seen = set(); first = None
    for i in range(12):
        for level in range(0, 9):
            s = Sess(p, i, level); n = s.build()
            if n <= 38: break
        while n < 8: s.ev.insert(1, s.rd(s.file())); n += 2
        if s.task in seen and not p.get('copies'): raise SystemExit(f"{p['name']}: same first message: {s.task}")
        seen.add(s.task)
        w = W(p, s, t + dt.timedelta(milliseconds=prng.randint(0, 999)))
        (w.codex if p.get('codex') else w.claude)()
        lines = w.out
        if p.get('copies'):
            if i == 0: first = lines
            else:   # a fork: the copied head under a new session id, then a tail of its own
                cut = max(k for k, o in enumerate(first) if o['type'] == 'assistant' and o['message']['stop_reason'] == 'end_turn') + 1 if i % 3 else len(first)
                head = [dict(o, sessionId=w.sid) if 'sessionId' in o else o for o in first[:cut]]
                tail = []
                if i % 2:
                    w2 = W(p, s, dt.datetime.strptime(first[-1]['timestamp'], '%Y-%m-%dT%H:%M:%S.%fZ') + dt.timedelta(hours=i)); w2.rng = random.Random(f"fork{i}"); w2.sid = w.sid; w2.par = head[-1]['uuid']
                    ss = Sess(p, i, 0); ss.task = 'x'; ss.ev = [('user', p['tails'][i % len(p['tails'])])]; ss.noise(1, 3); ss.say('done', 1, t='')
                    w2.s = ss; w2.claude(); tail = [o for o in w2.out if o['type'] != 'summary']
                lines = head + tail
        fn = f"rollout-{w.t.strftime('%Y-%m-%dT%H-%M-%S')}-{w.sid}.jsonl" if p.get('codex') else f"{w.sid}.jsonl"
        fn = f"{i+1:02d}-{fn}"
        with open(os.path.join(d, fn), 'w', encoding='utf-8') as fh:
            for o in lines: fh.write(json.dumps(o, ensure_ascii=False, separators=(',', ':')) + '\n')
        t = t + dt.timedelta(hours=prng.randint(3, 70), minutes=prng.randint(1, 59), seconds=prng.randint(0, 59))

from specs import PROJECTS
def main():
    out = sys.argv[1]; exp = []
    for n, p in enumerate(PROJECTS, 1):
        write(out, n, p)
        e = dict(number=n, name=p['name'], kind=p['kind'], learn=p['kind'] != 'nothing', language=p['lang'], agent='codex' if p.get('codex') else 'claude_code', rule=p.get('rule', ''), must=p.get('must', []), must_not=nots(p.get('must', []), p.get('must_not', [])))
        if p.get('second'):
            r, m = p['second']; e['second'] = dict(rule=r, must=m, must_not=nots(m, []))
        exp.append(e)
    if len(sys.argv) > 2: json.dump(exp, open(sys.argv[2], 'w'), ensure_ascii=False, indent=1)
def nots(must, more):
    r = list(more)
    for t in (must[0] if must else []): r += [f"{x} {q}{t}" for x in ('instead of', 'rather than', 'statt', 'вместо') for q in ('', '`')]
    return r
if __name__ == '__main__': main()
