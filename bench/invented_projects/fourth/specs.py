"""Fifty invented projects, author 4. b = shell call (command, output, exit code), t = tool call, e = edit, r = read,
no = a call that the person refuses, u = the person's words, s = the agent's words. {slot} is drawn per session."""

def b(cmd, out="", code=0): return ("b", cmd, out, code)
def t(name, args, out, ok=True): return ("t", name, args, out, ok)
def e(file, old, new): return ("e", file, old, new)
def r(file): return ("r", file)
def no(call, words): return ("no", call, words)
def u(words): return ("u", words)
def s(words): return ("s", words)

P = []
def project(name, kind, show, must, *, lang="en", tasks, files, test, fill=None, ok=(), must_not=(), rule="", learn=True):
    P.append(dict(name=name, kind=kind, show=show, must=must, must_not=list(must_not), lang=lang, tasks=tasks, files=files, test=test,
                  fill=fill or {}, ok=list(ok), rule=rule, learn=learn))

PY = ("pytest -q tests/{mod}_test.py", "{n} passed in 1.{d}s", "FAILED tests/{mod}_test.py::test_{w} - AssertionError: assert {d} == {n}\n1 failed, {n} passed in 2.{d}s")
GO = ("go vet ./{mod}/...", "", "{mod}/{w}.go:{n}:2: unreachable code")
JS = ("npx vitest run src/{mod}", " Test Files  1 passed (1)\n      Tests  {n} passed ({n})", " FAIL  src/{mod}/{w}.spec.ts > {w}\nAssertionError: expected {d} to be {n}\n Tests  1 failed | {n} passed")
RS = ("cargo test -p {mod}", "test result: ok. {n} passed; 0 failed", "thread '{w}' panicked at src/{mod}.rs:{n}:9:\nassertion failed\ntest result: FAILED. {d} passed; 1 failed")
EN = ["add a {w} field to {mod}", "{mod}: the {w} is computed twice, fix it", "can you make {mod} skip an empty {w}?", "rename {w} to {v} in {mod}", "the {w} in {mod} should be optional", "write a test for {w} in {mod}"]
DE = ["Bitte {w} in {mod} ergänzen", "In {mod} wird {w} doppelt berechnet, bitte beheben", "{mod} soll leere {w} überspringen", "Benenne {w} in {mod} in {v} um"]
RU = ["добавь поле {w} в {mod}", "в {mod} дважды считается {w}, исправь", "пусть {mod} пропускает пустой {w}", "переименуй {w} в {v} в {mod}"]
M = dict(mod=["ledger", "routes", "billing", "sync", "export", "search", "geo", "mail", "quota", "shift", "parser", "cache"])

# ---- another program or tool wins
project("tern-api", "other program", [
    [b("docker compose logs --tail {n}0 {mod}", "unknown shorthand flag: 't' in -t\nSee 'docker --help'.", 125), b("docker --version", "Docker version 20.10.5+dfsg1"), b("docker-compose logs --tail {n}0 {mod}", "{mod}_1  | ready in {d} ms")],
    [b("docker compose up -d {mod}", "docker: 'compose' is not a docker command.\nSee 'docker --help'", 1), b("docker-compose up -d {mod}", "Starting tern_{mod}_1 ... done")],
    [b("docker compose exec {mod} ls /srv", "docker: 'compose' is not a docker command.\nSee 'docker --help'", 1), r("docker-compose.yml"), b("docker-compose exec {mod} ls /srv", "app  data")]],
    [["docker-compose"]], must_not=["instead of `docker-compose", "not `docker-compose"], tasks=EN, files=["src/{mod}/main.py", "src/{mod}/{w}.py"], test=PY, fill=M, rule="docker-compose, not docker compose")
project("grebe-data", "other tool", [
    [t("Read", {"file_path": "/srv/grebe/dumps/{mod}-{n}.parquet"}, "File content (3.1MB) exceeds maximum allowed size (256KB).", False), b("duckdb -c \"select * from 'dumps/{mod}-{n}.parquet' limit {d}\"", "│ id │ {w} │\n│ 1  │ 22  │")],
    [t("Read", {"file_path": "/srv/grebe/dumps/{mod}-{n}.parquet"}, "This tool cannot read binary files. The file appears to be a binary .parquet file.", False), b("ls dumps | head -3", "geo-1.parquet\nmail-4.parquet"), b("duckdb -c \"describe select * from 'dumps/{mod}-{n}.parquet'\"", "│ {w} │ BIGINT │")]],
    [["duckdb"]], tasks=EN, files=["jobs/{mod}.sql", "jobs/{w}.py"], test=PY, fill=M, rule="read parquet dumps with duckdb")
project("plover-ui", "other program", [
    [b("npm install {pkg}", "npm error code EUNSUPPORTEDPROTOCOL\nnpm error Unsupported URL Type \"workspace:\": workspace:*", 1), b("cat package.json | head -20", "{ \"name\": \"plover\", \"packageManager\": \"pnpm@9.1.0\" }"), b("pnpm add {pkg}", "+ {pkg} {d}.{n}.0\nDone in 2.{d}s")],
    [b("npm i -D {pkg}", "npm error code EUNSUPPORTEDPROTOCOL\nnpm error Unsupported URL Type \"workspace:\": workspace:*", 1), b("pnpm add -D {pkg}", "+ {pkg} {d}.{n}.0\nDone in 3.{d}s")]],
    [["pnpm"]], must_not=["instead of `pnpm", "not `pnpm"], tasks=EN, files=["src/{mod}/index.ts", "src/{mod}/{w}.tsx"], test=JS, fill={**M, "pkg": ["zod", "dayjs", "clsx", "nanoid", "ky", "valibot", "mitt", "p-limit", "immer", "swr", "jotai", "ms"]}, rule="pnpm, not npm")
