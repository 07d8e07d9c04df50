"""Secrets of many formats, made up at random from their documented shapes (none is real), planted in many contexts."""

import base64
import json
import random
import string
import urllib.parse
import uuid
from collections.abc import Callable
from typing import NamedTuple

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM = UPPER + LOWER + DIGITS
SLUG = ALNUM + "-_"
HEX = DIGITS + "abcdef"
BASE64 = ALNUM + "+/"


class Format(NamedTuple):
    """A kind of secret. `shape` makes one; `name` is the variable that people keep it in."""

    name: str
    shape: Callable[[random.Random], str]
    variable: str
    bare: bool = True  # recognisable without its name


class Planted(NamedTuple):
    text: str
    traces: tuple[str, ...]  # what must not be left
    is_arguments: bool = False


def some(alphabet: str, length: int) -> Callable[[random.Random], str]:
    return lambda chance: "".join(chance.choices(alphabet, k=length))


def shaped(*pieces: str | tuple[str, int]) -> Callable[[random.Random], str]:
    def make(chance: random.Random) -> str:
        return "".join(piece if isinstance(piece, str) else some(*piece)(chance) for piece in pieces)

    return make


def password(chance: random.Random) -> str:
    """Letters with digits and symbols, as a person or a generator would set one."""
    word = "".join(chance.choices(LOWER, k=chance.randint(4, 9)))
    extra = chance.choices(DIGITS, k=chance.randint(1, 4)) + chance.choices("!@#%^*-_+=?.", k=chance.randint(1, 2))
    chance.shuffle(extra)
    text = chance.choice((word, word.capitalize())) + "".join(extra) + chance.choice(ALNUM)
    return text if chance.random() < 0.6 else "".join(chance.choices(ALNUM, k=chance.randint(12, 24))) + "7q"


def jwt(chance: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    claims = {"sub": str(chance.randint(1, 10**9)), "iat": chance.randint(1, 2**31)}
    return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(claims)}.{some(SLUG, 43)(chance)}"


def pem(label: str) -> Callable[[random.Random], str]:
    def make(chance: random.Random) -> str:
        lines = [some(BASE64, 64)(chance) for _ in range(chance.randint(3, 24))] + [some(BASE64, 30)(chance) + "=="]
        return f"-----BEGIN {label}-----\n" + "\n".join(lines) + f"\n-----END {label}-----"

    return make


def telegram(chance: random.Random) -> str:
    return f"{chance.randint(10**8, 10**10 - 1)}:AA{some(SLUG, 33)(chance)}"