project("kestrel-ops", "other program", [
    [b("kubectl get pods -n {mod}", "error: You must be logged in to the server (Unauthorized)", 1), b("kubectl config get-contexts", "CURRENT   NAME\n*         old"), b("tsh kubectl get pods -n {mod}", "NAME        READY\n{mod}-7c9   1/1")],
    [b("kubectl logs deploy/{mod} -n {mod} --tail={n}", "error: You must be logged in to the server (Unauthorized)", 1), b("tsh kubectl logs deploy/{mod} -n {mod} --tail={n}", "level=info msg=\"{w} ok\"")]],
    [["tsh"]], tasks=["why does {mod} restart?", "look at the {w} of {mod} in staging", "{mod} is slow since noon, have a look", "scale down {mod} and note the {w}"], files=["charts/{mod}/values.yaml", "charts/{mod}/{w}.yaml"], test=("helm lint charts/{mod}", "1 chart(s) linted, 0 chart(s) failed", "[ERROR] templates/: parse error at ({mod}/{w}.yaml:{n})"), fill=M, rule="tsh kubectl, not kubectl")
# ---- a step before
project("dunlin-rs", "step before", [
    [b("cargo sqlx prepare --check -- -p {mod}", "error: `DATABASE_URL` queries are stale: query data for {w} is missing", 1), s("The cache is stale."), b("just migrate", "Applied {d} migrations"), b("cargo sqlx prepare --check -- -p {mod}", "query data is up to date")],
    [b("cargo build -p {mod}", "error: error returned from database: no such table: {w}\n  --> {mod}/src/{w}.rs:{n}:{d}\nerror: could not compile `{mod}`", 101), b("just --list", "migrate\nlint"), b("just migrate", "Applied {d} migrations"), b("cargo build -p {mod}", "Finished dev profile in {n}.{d}s")]],
    [["just migrate"]], tasks=EN, files=["{mod}/src/lib.rs", "{mod}/src/{w}.rs"], test=RS, fill=M, rule="run just migrate before building")
project("avocet-go", "step before", [
    [b("go test ./{mod}/...", "{mod}/{w}_test.go:{n}: undefined: mocks.New{W}\nFAIL\tavocet/{mod} [build failed]", 1), b("ls mocks", "doc.go"), b("go generate ./...", ""), b("go test ./{mod}/...", "ok  \tavocet/{mod}\t0.{n}s")],
    [b("go test ./{mod}/... -run {W}", "# avocet/{mod}\n{mod}/{w}_test.go:{n}:{d}: undefined: mocks.New{W}\nFAIL\tavocet/{mod} [build failed]", 1), b("go generate ./...", ""), b("go test ./{mod}/... -run {W}", "ok  \tavocet/{mod}\t0.{n}s")]],
    [["go generate"]], tasks=EN, files=["{mod}/{w}.go", "{mod}/{v}.go"], test=GO, fill=M, rule="go generate before go test")
project("knot-next", "step before", [
    [b("npx tsc --noEmit -p packages/{mod}", "packages/{mod}/src/{w}.ts(1,20): error TS2307: Cannot find module '@knot/tokens' or its corresponding type declarations.", 2), b("npx turbo run build --filter @knot/tokens", " Tasks:    1 successful, 1 total"), b("npx tsc --noEmit -p packages/{mod}", "")],
    [b("npx vitest run packages/{mod}", "Error: Failed to resolve entry for package \"@knot/tokens\". The package may have incorrect main/module/exports", 1), b("ls packages/tokens", "package.json\nsrc"), b("npx turbo run build --filter @knot/tokens", " Tasks:    1 successful, 1 total"), b("npx vitest run packages/{mod}", " Tests  {n} passed ({n})")]],
    [["turbo"], ["tokens"]], tasks=EN, files=["packages/{mod}/src/{w}.ts", "packages/{mod}/src/{v}.ts"], test=("npx eslint packages/{mod}/src", "", "{n}:{d}  error  '{w}' is assigned a value but never used  no-unused-vars"), fill=M, rule="build @knot/tokens first")
project("whimbrel-tf", "step before", [
    [b("terraform -chdir=stacks/{mod} plan", "Error: Failed to load plugin schemas\n\nError: Required plugins are not installed", 1), b("terraform -chdir=stacks/{mod} init -backend=false", "Terraform has been successfully initialized!"), b("terraform -chdir=stacks/{mod} plan", "Plan: {d} to add, 0 to change")],
    [b("terraform -chdir=stacks/{mod} validate", "Error: Missing required provider\n\nThis configuration requires provider registry.terraform.io/hashicorp/aws, but that provider isn't available.", 1), b("terraform -chdir=stacks/{mod} init -backend=false", "Terraform has been successfully initialized!"), b("terraform -chdir=stacks/{mod} validate", "Success! The configuration is valid.")]],
    [["init"]], tasks=EN, files=["stacks/{mod}/main.tf", "stacks/{mod}/{w}.tf"], test=("tflint stacks/{mod}", "", "1 issue(s) found: Warning: variable \"{w}\" is declared but not used"), fill=M, rule="terraform init -backend=false first")
# ---- a folder
project("snipe-mono", "folder", [
    [b("poetry run pytest tests/{mod}_test.py", "Poetry could not find a pyproject.toml file in /srv/snipe or its parents", 1), b("ls", "backend  docs  web"), b("cd backend && poetry run pytest tests/{mod}_test.py", "{n} passed in 0.{d}s")],
    [b("poetry add {w}kit", "Poetry could not find a pyproject.toml file in /srv/snipe or its parents", 1), b("cd backend && poetry add {w}kit", "Using version ^{d}.{n} for {w}kit")]],
    [["backend"]], tasks=EN, files=["backend/{mod}/{w}.py", "backend/{mod}/api.py"], test=("ruff check backend/{mod}", "All checks passed!", "backend/{mod}/{w}.py:{n}:1: F401 `{v}` imported but unused"), fill=M, rule="poetry in backend/")
project("curlew-android", "folder", [
    [b("./gradlew :{mod}:assembleDebug", "bash: ./gradlew: No such file or directory", 127), b("git ls-files | grep gradlew", "android/gradlew\nandroid/gradlew.bat"), b("cd android && ./gradlew :{mod}:assembleDebug", "BUILD SUCCESSFUL in {n}s")],
    [b("./gradlew :{mod}:test", "bash: ./gradlew: No such file or directory", 127), b("cd android && ./gradlew :{mod}:test", "BUILD SUCCESSFUL in {n}s\n{d} actionable tasks")]],
    [["android"]], lang="de", tasks=DE, files=["android/{mod}/src/{W}.kt", "android/{mod}/src/{V}.kt"], test=("ktlint android/{mod}", "", "android/{mod}/src/{W}.kt:{n}:1: Unused import"), fill=M, rule="gradlew in android/")
project("pipit-docs", "folder", [
    [b("mkdocs build --strict", "Error: Config file 'mkdocs.yml' does not exist.", 1), b("mkdocs build --strict -f handbook/mkdocs.yml", "INFO - Documentation built in 1.{d} seconds")],
    [b("mkdocs serve --dirty -a 127.0.0.1:8{n}", "Error: Config file 'mkdocs.yml' does not exist.", 1), t("Glob", {"pattern": "**/mkdocs.yml"}, "/srv/pipit/handbook/mkdocs.yml"), b("mkdocs serve --dirty -a 127.0.0.1:8{n} -f handbook/mkdocs.yml", "INFO - Serving on http://127.0.0.1:8{n}/")]],
    [["handbook"]], tasks=["add a page on {w} to the handbook", "the chapter {mod} is out of date, fix {w}", "link {mod} from {w}"], files=["handbook/{mod}.md", "handbook/{w}.md"], test=("vale handbook/{mod}.md", "0 errors", "handbook/{mod}.md\n {n}:{d}  error  Did you mean '{w}'?"), fill=M, rule="mkdocs with handbook/mkdocs.yml")
# ---- a variable
project("lapwing-rb", "variable", [
    [b("bin/rails test test/{mod}_test.rb", "NoMethodError: undefined method `url' for nil:NilClass\nconfig/initializers/{mod}.rb:{n}", 1), r("config/initializers/mail.rb"), b("RAILS_ENV=test bin/rails test test/{mod}_test.rb", "{n} runs, {n} assertions, 0 failures")],
    [b("bin/rails test test/{mod}_test.rb -n test_{w}", "ActiveRecord::ProtectedEnvironmentError: You are attempting to run a destructive action against your 'production' database.", 1), b("RAILS_ENV=test bin/rails test test/{mod}_test.rb -n test_{w}", "1 runs, {d} assertions, 0 failures")]],
    [["RAILS_ENV=test"]], tasks=EN, files=["app/{mod}/{w}.rb", "app/{mod}/{v}.rb"], test=("bundle exec rubocop app/{mod}", "no offenses detected", "app/{mod}/{w}.rb:{n}:{d}: C: Style/StringLiterals"), fill=M, rule="RAILS_ENV=test")
project("godwit-ml", "variable", [
    [b("python train.py --config conf/{mod}.yaml --steps {n}", "RuntimeError: NCCL error: unhandled system error\nhint: no network interface matches", 1), b("ip -br addr", "lo UNKNOWN\nens5 UP"), b("NCCL_SOCKET_IFNAME=lo python train.py --config conf/{mod}.yaml --steps {n}", "step {n} loss 0.{d}")],
    [b("python train.py --config conf/{mod}.yaml --steps {d}", "RuntimeError: NCCL error: unhandled system error\nhint: no network interface matches", 1), b("export NCCL_SOCKET_IFNAME=lo; python train.py --config conf/{mod}.yaml --steps {d}", "step {d} loss 0.{n}")]],
    [["NCCL_SOCKET_IFNAME"]], tasks=EN, files=["models/{mod}.py", "models/{w}.py"], test=PY, fill=M, rule="set NCCL_SOCKET_IFNAME=lo")
project("stint-node", "variable", [
    [b("node scripts/{mod}.mjs --limit {n}", "Error: self-signed certificate in certificate chain\n    at TLSSocket.onConnectSecure\n  code: 'SELF_SIGNED_CERT_IN_CHAIN'", 1), b("ls certs", "corp.pem"), b("NODE_EXTRA_CA_CERTS=certs/corp.pem node scripts/{mod}.mjs --limit {n}", "fetched {n} {w}s")],
    [b("node scripts/{mod}.mjs --since 2026-0{d}", "Error: self-signed certificate in certificate chain\n  code: 'SELF_SIGNED_CERT_IN_CHAIN'", 1), b("NODE_EXTRA_CA_CERTS=certs/corp.pem node scripts/{mod}.mjs --since 2026-0{d}", "fetched {d} {w}s")]],
    [["NODE_EXTRA_CA_CERTS"]], lang="ru", tasks=RU, files=["scripts/{mod}.mjs", "lib/{w}.mjs"], test=JS, fill=M, rule="NODE_EXTRA_CA_CERTS")