FORMATS = (
    Format("aws-key-id", shaped("AKIA", (UPPER + "234567", 16)), "AWS_ACCESS_KEY_ID"),
    Format("aws-secret-key", some(BASE64, 40), "AWS_SECRET_ACCESS_KEY", bare=False),
    Format("github-classic", shaped("ghp_", (ALNUM, 36)), "GITHUB_TOKEN"),
    Format("github-app", shaped("ghs_", (ALNUM, 36)), "GH_TOKEN"),
    Format("github-fine-grained", shaped("github_pat_", (ALNUM, 22), "_", (ALNUM, 59)), "GITHUB_PAT"),
    Format("gitlab", shaped("glpat-", (SLUG, 20)), "GITLAB_TOKEN"),
    Format("slack-bot", shaped("xoxb-", (DIGITS, 12), "-", (DIGITS, 12), "-", (ALNUM, 24)), "SLACK_BOT_TOKEN"),
    Format(
        "slack-webhook",
        shaped("https://hooks.slack.com/services/T", (UPPER + DIGITS, 8), "/B", (UPPER + DIGITS, 8), "/", (ALNUM, 24)),
        "SLACK_WEBHOOK_URL",
    ),
    Format("stripe-live", shaped("sk_live_", (ALNUM, 24)), "STRIPE_SECRET_KEY"),
    Format("openai-legacy", shaped("sk-", (ALNUM, 20), "T3BlbkFJ", (ALNUM, 20)), "OPENAI_API_KEY"),
    Format("openai-project", shaped("sk-proj-", (SLUG, 74), "T3BlbkFJ", (SLUG, 74)), "OPENAI_API_KEY"),
    Format("anthropic", shaped("sk-ant-api03-", (SLUG, 93), "AA"), "ANTHROPIC_API_KEY"),
    Format("google-api", shaped("AIza", (SLUG, 35)), "GOOGLE_API_KEY"),
    Format("google-oauth", shaped("ya29.", (SLUG, 120)), "GOOGLE_OAUTH_TOKEN"),
    Format("google-client-secret", shaped("GOCSPX-", (SLUG, 28)), "GOOGLE_CLIENT_SECRET"),
    Format("azure-storage", shaped("AccountKey=", (BASE64, 86), "=="), "AZURE_STORAGE_KEY"),
    Format("azure-client-secret", shaped((ALNUM, 3), "8Q~", (ALNUM + "._~-", 34)), "AZURE_CLIENT_SECRET"),
    Format("npm", shaped("npm_", (ALNUM, 36)), "NPM_TOKEN"),
    Format("pypi", shaped("pypi-AgEIcHlwaS5vcmc", (SLUG, 150)), "PYPI_TOKEN"),
    Format("huggingface", shaped("hf_", (UPPER + LOWER, 34)), "HF_TOKEN"),
    Format("sendgrid", shaped("SG.", (SLUG, 22), ".", (SLUG, 43)), "SENDGRID_API_KEY"),
    Format("twilio-key", shaped("SK", (HEX, 32)), "TWILIO_API_KEY"),
    Format("twilio-auth", some(HEX, 32), "TWILIO_AUTH_TOKEN", bare=False),
    Format("telegram", telegram, "TELEGRAM_BOT_TOKEN"),
    Format("discord", shaped("M", (ALNUM, 25), ".", (SLUG, 6), ".", (SLUG, 38)), "DISCORD_TOKEN"),
    Format("digitalocean", shaped("dop_v1_", (HEX, 64)), "DIGITALOCEAN_TOKEN"),
    Format("databricks", shaped("dapi", (HEX, 32)), "DATABRICKS_TOKEN"),
    Format("linear", shaped("lin_api_", (ALNUM, 40)), "LINEAR_API_KEY"),
    Format("vault", shaped("hvs.", (SLUG, 90)), "VAULT_TOKEN"),
    Format("docker", shaped("dckr_pat_", (SLUG, 27)), "DOCKER_TOKEN"),
    Format("groq", shaped("gsk_", (ALNUM, 52)), "GROQ_API_KEY"),
    Format("xai", shaped("xai-", (ALNUM, 80)), "XAI_API_KEY"),
    Format("supabase", shaped("sbp_", (HEX, 40)), "SUPABASE_ACCESS_TOKEN"),
    Format("shopify", shaped("shpat_", (HEX, 32)), "SHOPIFY_TOKEN"),
    Format("square", shaped("sq0atp-", (SLUG, 22)), "SQUARE_TOKEN"),
    Format("mailgun", shaped("key-", (HEX, 32)), "MAILGUN_KEY"),
    Format("sentry", shaped("sntryu_", (HEX, 64)), "SENTRY_AUTH_TOKEN"),
    Format("newrelic", shaped("NRAK-", (UPPER + DIGITS, 27)), "NEW_RELIC_API_KEY"),
    Format("age", shaped("AGE-SECRET-KEY-1", (UPPER + DIGITS, 58)), "AGE_KEY"),
    Format("jwt", jwt, "SESSION_JWT"),
    Format("rsa-key", pem("RSA PRIVATE KEY"), "TLS_PRIVATE_KEY"),
    Format("openssh-key", pem("OPENSSH PRIVATE KEY"), "SSH_PRIVATE_KEY"),
    Format("pgp-key", pem("PGP PRIVATE KEY BLOCK"), "PGP_PRIVATE_KEY"),
    Format(
        "sentry-dsn",
        shaped("https://", (HEX, 32), "@o", (DIGITS, 6), ".ingest.sentry.io/", (DIGITS, 7)),
        "SENTRY_DSN",
    ),
    Format("sentry-org", shaped("sntrys_", (ALNUM, 90), "_", (ALNUM, 43)), "SENTRY_AUTH_TOKEN"),
    Format("grafana", shaped("glsa_", (ALNUM, 32), "_", (HEX, 8)), "GRAFANA_TOKEN"),
    Format("cloudflare-ca", shaped("v1.0-", (HEX, 24), "-", (HEX, 146)), "CLOUDFLARE_CA_KEY"),
    Format("cloudflare-token", some(SLUG, 40), "CLOUDFLARE_API_TOKEN", bare=False),
    Format("fernet", shaped((SLUG, 43), "="), "FERNET_KEY", bare=False),
    Format("password", password, "DB_PASSWORD", bare=False),
    Format("generic-api-key", some(HEX, 40), "WEATHER_API_KEY", bare=False),
    Format("generic-secret", some(ALNUM, 32), "SESSION_SECRET", bare=False),
    Format(
        "uuid-token", lambda chance: str(uuid.UUID(int=chance.getrandbits(128), version=4)), "POSTMARK_TOKEN", False
    ),
    Format("gemini", shaped("AQ.Ab8", (SLUG, 47)), "GEMINI_API_KEY"),
    Format("bedrock", shaped("ABSK", (BASE64, 128), "="), "AWS_BEARER_TOKEN_BEDROCK"),
    Format("cursor", shaped("crsr_", (HEX, 64)), "CURSOR_API_KEY"),
    Format("together", shaped("tgp_v1_", (SLUG, 43)), "TOGETHER_API_KEY"),
    Format("voyage", shaped("pa-", (SLUG, 43)), "VOYAGE_API_KEY"),
    Format("jina", shaped("jina_", (ALNUM, 60)), "JINA_API_KEY"),
    Format("wandb", shaped("wandb_v1_", (ALNUM, 27), "_", (ALNUM, 49)), "WANDB_API_KEY"),
    Format("modal", shaped("as-", (ALNUM, 22)), "MODAL_TOKEN_SECRET"),
    Format("neon", shaped("npg_", (ALNUM, 12)), "PGPASSWORD"),
    Format("nuget", shaped("oy2", (LOWER + DIGITS, 43)), "NUGET_API_KEY"),
    Format("snyk", shaped("snyk_uat.", (HEX, 8), ".", (SLUG, 24), ".", (SLUG, 11)), "SNYK_TOKEN"),
    Format("zhipu", shaped((HEX, 32), ".", (ALNUM, 16)), "ZHIPU_API_KEY"),
    Format("runpod", shaped("rpa_", (UPPER + DIGITS, 44)), "RUNPOD_API_KEY"),
    Format("apify", shaped("apify_api_", (ALNUM, 36)), "APIFY_TOKEN"),
    Format("openshift", shaped("sha256~", (SLUG, 43)), "OPENSHIFT_TOKEN"),
)