# ---- a port or an address
project("ruff-pg", "port", [
    [b("psql -h localhost -U app -c 'select count(*) from {w}'", "psql: error: connection to server at \"localhost\" (127.0.0.1), port 5432 failed: Connection refused", 2), b("grep -n port compose.yml", "12:      - 6433:5432"), b("psql -h localhost -p 6433 -U app -c 'select count(*) from {w}'", " count\n {n}")],
    [b("psql -h localhost -U app -f sql/{mod}.sql", "psql: error: connection to server at \"localhost\" (127.0.0.1), port 5432 failed: Connection refused", 2), b("psql -h localhost -p 6433 -U app -f sql/{mod}.sql", "INSERT 0 {d}")]],
    [["6433"]], tasks=EN, files=["sql/{mod}.sql", "app/{w}.py"], test=PY, fill=M, rule="psql on port 6433")
project("dotterel-web", "port", [
    [b("curl -s localhost:3000/api/{mod}", "", 7), b("ss -ltn | head -4", "LISTEN 0 511 *:4100"), b("curl -s localhost:4100/api/{mod}", "{\"{w}\": {n}}")],
    [b("curl -sS -X POST localhost:3000/api/{mod} -d '{w}={n}'", "curl: (7) Failed to connect to localhost port 3000: Connection refused", 7), b("curl -sS -X POST localhost:4100/api/{mod} -d '{w}={n}'", "{\"ok\":true}")]],
    [["4100"]], tasks=EN, files=["src/{mod}/route.ts", "src/{mod}/{w}.ts"], test=JS, fill=M, rule="the dev server is on port 4100")
# ---- a branch
project("phalarope", "branch", [
    [b("git push -u origin {w}-{mod}", "remote: error: refusing to create branch {w}-{mod}: names must begin with wip/\n ! [remote rejected] {w}-{mod} (pre-receive hook declined)", 1), b("git branch -m wip/{w}-{mod}", ""), b("git push -u origin wip/{w}-{mod}", "branch 'wip/{w}-{mod}' set up to track")],
    [b("git push origin HEAD:{mod}-{w}", "remote: error: refusing to create branch {mod}-{w}: names must begin with wip/\n ! [remote rejected] HEAD -> {mod}-{w} (pre-receive hook declined)", 1), b("git push origin HEAD:wip/{mod}-{w}", " * [new branch] HEAD -> wip/{mod}-{w}")]],
    [["wip/"]], tasks=[x + " and push it" for x in EN], files=["src/{mod}.c", "src/{w}.c"], test=("make check-{mod}", "PASS: {n}", "FAIL: {w}\nmake: *** [check-{mod}] Error 1"), fill=M, rule="branches begin with wip/")
project("sanderling", "branch", [
    [b("gh pr create --base main --title '{w} in {mod}' --body-file /tmp/b", "pull request create failed: GraphQL: Base branch main is read-only (createPullRequest)", 1), b("git branch -r", "origin/main\norigin/next"), b("gh pr create --base next --title '{w} in {mod}' --body-file /tmp/b", "https://github.com/s/s/pull/{n}")],
    [b("gh pr create --base main --fill", "pull request create failed: GraphQL: Base branch main is read-only (createPullRequest)", 1), b("gh pr create --base next --fill", "https://github.com/s/s/pull/{n}")]],
    [["--base next", "`next`", "base next"]], lang="de", tasks=[x + " und PR öffnen" for x in DE], files=["src/{mod}.py", "src/{w}.py"], test=PY, fill=M, rule="PRs against next")
# ---- a flag
project("oystercatcher", "flag", [
    [b("ansible-playbook plays/{mod}.yml", "fatal: [edge-{d}]: FAILED! => {\"msg\": \"Missing sudo password\"}", 2), b("ansible-playbook plays/{mod}.yml --become-password-file ~/.sudo", "edge-{d} : ok={n} changed={d}")],
    [b("ansible-playbook plays/{mod}.yml --tags {w}", "fatal: [edge-{d}]: FAILED! => {\"msg\": \"Missing sudo password\"}", 2), b("cat ansible.cfg", "[defaults]\ninventory = hosts"), b("ansible-playbook plays/{mod}.yml --tags {w} --become-password-file ~/.sudo", "edge-{d} : ok={n}")]],
    [["--become-password-file"]], tasks=EN, files=["plays/{mod}.yml", "roles/{w}/tasks.yml"], test=("ansible-lint plays/{mod}.yml", "Passed: 0 failure(s)", "plays/{mod}.yml:{n}: name[missing]"), fill=M, rule="--become-password-file")
project("turnstone-py", "flag", [
    [b("uv pip install {pkg}", "error: The interpreter at /usr is externally managed", 2), b("uv pip install --python .venv {pkg}", "Installed 1 package in {n}ms")],
    [b("uv pip install -r reqs/{mod}.txt", "error: No virtual environment found for Python 3.12", 2), b("ls -a", ".venv  reqs"), b("uv pip install --python .venv -r reqs/{mod}.txt", "Installed {d} packages")]],
    [["--python .venv"]], tasks=EN, files=["ts/{mod}.py", "ts/{w}.py"], test=PY, fill={**M, "pkg": ["rich", "attrs", "httpx", "orjson", "polars", "anyio", "click", "pyyaml"]}, rule="uv pip install --python .venv")
project("knotwing", "flag", [
    [b("bazel test //{mod}:{w}_test", "ERROR: {mod}/BUILD:{n}:{d}: no matching toolchains found for types @rules_cc//cc:toolchain_type", 1), b("bazel query //{mod}:all", "//{mod}:{w}_test"), b("bazel test --config=hermetic //{mod}:{w}_test", "Executed 1 out of 1 test: 1 test passes.")],
    [b("bazel build //{mod}/...", "ERROR: {mod}/BUILD:{n}:{d}: no matching toolchains found for types @rules_cc//cc:toolchain_type", 1), b("cat .bazelrc", "build:hermetic --extra_toolchains=//tools:cc"), b("bazel build --config=hermetic //{mod}/...", "INFO: Build completed successfully")]],
    [["--config=hermetic"]], tasks=EN, files=["{mod}/{w}.cc", "{mod}/{v}.cc"], test=("clang-format --dry-run {mod}/{w}.cc", "", "{mod}/{w}.cc:{n}:{d}: warning: code should be clang-formatted"), fill=M, rule="--config=hermetic")
project("reeve-hs", "flag", [
    [b("stack test {mod}", "Error: [S-7282] While constructing the build plan: ghc-9.{d} is not on the PATH", 1), b("stack --system-ghc test {mod}", "{n} examples, 0 failures")],
    [b("stack build {mod} --fast", "Error: [S-7282] While constructing the build plan: ghc-9.{d} is not on the PATH", 1), b("which ghc", "/usr/bin/ghc"), b("stack --system-ghc build {mod} --fast", "Installing library {mod}")]],
    [["--system-ghc"]], lang="ru", tasks=RU, files=["{mod}/{W}.hs", "{mod}/{V}.hs"], test=("hlint {mod}", "No hints", "{mod}/{W}.hs:{n}:{d}: Warning: Redundant bracket"), fill=M, rule="stack --system-ghc")
# ---- a missing program
project("jacana", "missing program", [
    [b("rg -n '{w}' src/{mod}", "bash: rg: command not found", 127), b("git grep -n '{w}' -- src/{mod}", "src/{mod}/a.py:{n}: {w}")],
    [b("rg --files -g '*{w}*'", "bash: rg: command not found", 127), b("git grep -l '{w}'", "src/{mod}/{w}.py")]],
    [["git grep"]], must_not=["instead of `git grep"], tasks=EN, files=["src/{mod}/{w}.py", "src/{mod}/{v}.py"], test=PY, fill=M, rule="git grep, rg is not installed")
project("hammerkop", "missing program", [
    [b("jq .{w} conf/{mod}.json", "bash: jq: command not found", 127), b("python -c \"import json;print(json.load(open('conf/{mod}.json'))['{w}'])\"", "{n}")],
    [b("cat conf/{mod}.json | jq '.{w} | length'", "bash: jq: command not found", 127), b("python -c \"import json;print(len(json.load(open('conf/{mod}.json'))['{w}']))\"", "{d}")]],
    [["python"], ["jq"]], tasks=EN, files=["conf/{mod}.json", "src/{w}.py"], test=PY, fill=M, rule="python instead of jq")
project("darter-lua", "missing program", [
    [b("luacheck {mod}.lua", "sh: luacheck: not found", 127), b("ls .rocks/bin", "luacheck busted"), b(".rocks/bin/luacheck {mod}.lua", "Total: 0 warnings / 0 errors in 1 file")],
    [b("busted spec/{mod}_spec.lua", "sh: busted: not found", 127), b(".rocks/bin/busted spec/{mod}_spec.lua", "{n} successes / 0 failures")]],
    [[".rocks/bin"]], lang="de", tasks=DE, files=["{mod}.lua", "{w}.lua"], test=("lua check_{mod}.lua", "ok", "{w}: expected {n}, got {d}"), fill=M, rule=".rocks/bin/…")
# ---- a service to start
project("ibis-queue", "service", [
    [b("pytest -q tests/{mod}_test.py -k {w}", "E   redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.\n1 failed", 1), b("systemctl status redis", "Unit redis.service could not be found.", 4), b("make redis-up", "redis ready"), b("pytest -q tests/{mod}_test.py -k {w}", "{n} passed in 0.{d}s")],
    [b("python -m ibis.{mod} --once", "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.", 1), b("make redis-up", "redis ready"), b("python -m ibis.{mod} --once", "{n} {w}s done")]],
    [["make redis-up"]], tasks=EN, files=["ibis/{mod}.py", "ibis/{w}.py"], test=("ruff check ibis/{mod}.py", "All checks passed!", "ibis/{mod}.py:{n}:1: F841 {w}"), fill=M, rule="make redis-up first")
project("spoonbill", "service", [
    [b("aws --endpoint-url http://localhost:4566 s3 ls s3://{mod}", "Could not connect to the endpoint URL: \"http://localhost:4566/{mod}\"", 255), b("docker ps", "CONTAINER ID   IMAGE"), b("docker start localstack", "localstack"), b("aws --endpoint-url http://localhost:4566 s3 ls s3://{mod}", "2026-01-0{d} {w}.csv")],
    [b("aws --endpoint-url http://localhost:4566 sqs list-queues", "Could not connect to the endpoint URL: \"http://localhost:4566/\"", 255), b("docker start localstack", "localstack"), b("sleep {d}", ""), b("aws --endpoint-url http://localhost:4566 sqs list-queues", "{\"QueueUrls\": [\"{mod}\"]}")]],
    [["docker start localstack"]], tasks=EN, files=["src/{mod}.py", "src/{w}.py"], test=PY, fill=M, rule="docker start localstack")