def traces_of(value: str) -> tuple[str, ...]:
    """The parts of a secret that would give it away: itself, or each full line of a private key."""
    if value.startswith("-----BEGIN"):
        return tuple(line for line in value.splitlines() if len(line) == 64)
    return (value.removeprefix("AccountKey=").removeprefix("https://hooks.slack.com/services/"),)


def camel(variable: str) -> str:
    first, *rest = variable.lower().split("_")
    return first + "".join(word.capitalize() for word in rest)


def in_prose(form: Format, value: str, _: random.Random) -> Planted:
    words = form.variable.lower().replace("_", " ")
    return Planted(f"Sure! The {words} is {value} and it still works, so please do not post it.", traces_of(value))


def in_shell(form: Format, value: str, chance: random.Random) -> Planted:
    if form.name == "password":
        commands = [
            f"mysql -u root -p'{value}' shop",
            f"curl -u admin:{value} https://api.corp.io/v1",
            f"sshpass -p {value} ssh me@h",
            f"psql postgres://app:{urllib.parse.quote(value)}@10.0.0.7:5432/shop",
            f"PGPASSWORD='{value}' psql -h db",
            f"deploy --password {value} --verbose",
            f'deploy --password="{value}"',
        ]
        return Planted(chance.choice(commands), (value, urllib.parse.quote(value)))
    commands = [
        f'export {form.variable}="{value}" && make deploy',
        f"{form.variable}='{value}' ./run.sh",
        f"docker run -e {form.variable}={value} app",
    ]
    if form.bare:
        commands[2] = f'gh secret set {form.variable} --body "{value}"'
    return Planted(chance.choice(commands), traces_of(value))


def in_dotenv(form: Format, value: str, _: random.Random) -> Planted:
    shown = '"' + value.replace("\n", "\\n") + '"' if "\n" in value else value
    return Planted(f"NODE_ENV=production\nPORT=3000\n{form.variable}={shown}\nDEBUG=false\n", traces_of(value))


def in_arguments(form: Format, value: str, _: random.Random) -> Planted:
    text = json.dumps({"path": "config.json", "options": {camel(form.variable): value, "retries": 3}})
    return Planted(text, (*traces_of(value), *(json.dumps(trace)[1:-1] for trace in traces_of(value))), True)


def in_json_twice(form: Format, value: str, _: random.Random) -> Planted:
    inner = json.dumps({form.variable.lower(): value, "region": "eu"})
    text = json.dumps({"ok": True, "body": json.dumps({"data": inner})})
    return Planted(text, traces_of(value))


def in_yaml(form: Format, value: str, _: random.Random) -> Planted:
    if "\n" in value:
        shown = "|\n" + "\n".join(f"      {line}" for line in value.splitlines())
    else:
        shown = value if value[0].isalnum() else f'"{value}"'
    return Planted(
        f"service:\n  name: web\n  env:\n    {form.variable.lower()}: {shown}\n  port: 80\n", traces_of(value)
    )


def in_url(form: Format, value: str, chance: random.Random) -> Planted:
    if form.name.endswith("webhook"):
        return Planted(f"POST {value} HTTP/1.1", traces_of(value))
    quoted = urllib.parse.quote(value, safe="")
    if form.name == "password":
        text = chance.choice(
            ("postgresql://app:{}@db.corp.io:5432/x", "redis://:{}@cache:6379/0", "https://bot:{}@git.corp.io/x")
        )
        return Planted(f"remote: {text.format(quoted)} (fetch)", (quoted,))
    parameter = chance.choice(("access_token", "api_key", "token"))
    return Planted(f"GET https://api.corp.io/v2/items?page=2&{parameter}={quoted}&limit=50", traces_of(quoted))


def in_python(form: Format, value: str, chance: random.Random) -> Planted:
    shown = repr(value)
    lines = (
        f"{form.variable} = {shown}", f"client = Client({form.variable.lower()}={shown}, timeout=3)",
        f'os.environ["{form.variable}"] = {shown}', f'headers = {{"{form.variable.lower()}": {shown}}}',
        f'key = os.getenv("{form.variable}", {shown})',
    )  # fmt: skip
    return Planted(f"import os\n\n{chance.choice(lines)}\nprint(client.ok)\n", traces_of(value))


def in_base64(form: Format, value: str, _: random.Random) -> Planted:
    hidden = base64.b64encode(f"{form.variable}={value}\n".encode()).decode()
    return Planted(f"echo {hidden} | base64 -d > .env", (hidden,))


def in_headers(form: Format, value: str, chance: random.Random) -> Planted:
    flat = value.replace("\n", "\\n")
    if form.name == "password":
        login = base64.b64encode(f"admin:{value}".encode()).decode()
        return Planted(f"> GET /v1 HTTP/2\n> host: x.io\n> authorization: Basic {login}\n> accept: */*\n", (login,))
    header = chance.choice(
        (
            f"authorization: Bearer {flat}",
            f"X-Api-Key: {flat}",
            f"x-auth-token: {flat}",
            f"Cookie: theme=dark; session={flat}; lang=en",
        )
    )
    return Planted(f"> POST /v1/items HTTP/2\n> host: api.corp.io\n> {header}\n> accept: */*\n", traces_of(value))


def in_log(form: Format, value: str, chance: random.Random) -> Planted:
    flat = value.replace("\n", "\\n")
    name = form.variable.lower()
    text = chance.choice(
        (
            f"connecting with {name}={flat} attempt=1",
            f'config loaded {{"{name}":"{flat}","tls":true}}',
            f"{name}: {flat} rejected (401)",
        )
    )
    return Planted(f"2025-03-04T10:11:12.345Z INFO  [worker-3] {text}", traces_of(value))