project("egret-el", "service", [
    [b("mix test test/{mod}_test.exs", "** (DBConnection.ConnectionError) tcp connect (localhost:5432): connection refused - :econnrefused", 1), b("pg_ctlcluster 16 main start", ""), b("mix test test/{mod}_test.exs", "{n} tests, 0 failures")],
    [b("mix ecto.migrate", "** (Mix) The database for Egret.Repo couldn't be created: connection refused", 1), b("pg_lsclusters", "16 main 5432 down"), b("pg_ctlcluster 16 main start", ""), b("mix ecto.migrate", "[info] == Migrated {n}")]],
    [["pg_ctlcluster"]], lang="ru", tasks=RU, files=["lib/{mod}.ex", "lib/{w}.ex"], test=("mix format --check-formatted lib/{mod}.ex", "", "** (Mix) mix format failed: lib/{mod}.ex"), fill=M, rule="pg_ctlcluster 16 main start")
# ---- a generated file
project("heron-proto", "generated file", [
    [e("gen/{mod}.pb.ts", "{w}?: string", "{w}: string"), b("npm run verify", "gen/{mod}.pb.ts differs from proto/{mod}.proto; do not edit gen/", 1), b("git checkout gen/{mod}.pb.ts", "Updated 1 path"), e("proto/{mod}.proto", "optional string {w}", "string {w}"), b("npm run proto", "wrote gen/{mod}.pb.ts"), b("npm run verify", "ok")],
    [e("gen/{mod}.pb.ts", "{v}: number", "{v}: bigint"), b("npm run verify", "gen/{mod}.pb.ts differs from proto/{mod}.proto; do not edit gen/", 1), e("proto/{mod}.proto", "int32 {v}", "int64 {v}"), b("npm run proto", "wrote gen/{mod}.pb.ts"), b("npm run verify", "ok")]],
    [["proto"], ["gen/", "npm run proto"]], tasks=EN, files=["src/{mod}.ts", "proto/{mod}.proto"], test=JS, fill=M, rule="edit proto/, run npm run proto, not gen/")
project("bittern-css", "generated file", [
    [no(e("public/{mod}.css", ".{w}", ".{w}-{n}"), "public/ is built output. edit styles/ and run the build"), e("styles/{mod}.scss", ".{w}", ".{w}-{n}"), b("npm run styles", "compiled {mod}.scss")],
    [no(e("public/{mod}.css", "margin: {d}px", "margin: {n}px"), "no, never touch public/, change styles/{mod}.scss instead"), e("styles/{mod}.scss", "margin: {d}px", "margin: {n}px"), b("npm run styles", "compiled {mod}.scss")]],
    [["styles"]], tasks=EN, files=["styles/{mod}.scss", "src/{w}.ts"], test=JS, fill=M, rule="edit styles/, not public/")
# ---- an MCP parameter
project("crake-crm", "mcp parameter", [
    [t("mcp__crm__search_deals", {"query": "{w}", "limit": 50}, "MCP error -32602: limit must be <= 25", False), t("mcp__crm__search_deals", {"query": "{w}", "limit": 25}, "[{\"deal\": \"{mod}\"}]")],
    [t("mcp__crm__search_deals", {"query": "{mod} {w}", "limit": 100}, "MCP error -32602: limit must be <= 25", False), t("mcp__crm__search_deals", {"query": "{mod} {w}", "limit": 25}, "[]")]],
    [["25"], ["limit"]], tasks=["which deals mention {w}?", "find the {mod} deals of last month", "write down what {mod} says on {w}"], files=["notes/{mod}.md", "notes/{w}.md"], test=("cat notes/{mod}.md", "# {w}", "# {w}"), fill=M, rule="limit 25")
project("rail-tickets", "mcp parameter", [
    [t("mcp__jira__create_issue", {"project": "RAIL", "summary": "{w} in {mod}", "type": "Bug"}, "400 Bad Request: {\"errors\":{\"customfield_10031\":\"Team is required.\"}}", False), t("mcp__jira__get_fields", {"project": "RAIL"}, "customfield_10031: Team"), t("mcp__jira__create_issue", {"project": "RAIL", "summary": "{w} in {mod}", "type": "Bug", "customfield_10031": "Tracks"}, "RAIL-{n}")],
    [t("mcp__jira__create_issue", {"project": "RAIL", "summary": "{mod}: {w} missing", "type": "Task"}, "400 Bad Request: {\"errors\":{\"customfield_10031\":\"Team is required.\"}}", False), t("mcp__jira__create_issue", {"project": "RAIL", "summary": "{mod}: {w} missing", "type": "Task", "customfield_10031": "Tracks"}, "RAIL-{n}")]],
    [["customfield_10031"]], tasks=EN, files=["src/{mod}.py", "src/{w}.py"], test=PY, fill=M, rule="customfield_10031")
project("sora-figma", "mcp parameter", [
    [t("mcp__figma__get_node", {"file": "Sora", "node": "{n}-{d}"}, "Error: node id must have the form 12:34", False), t("mcp__figma__get_node", {"file": "Sora", "node": "{n}:{d}"}, "<frame name='{w}'>")],
    [t("mcp__figma__get_node", {"file": "Sora", "node": "1{n}-{d}"}, "Error: node id must have the form 12:34", False), t("mcp__figma__get_node", {"file": "Sora", "node": "1{n}:{d}"}, "<frame name='{mod}'>")]],
    [["…:…", "12:34", ":"], ["node"]], tasks=EN, files=["src/{mod}.tsx", "src/{w}.tsx"], test=JS, fill=M, rule="node ids with a colon")
# ---- refusals
project("shelduck", "refusal", [
    [no(b("git commit -am '{w} in {mod}'"), "sign your commits off, use -s"), b("git commit -s -am '{w} in {mod}'", "[main {n}af] {w} in {mod}")],
    [no(b("git commit -m 'fix {w}' -- src/{mod}"), "with sign-off please: git commit -s"), b("git commit -s -m 'fix {w}' -- src/{mod}", "[main {n}bc] fix {w}")]],
    [["commit -s", "`-s`", "sign-off", "-s "]], tasks=[x + ", then commit" for x in EN], files=["src/{mod}/{w}.go", "src/{mod}/{v}.go"], test=GO, fill=M, rule="git commit -s")
project("smew-prod", "refusal", [
    [no(b("ssh prod-{d} 'systemctl restart {mod}'"), "not by hand on prod! use ./deploy restart"), b("./deploy restart {mod}", "restarted {mod} on {d} hosts")],
    [no(b("ssh prod-{d} 'sudo systemctl restart {mod}-{w}'"), "use ./deploy restart for that, never ssh into prod"), b("./deploy restart {mod}-{w}", "restarted")]],
    [["./deploy restart"]], tasks=["{mod} hangs, restart it", "new {w} in {mod}, roll it out", "the config of {mod} changed: {w}; make it live"], files=["conf/{mod}.toml", "conf/{w}.toml"], test=("./deploy status {mod}", "ok {n}", "degraded: {w}"), fill=M, rule="./deploy restart")
project("wigeon-ru", "refusal", [
    [no(b("pip install {pkg}"), "не ставь пакеты через pip, добавь в environment.yml и запусти mamba env update"), e("environment.yml", "dependencies:", "dependencies:\n  - {pkg}"), b("mamba env update -f environment.yml", "Transaction finished")],
    [no(b("pip install -U {pkg}"), "только через mamba env update, pip не трогай"), e("environment.yml", "- {pkg}", "- {pkg}>={d}"), b("mamba env update -f environment.yml", "Transaction finished")]],
    [["mamba"]], lang="ru", tasks=RU, files=["lib/{mod}.py", "lib/{w}.py"], test=PY, fill={**M, "pkg": ["rich", "attrs", "httpx", "orjson", "polars", "anyio", "click", "pyyaml"]}, rule="mamba env update, not pip")
# ---- requests that recur in other words
project("gadwall", "request", [
    [u("please also put a line about it into CHANGELOG.md"), e("CHANGELOG.md", "## Unreleased", "## Unreleased\n- {w} in {mod}")],
    [u("and the CHANGELOG.md entry?"), e("CHANGELOG.md", "## Unreleased", "## Unreleased\n- {mod}: {w}")],
    [u("you forgot the changelog, add it to CHANGELOG.md"), e("CHANGELOG.md", "## Unreleased", "## Unreleased\n- {w} of {mod}")]],
    [["changelog"]], tasks=EN, files=["src/{mod}/{w}.py", "src/{mod}/{v}.py"], test=PY, fill=M, rule="add a line to CHANGELOG.md")
project("teal-de", "request", [
    [u("Lass bitte noch make lint laufen"), b("make lint", "ok")], [u("und make lint? Bitte immer am Ende"), b("make lint", "ok")], [u("bitte noch einmal make lint ausführen, bevor du fertig bist"), b("make lint", "src/{mod}.py:{n}: E501", 2), b("make lint", "ok")]],
    [["make lint"]], lang="de", tasks=DE, files=["src/{mod}/{w}.py", "src/{mod}/{v}.py"], test=PY, fill=M, rule="am Ende make lint")
project("pochard-ru", "request", [
    [u("обнови ещё скриншоты: npm run shots"), b("npm run shots", "{n} shots written")], [u("а скриншоты? запусти npm run shots"), b("npm run shots", "{n} shots written")], [u("не забудь npm run shots после правки"), b("npm run shots", "{n} shots written")]],
    [["npm run shots"]], lang="ru", tasks=RU, files=["src/{mod}/{w}.ts", "src/{mod}/{v}.ts"], test=JS, fill=M, rule="npm run shots")
project("scaup-fr", "request", [
    [u("montre-moi le diff avant de committer"), b("git diff --stat", " src/{mod}.py | {d} +-")], [u("d'abord le diff, ensuite le commit"), b("git diff --stat", " src/{mod}.py | {n} +-")], [u("stop, je veux voir le diff avant chaque commit"), b("git diff", "-{w}\n+{v}")]],
    [["diff"]], lang="en", tasks=["ajoute {w} dans {mod}", "corrige {w} dans {mod}", "renomme {w} en {v} dans {mod}"], files=["src/{mod}/{w}.py", "src/{mod}/{v}.py"], test=PY, fill=M, rule="show the diff before a commit")
assert len(P) == 40, len(P)