def in_kubernetes(form: Format, value: str, _: random.Random) -> Planted:
    hidden = base64.b64encode(value.encode()).decode()
    key = form.variable.lower().replace("_", "-")
    return Planted(f"apiVersion: v1\nkind: Secret\ntype: Opaque\ndata:\n  {key}: {hidden}\n", (hidden,))


def in_numbered_file(form: Format, value: str, _: random.Random) -> Planted:
    lines = [
        "[production]",
        "host = db.corp.io",
        *f'{form.variable.lower()} = "{value}"'.splitlines(),
        "retries = 3",
    ]
    return Planted("\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, 1)), traces_of(value))


def in_diff(form: Format, value: str, _: random.Random) -> Planted:
    old = "\n".join(f"-{line}" for line in f"  {form.variable}: '{value}',".splitlines())
    return Planted(
        f"@@ -3,7 +3,7 @@ module.exports = {{\n   port: 1,\n{old}\n+  {form.variable}: process.env.X,\n",
        traces_of(value),
    )


def in_terraform(form: Format, value: str, _: random.Random) -> Planted:
    shown = f"<<EOT\n{value}\nEOT" if "\n" in value else f'"{value}"'
    text = f'resource "aws_instance" "web" {{\n  ami = "ami-0abc"\n  {form.variable.lower()}   = {shown}\n}}\n'
    return Planted(text, traces_of(value))


def in_properties(form: Format, value: str, _: random.Random) -> Planted:
    name = form.variable.lower().replace("_", ".")
    return Planted(f"server.port=8080\napp.{name}={value}\napp.debug=false\n", traces_of(value))


def in_compose(form: Format, value: str, _: random.Random) -> Planted:
    shown = value.replace("\n", "\\n")
    text = f"services:\n  web:\n    image: app\n    environment:\n      - PORT=80\n      - {form.variable}={shown}\n"
    return Planted(text, traces_of(value))


def in_json_lines(form: Format, value: str, _: random.Random) -> Planted:
    record = {"level": "warn", "ctx": {"env": {form.variable: value}}, "msg": "retry"}
    return Planted(json.dumps(record, separators=(",", ":")) + "\n" + json.dumps({"level": "info"}), traces_of(value))


def in_request_body(form: Format, value: str, _: random.Random) -> Planted:
    body = json.dumps({"user": "bob", camel(form.variable): value})
    command = f"curl -s -X POST https://api.corp.io/login -H 'Content-Type: application/json' -d '{body}'"
    return Planted(json.dumps({"command": command, "timeout": 30}), traces_of(value), is_arguments=True)


def in_javascript(form: Format, value: str, chance: random.Random) -> Planted:
    shown = "`" + value + "`" if "\n" in value else chance.choice(("'", '"', "`")) * 2
    shown = shown if "\n" in value else shown[0] + value + shown[0]
    name = camel(form.variable)
    lines = (
        f"const {name} = {shown};",
        f"export default {{ {name}: {shown}, retries: 3 }};",
        f"process.env.{form.variable} = {shown};",
        f"const {form.variable} = process.env.{form.variable} || {shown};",
    )
    return Planted(f"'use strict';\n{chance.choice(lines)}\nrun();\n", traces_of(value))


def in_report(form: Format, value: str, chance: random.Random) -> Planted:
    words = form.variable.replace("_", " ").capitalize()
    lines = (
        f"- **{words}**: `{value}`",
        f"{words}: {value}",
        f"I found a hardcoded {words.lower()} (`{value}`) in config.py",
    )
    return Planted(f"## Findings\n\n{chance.choice(lines)}\n\nRotate it.", traces_of(value))


COLOURS = (
    "\x1b[33m",
    "\x1b[1;32m",
    "\x1b[38;5;214m",
    "\x1b[38;2;1;2;3m",
    "\x1b[0m\x1b[32m",
    "\x9b36m",
    "\x1b[4m\x1b[7m",
)


def in_colours(form: Format, value: str, chance: random.Random) -> Planted:
    """As programs print a name and its value on a terminal."""
    colour, other = chance.choice(COLOURS), chance.choice(COLOURS)
    line = chance.choice(
        (
            f"{colour}{form.variable}\x1b[0m={other}{value}\x1b[0m",
            f'{colour}"{form.variable}"\x1b[0m: {other}"{value}"\x1b[0m,',
            f"\x1b[2m12:00\x1b[0m {colour}INFO\x1b[0m {form.variable}: {other}{value}\x1b[39m",
            f"+{colour}{form.variable} = {other}{value}\x1b[m\x1b[K",
        )
    )
    return Planted(f"$ env\n{line}\n", traces_of(value))


def in_spelled_colours(form: Format, value: str, chance: random.Random) -> Planted:
    """The same in a log that spells the escape character, or drops it."""
    mark = chance.choice(("\\u001b[", "\\x1b[", "\\e[", "\\033[", "^[[", "["))
    return Planted(f"{form.variable}={mark}32m{value}{mark}0m", traces_of(value))


Context = Callable[[Format, str, random.Random], Planted]
TUNED: tuple[Context, ...] = (
    in_prose, in_shell, in_dotenv, in_arguments, in_json_twice, in_yaml, in_url, in_python, in_base64,
)  # fmt: skip
HELD_OUT: tuple[Context, ...] = (in_headers, in_log, in_kubernetes, in_numbered_file, in_diff)

# Written when the rules were done; what the first run missed was then looked at.
LATER: tuple[Context, ...] = (
    in_terraform,
    in_properties,
    in_compose,
    in_json_lines,
    in_request_body,
    in_javascript,
    in_report,
)
COLOURED: tuple[Context, ...] = (in_colours, in_spelled_colours)


def planted(form: Format, context: Context, chance: random.Random) -> Planted | None:
    """One secret in one context, or nothing where the two cannot meet."""
    value = form.shape(chance)
    if "\n" in value and context in (in_url, in_shell, in_headers):
        return None
    return context(form, value, chance)


# Where programs keep one in a file of theirs; the place for it is marked by {}.
_JWK = "x9Xq2mD4" * 5
PLACES = (
    "db.example.com:5432:shop:kim:{}",
    "*:*:*:kim:{}",
    "localhost:6432:*:postgres:{}\nother:5433:a:b:{}",
    '{"auths": {"registry.example.com": {"identitytoken": "{}' + "aB3d" * 6 + '"}}}',
    '{"kty": "EC", "crv": "P-256", "x": "abc", "d": "{}' + _JWK + '"}',
    '{"d":"{}' + _JWK + '","kty":"RSA","n":"abc"}',
    '{"kty":"oct","k":"{}' + _JWK + '"}',
    "<key>Password</key>\n\t<string>{}</string>",
    "<key>apiToken</key><string>{}</string>",
    "-----BEGIN%20RSA%20PRIVATE%20KEY-----%0AMIIEpAIBAAKCAQEA{}"
    + "Zm9v" * 12
    + "%0A-----END%20RSA%20PRIVATE%20KEY-----",
    "-----BEGIN+PRIVATE+KEY-----%0D%0AMIIEvQIBADANBg{}" + "Zm9v" * 12,
    "machine example.com login kim password {}",
    '<add key="ClearTextPassword" value="{}" />',
)


# Where programs and databases take a password; the place for it is marked by {}.
COMMAND_LINES = (
    r"git config credential.x.password {}",
    r"gh secret set TOKEN --body {}",
    r"zip -r -P {} out.zip dir",
    r"zip -P '{}' out.zip dir",
    r"unzip -o -P {} out.zip",
    r"7z a -p{} out.7z dir",
    r"7za x -p'{}' out.7z",
    r"rar a -hp{} out.rar dir",
    r"htpasswd -b /etc/nginx/.htpasswd admin {}",
    r"htpasswd -bc .htpasswd admin '{}'",
    r"htpasswd -nbB admin {} > .htpasswd",
    r"net use Z: \\srv\share {} /user:bob",
    r"net use \\srv\share /user:CORP\bob {}",
    r"net user bob {} /add",
    r"smbclient //srv/share -U bob%{}",
    r"smbclient //srv/share -U 'CORP\bob%{}' -c ls",
    r"smbclient //srv/share --user=bob%{}",
    r"rpcclient -U bob%{} srv",
    r"ldapsearch -x -D cn=admin,dc=x -w {} -b dc=x",
    r"sqlcmd -S srv -U sa -P {} -Q 'select 1'",
    r"mongosh -u root -p {} --authenticationDatabase admin",
    r"echo 'bob:{}' | chpasswd",
    r'echo "root:{}" | sudo chpasswd',
    r"ALTER USER bob IDENTIFIED BY '{}';",
    r"CREATE USER bob WITH PASSWORD '{}';",
    r"CREATE ROLE bob LOGIN ENCRYPTED PASSWORD '{}'",
    r"sqlplus scott/{}@//db:1521/x",
    r"lftp -u bob,{} ftp.corp.io",
    r"xfreerdp /u:bob /p:{} /v:srv",
    r"psexec \\srv -u bob -p {} cmd",
    r"ipmitool -I lanplus -H h -U admin -P {} power on",
    r"openssl enc -aes-256-cbc -k {} -in a",
    r"keytool -importkeystore -deststorepass {} -v",
    r"mysqladmin -u root password {}",
    r"snmpwalk -v2c -c {} host",
    r'ConvertTo-SecureString "{}" -AsPlainText -Force',
    r"nmcli dev wifi connect net password {}",
    r'psk="{}"',
)


# What looks like a secret and is none: hashes, ids, public keys, code, and the stand-ins of documentation.
HARD_NEGATIVES = tuple(
    r"""
password: string
--- PASS: TestCapturedRunsFinalSpace (0.00s)
fileIpnsPrivateKey: Uint8Array;
token = get_token()
API_KEY=os.environ["API_KEY"]
secret: ${{ secrets.DEPLOY_KEY }}
password=changeme
export TOKEN=<your-key>
api_key = "xxxxxxxxxxxxxxxxxxxx"
API_KEY=YOUR_API_KEY
api_key: "YOUR_API_KEY_HERE"
OPENAI_API_KEY=sk-...
OPENAI_API_KEY="sk-your-key-here"
ANTHROPIC_API_KEY=sk-ant-xxxxxxxx
password: ********
"password": "***"
const token = await auth.getToken(user1);
token: req.headers.authorization.split(" ")[1]
if (password.length < 8) throw new Error("password: at least 8 characters");
postgres://user:password@localhost:5432/db
postgresql://postgres:postgres@localhost:5432/app
DATABASE_URL=postgres://${DB_USER}:${DB_PASS}@host/db
redis://localhost:6379/0
https://registry.npmjs.org:443/@scope/pkg
git@github.com:org/repo.git
max_tokens=4096, total_tokens: 105981
"input_tokens":18738,"cache_read_input_tokens":4992
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
commit 3f786850e387550fdab836ed7e6dc881de23001b
550e8400-e29b-41d4-a716-446655440000
"integrity": "sha512-9jXf0vPp1vRkQJrQ1F1vJ0kD3l0nVxkqJ7C1w0uJf9Cq0kS8pV7mQxq5N4Jm1cW2rZ8y3t6u7i8o9p0aSdFgHj=="
resolved "https://registry.yarnpkg.com/lodash/-/lodash-4.17.21.tgz#679591c564c3bffaae8454cf0b3df370c3d6911c"
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7vbqajDhA4x9Q1F1vJ0kD3l0nVxkqJ7C1w0uJf9Cq0kS8pV7m user@host
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0kD3l0nVxkqJ7C1w0uJf9Cq0kS8pV7mQxq5N4Jm1cW me@laptop
SHA256:uNiVztksCsDhcc0u9e8BrC7pHjYq1o9lq2fQwYxTzEo
color: #ff00aa; background: #1a2b3c4d
s3://my-bucket/path/to/2024-01-02/part-00000-3f78.parquet
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo\n-----END PUBLIC KEY-----
-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----
!function(e,t){"object"==typeof exports?t(exports):e.token=t(e.key)}(this,e=>{var n=e.secret||e.k1;return n})
--password string   Registry password
  -p, --password PASSWORD  the password
usage: tool --token TOKEN [--api-key KEY]
docker login -u foo --password-stdin
curl -u user:password https://example.com
curl -H "Authorization: Bearer $TOKEN" https://x
Authorization: Bearer <token>
headers = {"Authorization": f"Bearer {token}"}
'Authorization': 'Bearer ' + token
find / -type d -name mysql -print
mysql -u root -p shop
primary_key="user_id_2", foreign_key: "order_2"
cache_key = f"user:{id}:v2"
STORAGE_KEY = 'app-state-v1'
public_key: "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE7k3"
password_hash = bcrypt.hash(password, 10)
token_url: https://auth.corp.io/oauth2/token
AWS_SECRET_ACCESS_KEY: ${AWS_SECRET_ACCESS_KEY}
secretName: my-secret-v1
"jsonwebtoken": "^9.0.2"
secretKeyRef: {name: db, key: password}
The password is base64 encoded and must be at least 8 characters.
Your token is expired, please log in again
The token is invalid2 for this
Set the password to something you remember
type="password" id="pass1" name="password2"
password = request.form["password1"]
process.env.API_KEY || "test-api-key-123"
jwt.sign({ id: user.id1 }, process.env.JWT_SECRET)
e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  dist/app.tar.gz
sk-learn-contrib/imbalanced-learn and sk-estimator-checks
key=value&sort=asc&page=2
?key=title&token=next
session_id=550e8400-e29b-41d4-a716-446655440000
auth: required
npm_config_registry=https://registry.npmjs.org/
hf_hub_download(repo_id="bert-base-uncased", filename="config.json")
const API_TOKEN_HEADER = "X-Api-Token-V2";
assert token == "abc123"
password: "password123"
user.password = hashed_password_1
secret_manager.get("projects/p1/secrets/s1/versions/latest")
arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbCdEf
tokens/s: 123.4 token: 1.2ms
"token": {"type": "string", "description": "API token2"}
Bearer authentication is required for /v1/items/123
eyJhbGciOiJIUzI1NiJ9
aHR0cHM6Ly9leGFtcGxlLmNvbS9zb21lL3BhdGgvdG8vYS9maWxl
TG9yZW0gaXBzdW0gZG9sb3Igc2l0IGFtZXQsIGNvbnNlY3RldHVyIGFkaXBpc2NpbmcgZWxpdA==
/home/user/.config/secrets/token.json
{"file_path": "/src/auth/token.ts", "limit": 20}
from secrets import token_hex; key = token_hex(32)
password: !vault |
password: {{ vault_db_password }}
PASSWORD=$(pass show db/prod)
PGPASSWORD=$PGPASSWORD psql
SECRET_KEY = env("SECRET_KEY2")
passwd:x:1000:1000::/home/x:/bin/bash
root:x:0:0:root:/root:/bin/bash
zip -P "$ZIP_PASSWORD" out.zip dir
zip -P <password> out.zip
unzip -P password file.zip
7z x out.7z -p
7z a -pPASSWORD out.7z
htpasswd -c .htpasswd admin
htpasswd -nb user password
net use Z: \\srv\share /user:bob /persistent:yes
net use \\srv\share * /user:bob
net use Z: /delete
The net user growth increased by 4% in May.
net user bob /delete
smbclient //srv/share -U bob
smbclient -U 'user%password' //srv/share
date -u +%Y-%m-%dT%H:%M:%SZ
printf '%s%s' -U a%b
ldapsearch -x -D cn=admin -W -b dc=x
sqlcmd -S srv -E -Q 'select 1'
mongosh -u root -p
mkdir -p build/a1 && mongodump --db x
echo user:password | chpasswd
CREATE USER test WITH PASSWORD 'password';
ALTER USER bob IDENTIFIED BY RANDOM PASSWORD;
sqlplus / as sysdba
lftp -u anonymous, ftp.corp.io
openssl enc -aes-256-cbc -k $KEY -in a
snmpwalk -v2c -c public host
keytool -list -storepass changeit
mysqladmin -u root password
from cryptography.fernet import Fernet; Fernet(key)
Fernet.generate_key() gives 44 characters
https://example.com/users/12@v2/4504
v1.0-rc1-3f7868
A mnemonic for the planets: my very educated mother just served us noodles at the farm for lunch today
The seed phrase is twelve or twenty four words that restore a wallet and must never be shared with anyone
recovery phrase: write down the words and keep them in a safe place where nobody can find them
the recovery took about twelve words more than before while under heavy load from other users again
seed: 42
mnemonic = generate_mnemonic(strength=128)
Telegram bot at 10:30, see https://t.me/bot
12:34:56 bot started
""".strip().splitlines()
)