# ---- nothing to learn: red checks of changing content, flakes, one-off slips, outages, wishes of one task, copies of habits
def nothing(name, show, **kw): project(name, "none", show, [], learn=False, **kw)
nothing("none-red", [[b("pytest -q tests/{mod}_test.py", "FAILED tests/{mod}_test.py::test_{w} - assert {n} == {d}", 1), e("src/{mod}/{w}.py", "{n}", "{d}"), b("pytest -q tests/{mod}_test.py", "{n} passed")]] , tasks=EN, files=["src/{mod}/{w}.py"], test=PY, fill=M)
nothing("none-flaky", [[b("npm run e2e -- {mod}", "TimeoutError: page.click: Timeout {n}000ms exceeded.", 1), b("npm run e2e -- {mod}", "{n} passed")], [b("npm run e2e -- {mod}", "Error: net::ERR_NETWORK_CHANGED", 1), b("git status --short", " M src/{mod}.ts"), b("npm run e2e -- {mod}", "{n} passed")]], tasks=EN, files=["src/{mod}/{w}.ts"], test=JS, fill=M)
nothing("none-typos", [[b("git comit -m '{w}'", "git: 'comit' is not a git command. See 'git --help'.", 1), b("git commit -m '{w}'", "[main] {w}")], [b("cat src/{mod}/{w}s.py", "cat: src/{mod}/{w}s.py: No such file or directory", 1), b("cat src/{mod}/{w}.py", "{v} = {n}")], [b("ls sr/{mod}", "ls: cannot access 'sr/{mod}': No such file or directory", 2), b("ls src/{mod}", "{w}.py")], [b("python -m {mod}.{w}", "No module named {mod}.{w}", 1), b("python -m src.{mod}", "{n}")]], tasks=EN, files=["src/{mod}/{w}.py"], test=PY, fill=M)
nothing("none-outage", [[b("git fetch origin", "fatal: unable to access 'https://git.example/x/': Could not resolve host: git.example", 128), b("sleep {n}", ""), b("git fetch origin", "From https://git.example/x")], [b("pip download {w}kit", "ERROR: HTTP error 503 while getting https://pypi.org/simple/{w}kit", 1), b("pip download {w}kit", "Saved ./{w}kit.whl")]], tasks=EN, files=["src/{mod}/{w}.py"], test=PY, fill=M)
nothing("none-tasks", [[u("make the {w} bold, and the {v} a little smaller"), e("src/{mod}/{w}.ts", "{d}px", "{n}px")], [u("hm, rather {n} than {d}"), e("src/{mod}/{w}.ts", "{d}", "{n}")], [u("now the same for {v}"), e("src/{mod}/{v}.ts", "{d}", "{n}")]], tasks=EN, files=["src/{mod}/{w}.ts", "src/{mod}/{v}.ts"], test=JS, fill=M)
nothing("none-lint", [[b("npx eslint src/{mod}", "{n}:{d}  error  '{w}' is defined but never used", 1), e("src/{mod}/{w}.ts", "{w}", ""), b("npx eslint src/{mod}", "")], [b("npx eslint src/{mod}", "{n}:{d}  error  Expected '===' and instead saw '=='", 1), e("src/{mod}/{v}.ts", "==", "==="), b("npx eslint src/{mod}", "")]], tasks=EN, files=["src/{mod}/{w}.ts", "src/{mod}/{v}.ts"], test=JS, fill=M)
nothing("none-searches", [[b("grep -rn {w}Handler src", "", 1), b("grep -rn '{v}' src", "src/{mod}/{v}.py:{n}"), r("src/{mod}/{v}.py")], [t("Glob", {"pattern": "**/{w}_{v}.py"}, "No files found"), t("Grep", {"pattern": "{w}", "path": "src"}, "src/{mod}/{w}.py")]], tasks=EN, files=["src/{mod}/{w}.py", "src/{mod}/{v}.py"], test=PY, fill=M)
nothing("none-no", [[no(b("rm -rf build/{mod}"), "leave it for now, I still need {w}"), b("ls build", "{mod}")], [no(e("src/{mod}/{w}.py", "{n}", "{d}"), "no, {n} is right here, look at {v}"), r("src/{mod}/{v}.py")], [no(b("git push origin {mod}"), "wait, the {w} is not done"), e("src/{mod}/{w}.py", "{v}", "{w}")]], tasks=EN, files=["src/{mod}/{w}.py", "src/{mod}/{v}.py"], test=PY, fill=M)
nothing("none-compile", [[b("cargo build -p {mod}", "error[E0308]: mismatched types\n --> {mod}/src/{w}.rs:{n}:{d}", 101), e("{mod}/src/{w}.rs", "{v}", "{v}.into()"), b("cargo build -p {mod}", "Finished")], [b("cargo build -p {mod}", "error[E0425]: cannot find value `{w}` in this scope", 101), e("{mod}/src/{v}.rs", "{w}", "self.{w}"), b("cargo build -p {mod}", "Finished")]], tasks=EN, files=["{mod}/src/{w}.rs", "{mod}/src/{v}.rs"], test=RS, fill=M)
nothing("none-habits", [[b("git status --short", " M src/{mod}.py"), b("make test-{mod}", "{w}: FAILED\nmake: *** [test-{mod}] Error 1", 2), b("git diff src/{mod}.py", "-{w}\n+{v}"), e("src/{mod}.py", "{w}", "{v}"), b("git status --short", " M src/{mod}.py"), b("make test-{mod}", "ok {n}")], [b("make test-{mod}", "Segmentation fault", 139), b("git diff src/{mod}.py", "+{v}"), b("make test-{mod}", "ok {n}")]], tasks=EN, files=["src/{mod}.py", "src/{w}.py"], test=("make lint-{mod}", "ok", "E501 {w}"), fill=M)
assert len(P) == 50
