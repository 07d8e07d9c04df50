"""Redaction: what is a secret, what is not, and what a placeholder promises."""

import base64
import itertools
import json
import urllib.parse
from urllib.parse import quote

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from lengths import examples
from quickness import is_linear
from whet.secrets.contexts import RULES
from whet.secrets.redactor import PLACEHOLDER, Redactor, redact, secret_values
from whet.secrets.scan import find, judge
from whet.sessions import transcripts
from whet.sessions.transcripts import Media, Message, Role, Text, Thought, ToolCall, ToolResult, Transcript
from whet.sessions.trust import Trust

MIXED = "Zk3jQ9wLr7TbX2mN8vYcP5sHdG4fKa6uEe1oRi0WqUtVnBxCyMzJlIgFhDpSaTw3"
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
# Put together here, so that no scanner of this repository takes them for real ones.
GITHUB = "ghp_" + MIXED[:36]
AWS_ID = "AKIA" + "Q3EGRIBB4ZLM7XTW"
PASSWORD = "tr0ub4dor!X"
KEY_LINES = [MIXED, MIXED[::-1], MIXED[3:] + "abc"]
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join(KEY_LINES) + "\n-----END RSA PRIVATE KEY-----"

MARKED = {
    "aws-key-id": AWS_ID,
    "adyen-key": "AQE" + MIXED + "==-" + MIXED[:44] + "=-" + MIXED[:12],
    "github-token": GITHUB,
    "gitlab-token": "glpat-" + MIXED[:20],
    "slack-token": "xoxb-123456789012-123456789012-" + MIXED[:24],
    "slack-webhook": "hooks.slack.com/services/T0123ABCD/B0123ABCD/" + MIXED[:24],
    "stripe-key": "sk_live_" + MIXED[:24],
    "anthropic-key": "sk-ant-api03-" + MIXED + MIXED[:29] + "AA",
    "openai-key": "sk-proj-" + MIXED,
    "google-key": "AIza" + MIXED[:35],
    "google-token": "ya29." + MIXED,
    "google-client-secret": "GOCSPX-" + MIXED[:28],
    "azure-key": "AccountKey=" + (MIXED + MIXED)[:86] + "==",
    "npm-token": "npm_" + MIXED[:36],
    "pypi-token": "pypi-AgEIcHlwaS5vcmc" + MIXED,
    "huggingface-token": "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH",
    "sendgrid-key": "SG." + MIXED[:22] + "." + MIXED[:43],
    "twilio-key": "SK" + HEX[:32],
    "telegram-token": "123456789:AA" + MIXED[:33],
    "discord-token": "M" + MIXED[:25] + "." + MIXED[:6] + "." + MIXED[:38],
    "digitalocean-token": "dop_v1_" + HEX,
    "databricks-token": "dapi" + HEX[:32],
    "linear-key": "lin_api_" + MIXED[:40],
    "vault-token": "hvs." + MIXED,
    "docker-token": "dckr_pat_" + MIXED[:27],
    "groq-key": "gsk_" + MIXED[:52],
    "xai-key": "xai-" + MIXED + MIXED[:16],
    "supabase-key": "sbp_" + HEX[:40],
    "shopify-token": "shpat_" + HEX[:32],
    "square-token": "sq0atp-" + MIXED[:22],
    "mailgun-key": "key-" + HEX[:32],
    "sentry-token": "sntryu_" + HEX,
    "newrelic-key": "NRAK-" + MIXED.upper()[:27],
    "age-key": "AGE-SECRET-KEY-1" + MIXED.upper()[:58],
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9." + MIXED[:43],
    "bedrock-key": "ABSK" + MIXED + MIXED,
    "cursor-key": "crsr_" + HEX,
    "together-key": "tgp_v1_" + MIXED[:43],
    "voyage-key": "pa-" + MIXED[:43],
    "jina-key": "jina_" + MIXED[:60],
    "wandb-key": "wandb_v1_" + MIXED[:27] + "_" + MIXED[:49],
    "modal-token": "as-" + MIXED[:22],
    "neon-password": "npg_" + MIXED[:12],
    "nuget-key": "oy2" + MIXED.lower()[:43],
    "snyk-token": "snyk_uat." + HEX[:8] + "." + MIXED[:24] + "." + MIXED[:11],
}

IN_PLACE = {
    f"DB_PASSWORD={PASSWORD}\nPORT=1": PASSWORD,
    f'export API_TOKEN="{MIXED[:12]}" && make': MIXED[:12],
    f"password: {PASSWORD}\nuser: bob": PASSWORD,
    f'{{"clientSecret": "{MIXED[:20]}"}}': MIXED[:20],
    f'{{\\"password\\": \\"{PASSWORD}\\"}}': PASSWORD,
    f"postgres://app:{PASSWORD}@db:5432/x": PASSWORD,
    f"https://bot:{MIXED[:20]}@git.corp.io/x.git": MIXED[:20],
    f"curl -u bob:{PASSWORD} https://api.corp.io": PASSWORD,
    f"sshpass -p {PASSWORD} ssh bob@host": PASSWORD,
    f"mysql -u root -p{PASSWORD} shop": PASSWORD,
    f"deploy --password {PASSWORD} -v": PASSWORD,
    f"> authorization: Bearer {MIXED[:30]}\n": MIXED[:30],
    "Authorization: Basic " + base64.b64encode(b"bob:tr0ub4dor!X").decode(): "Ym9iOnRy",
    f"Cookie: theme=dark; session={MIXED[:24]}; lang=en": MIXED[:24],
    f"GET /x?page=1&access_token={MIXED[:20]}&n=2": MIXED[:20],
    f"{AWS_ID},{(MIXED + HEX)[:38]}/+\n": MIXED[:30],
    f"- name: DB_PASSWORD\n  value: {PASSWORD}\n": PASSWORD,
    f"machine x.io login bob password {PASSWORD}": PASSWORD,
    f"<password>{PASSWORD}</password>": PASSWORD,
    f"The password is {PASSWORD}.": PASSWORD,
    f"USER: bob\nPASS: {PASSWORD}": PASSWORD,
    f"export PASS={PASSWORD}": PASSWORD,
    "data:\n  password: " + base64.b64encode(PASSWORD.encode()).decode(): "dHIwdWI0",
    f"root:$6$abcdefgh${MIXED}:19000:0": MIXED,
    f"db.corp.io:5432:shop:kim:{PASSWORD}": PASSWORD,
    f'{{"identitytoken": "{MIXED[:40]}"}}': MIXED[:40],
    f'{{"kty":"EC","x":"abc","d":"{MIXED[:43]}"}}': MIXED[:43],
    f"<key>Password</key>\n<string>{PASSWORD}</string>": PASSWORD,
    f"| name | value |\n|---|---|\n| db password | `{PASSWORD}` |": PASSWORD,
    f"$password = q({PASSWORD});": PASSWORD,
    f'auto token = R"({MIXED[:20]})";': MIXED[:20],
    'password: "XkQvbTzRwLpJ"': "XkQvbTzRwLpJ",
    f"password = rb'{PASSWORD}'": PASSWORD,
    f'var password = @"{PASSWORD}";': PASSWORD,
    f"ALTER LOGIN bob WITH PASSWORD = N'{PASSWORD}';": PASSWORD,
    f"ALTER USER bob IDENTIFIED BY {PASSWORD};": PASSWORD,
    f'password <- "{PASSWORD}"': PASSWORD,
    f'char password[] = "{PASSWORD}";': PASSWORD,
    f'static API_SECRET: &\'static str = "{PASSWORD}";': PASSWORD,
    f"password: !!str {PASSWORD}": PASSWORD,
    f"password: &shared {PASSWORD}": PASSWORD,
    f'{{"password": {{"value": "{PASSWORD}"}}}}': PASSWORD,
    f'passwords = ["{PASSWORD}"]': PASSWORD,
    f"<password><![CDATA[{PASSWORD}]]></password>": PASSWORD,
    f"Set-Cookie: sessionid={PASSWORD}; HttpOnly": PASSWORD,
    f"Authorization: Splunk {HEX[:32]}": HEX[:32],
    f"jdbc:oracle:thin:scott/{PASSWORD}@//db:1521/x": PASSWORD,
    f"cvs -d :pserver:bob:{PASSWORD}@h:/r co m": PASSWORD,
    f'run(["mysql", "-u", "root", "-p{PASSWORD}", "shop"])': PASSWORD,
    f"requests.get(u, auth=('bob', '{PASSWORD}'))": PASSWORD,
    f"echo {PASSWORD} | docker login -u bob --password-stdin": PASSWORD,
    f"gh auth login --with-token <<< {PASSWORD}": PASSWORD,
    f"https://app.corp.io/reset-password/{MIXED[:40]}": MIXED[:40],
    "tool --frob aR4!kPz2@Wq9 now": "aR4!kPz2@Wq9",
    "Log in as bob, Yx7$LmQ2p8Vd.": "Yx7$LmQ2p8Vd",
    "try aR4!k-Pz2.Wq9&Lm once": "aR4!k-Pz2.Wq9&Lm",
    f'#define DB_PASSWORD "{PASSWORD}"': PASSWORD,
    "data.setPassword('Harbor7light')": "Harbor7light",
    f"aws_secret_access_key = /{MIXED[:39]}": MIXED[:39],
    "Use ak_aBcXyZQwErTyUiOpLkJh for it": "aBcXyZQwErTyUiOpLkJh",
    quote(KEY): KEY_LINES[1],
    KEY: KEY_LINES[1],
    "\n".join(f"{n:>6}→{line}" for n, line in enumerate(KEY.splitlines(), 1)): KEY_LINES[1],
    json.dumps({"key": KEY}): KEY_LINES[1],
}

CLEAN = (
    "password: string",
    "def login(password: str | None = None) -> Token:",
    "echo hello | passwd --help",
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbC1dE",
    "DB_PASSWORD=${DB_PASSWORD:?missing}",
    f"github.com/sync/render v16.15.1 h1:{MIXED[:43]}=",
    "Panel.Ledger_12@16.12.7#queue",
    "passwd:x:1000:1000::/home/x:/bin/bash",
    "tokens: [first, second]",
    "the key was identified by somebody",
    "git clone git@GitHub2.com:Org/Repo1 && npm i react@18",
    "GET /a%20b%2Fc%3D1?x=Y2%26z",
    "fputs@GLIBC_2.2.5 and ma[i]*Hb2+c",
    "https://x.io/invite/how-to-invite-people-to-your-team-2026",
    'flags = ["-l", "-a", "--color=auto"]',
    "Set-Cookie: lang=en-GB; session=none",
    "Authorization: required for every request",
    "token = get_token()",
    'API_KEY=os.environ["API_KEY"]',
    "secret: ${{ secrets.DEPLOY_KEY }}",
    "password=changeme",
    "export TOKEN=<your-key>",
    'api_key = "xxxxxxxxxxxxxxxxxxxx"',
    "API_KEY=YOUR_API_KEY_HERE",
    "OPENAI_API_KEY=sk-...",
    '"password": "********"',
    "postgresql://user:password@localhost:5432/db",
    "postgres://postgres:postgres@localhost/app",
    "DATABASE_URL=postgres://${DB_USER}:${DB_PASS}@host/db",
    "https://registry.npmjs.org:443/@scope/pkg",
    "max_tokens=4096, total_tokens: 105981",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "session_id=550e8400-e29b-41d4-a716-446655440000",
    '"integrity": "sha512-' + (MIXED + MIXED)[:86] + '=="',
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + MIXED[:43] + " me@laptop",
    "SHA256:uNiVztksCsDhcc0u9e8BrC7pHjYq1o9lq2fQwYxTzEo",
    "color: #ff00aa; background: #1a2b3c4d",
    "s3://bucket/2024-01-02/part-00000-3f78.parquet",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E",
    "-----BEGIN PUBLIC KEY-----\n" + MIXED + "\n-----END PUBLIC KEY-----",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "usage: tool --token TOKEN [--api-key KEY]",
    'curl -H "Authorization: Bearer $TOKEN" https://x',
    'headers = {"Authorization": f"Bearer {token}"}',
    "find / -type d -name mysql -print",
    "STORAGE_KEY = 'app-state-v1'",
    "password_hash = bcrypt.hash(password, 10)",
    "token_url: https://auth.corp.io/oauth2/token",
    "The password is base64 encoded and must be at least 8 characters.",
    'assert token == "abc123"',
    "password: {{ vault_db_password }}",
    "PASSWORD=$(pass show db/prod)",
    "TG9yZW0gaXBzdW0gZG9sb3Igc2l0IGFtZXQsIGNvbnNlY3RldHVyIGFkaXBpc2NpbmcgZWxpdA==",
    "root:x:0:0:root:/root:/bin/bash",
    "| token | bearer-token-v1 |\n| password | string(255) |\n| secret | `SECRET_KEY_BASE` |",
    "| password | bcrypt_sha256 |",
    "token = [[int(x) for x in row] for row in rows]",
    "--- PASS: TestMapSegmentWriterCanMap (0.00s)\n    --- PASS: TestOsc7/osc51#01 (0.00s)",
    "PASS: post-removal",
    "fileIpnsPrivateKey: Uint8Array;",
    "privateKey: secp256k1.utils.randomPrivateKey(), token: auth.vaultKeypair!.privateKey",
    r'{Style: Full, Pwd: "C:\\Users\\posh2", Expected: "C:"}',
    "the private key is **re-wrapped** with a fresh one",
    "\x1b[32m✓\x1b[0m 12 tests passed \x1b[2m(3.4s)\x1b[0m",
    "\x1b[33mpassword\x1b[0m: \x1b[36mstring\x1b[0m",
    "rate(http_requests_total[5m]) > [33mhello[0m",
    "a.py:1234:10:E501:line too long",
    '{"kty": "RSA", "n": "' + MIXED + '", "e": "AQAB"}',
)
COLOURS = ("\x1b[33m", "\x1b[1;38;5;2m", "\x1b[0m\x1b[7m", "\x9b32m", "\\u001b[32m", "\\x1b[32m", "^[[32m", "[32m")


@pytest.mark.parametrize("secret", MARKED.values(), ids=MARKED)
def test_a_marked_key_is_replaced_wherever_it_stands(secret: str) -> None:
    for text in (secret, f"see {secret}, please", f'"{secret}"', f"a\\n{secret}\\n", f"x={secret}&y=1"):
        redacted = Redactor().text(text)
        assert secret not in redacted
        assert len(PLACEHOLDER.findall(redacted)) == 1


@pytest.mark.parametrize(("text", "secret"), IN_PLACE.items())
def test_a_secret_is_known_by_its_place(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in Redactor().text(text)


@pytest.mark.parametrize("colour", COLOURS)
def test_a_colour_is_a_boundary_and_hides_nothing(colour: str) -> None:
    for before in ("", "x", "token:"):
        assert GITHUB not in Redactor().text(f"{before}{colour}{GITHUB}{colour}")
    for line in (f"PASSWORD={colour}{PASSWORD}", f"PASSWORD{colour}={colour}{PASSWORD}{colour} ok"):
        redacted = Redactor().text(line)
        assert PASSWORD not in redacted
        assert Redactor().text(redacted) == redacted
    halves = f"{GITHUB[:20]}{colour}{GITHUB[20:]}"
    assert GITHUB[22:] not in Redactor().text(halves)


@pytest.mark.parametrize("text", CLEAN)
def test_clean_text_is_returned_as_the_same_object(text: str) -> None:
    assert Redactor().text(text) is text


def test_only_the_password_of_a_connection_string_is_replaced() -> None:
    redacted = Redactor().text(f"postgres://app:{PASSWORD}@db.corp.io:5432/shop?ssl=1")
    assert redacted == "postgres://app:[redacted:password:1]@db.corp.io:5432/shop?ssl=1"


def test_the_same_secret_has_the_same_placeholder_and_others_are_numbered_in_order() -> None:
    redactor = Redactor()
    other = "ghp_" + MIXED[20:56]
    assert redactor.text(f"{GITHUB} {other} {GITHUB}") == (
        "[redacted:github-token:1] [redacted:github-token:2] [redacted:github-token:1]"
    )
    assert redactor.text(f"TOKEN={other}") == "TOKEN=[redacted:github-token:2]"
    assert redactor.counts == {"github-token": 4}


def test_a_private_key_has_one_placeholder_however_it_is_wrapped() -> None:
    redactor = Redactor()
    redactor.text(KEY)
    assert "[redacted:private-key:1]" in redactor.text(json.dumps({"key": KEY}))


def test_a_password_seen_in_its_place_is_replaced_when_it_comes_again() -> None:
    redactor = Redactor()
    redactor.text(f"DB_PASSWORD={PASSWORD}")
    assert redactor.text(f"I typed {PASSWORD} and it worked") == "I typed [redacted:password:1] and it worked"


@pytest.mark.parametrize(
    "written",
    [
        '"s3cr3t\\"x/y z9"',
        json.dumps(json.dumps('s3cr3t"x/y z9')),
        urllib.parse.quote('s3cr3t"x/y z9', safe=""),
        base64.b64encode(b's3cr3t"x/y z9').decode(),
        base64.b64encode(b'login with s3cr3t"x/y z9 now').decode(),
        's3cr3t\\"x\\/y z9',
    ],
)
def test_a_known_value_is_found_in_every_spelling(written: str) -> None:
    redactor = Redactor(known=['s3cr3t"x/y z9'])
    assert redactor.text(f"say {written} here") != f"say {written} here"
    assert "environment" in redactor.counts or "base64" in redactor.counts


@pytest.mark.parametrize(
    "escape", ["https:\\/\\/bob:{}@h.io", "x?a=1\\u0026access_token\\u003d{}", "a%3Ftoken%3D{}%26b"]
)
def test_escaped_characters_do_not_hide_a_secret(escape: str) -> None:
    redacted = Redactor().text(escape.format(MIXED[:24]))
    assert MIXED[:24] not in redacted
    assert redacted.startswith(escape.partition("{")[0])


def test_base64_that_hides_a_secret_is_replaced_also_when_wrapped() -> None:
    hidden = base64.encodebytes(f"[default]\naws_access_key_id = {AWS_ID}\nregion = eu-central-1\n".encode()).decode()
    assert "\n" in hidden.strip()
    assert Redactor().text(f"cat <<E\n{hidden}E") == "cat <<E\n[redacted:base64:1]\nE"


def test_arguments_stay_json_and_keep_what_is_not_secret_byte_for_byte() -> None:
    text = '{ "a":1.0, "password" : "tr0ub4dor!X",\t"path":"\\/x\\u00e9", "n": 12345678901234567890 }'
    expected = '{ "a":1.0, "password" : "[redacted:password:1]",\t"path":"\\/x\\u00e9", "n": 12345678901234567890 }'
    assert Redactor().arguments(text) == expected


def test_an_escape_beside_a_look_alike_does_not_break_the_arguments() -> None:
    text = '{"x":"\\npm_' + "a1b2c3d4e5f6" * 3 + '"}'
    assert json.loads(Redactor().arguments(text)) == json.loads(text)


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": ["tool", "--password", PASSWORD]},
        {"env": [{"name": "DB_PASSWORD", "value": PASSWORD}]},
        {"content": f"DB_PASSWORD={PASSWORD}\nX=1"},
        {"body": json.dumps({"password": PASSWORD})},
        {"headers": {"x-api-key": PASSWORD}},
    ],
)
def test_secrets_in_arguments_are_known_by_their_neighbours(arguments: dict[str, object]) -> None:
    redacted = Redactor().arguments(json.dumps(arguments))
    assert PASSWORD not in redacted
    assert json.loads(redacted).keys() == arguments.keys()


def test_arguments_that_are_not_json_are_redacted_as_text() -> None:
    assert GITHUB not in Redactor().arguments(f'{{"cmd": "echo {GITHUB}')


def transcript(*texts: str) -> Transcript:
    parts = (
        Text(texts[0]),
        Thought(texts[0], signature="sig"),
        Media(kind="image", name=f"https://x.io/a.png?token={texts[0]}"),
        ToolCall(id="1", name="bash", arguments=json.dumps({"cmd": texts[0]})),
        ToolResult(call_id="1", content=(Text(texts[0]), Media(kind="image", name="a.png"))),
    )
    messages = tuple(Message(role=Role.AGENT, parts=(*parts, Text(text)), trust=Trust.AGENT) for text in texts)
    return Transcript(
        source="test",
        native_id="1",
        messages=messages,
        title=texts[0],
        folder=f"/home/{texts[0]}",
        ending_detail=texts[0],
        checks=(transcripts.RecordedCheck(name="score", detail=texts[0]),),
    )


def test_every_text_of_a_transcript_is_redacted() -> None:
    session = transcript(f"token {GITHUB}", f"again {GITHUB}")
    redacted = redact(session)
    assert GITHUB not in repr(redacted.transcript)
    assert redacted.counts == {"github-token": 16}
    assert redacted.transcript.messages[0].calls[0].name == "bash"
    assert "signature='sig'" in repr(redacted.transcript)


def test_a_clean_transcript_is_the_same_object() -> None:
    session = transcript("hello there", "all is well")
    assert redact(session).transcript is session


def test_an_unchanged_message_of_a_changed_transcript_is_the_same_object() -> None:
    session = Transcript(
        source="test",
        native_id="1",
        messages=(
            Message(role=Role.USER, parts=(Text("hello there"),), trust=Trust.USER),
            Message(role=Role.USER, parts=(Text(GITHUB), Text("well")), trust=Trust.USER),
        ),
    )
    redacted = redact(session).transcript
    assert redacted.messages[0] is session.messages[0]
    assert redacted.messages[1].parts[1] is session.messages[1].parts[1]


def test_the_secret_looking_variables_of_an_environment_are_known() -> None:
    environment = {
        "HOME": "/root",
        "GITHUB_TOKEN": GITHUB,
        "DB_PASSWORD": "quietlantern",
        "STRIPE_KEY": "abcDEF123987",
        "SSH_KEY_PATH": "/root/.ssh/id",
        "TOKEN_LIMIT": "4096000",
        "API_KEY": "test",
        "SECRET_FILE": "/run/secrets/x",
    }
    assert secret_values(environment) == tuple(sorted([GITHUB, "quietlantern", "abcDEF123987"]))


FRAGMENTS = st.sampled_from(
    [
        *MARKED.values(), *IN_PLACE, *CLEAN, PASSWORD, KEY, "password=", "token: ", '"', "\\", "\\n", "\n", "=",
        ":", "://a:", "@", "[redacted:password:1]", "[redacted:", "]", "%2F", "\\u0041", "é", "\ud800", " ", ";",
        "Cookie: ",
    ]
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS | st.text(max_size=8), max_size=8).map("".join)


@settings(deadline=None)
@given(TEXTS)
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = Redactor().text(text)
    assert Redactor().text(once) is once


@settings(deadline=None)
@given(TEXTS)
def test_redaction_is_deterministic(text: str) -> None:
    assert Redactor().text(text) == Redactor().text(text)


JSON = st.recursive(
    TEXTS | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FRAGMENTS | st.just("password"), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None)
@given(JSON, st.booleans())
def test_arguments_stay_valid_json_and_redacting_them_twice_changes_nothing(value: object, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    once = Redactor().arguments(text)
    json.loads(once)
    assert Redactor().arguments(once) is once


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=4), st.lists(TEXTS, max_size=3))
def test_what_comes_later_does_not_change_what_came_before(earlier: list[str], later: list[str]) -> None:
    first, second = Redactor(), Redactor()
    assert [first.text(text) for text in earlier] == [second.text(text) for text in earlier + later][: len(earlier)]


@pytest.mark.parametrize("kind", sorted({rule.kind for rule in RULES} | {"environment"}))
def test_a_placeholder_is_never_a_secret(kind: str) -> None:
    placeholder = f"[redacted:{kind}:12]"
    for place in (
        "{}",
        "password={}",
        'TOKEN="{}"',
        "Bearer {}",
        "a://b:{}@c",
        "Cookie: session={}",
        "-u b:{}",
        "{}9f8e7d6c5b",
    ):
        text = place.format(placeholder)
        assert Redactor().text(text) is text


@settings(deadline=None, max_examples=examples(10), derandomize=True)
@pytest.mark.parametrize("index", range(len(RULES)))
@given(data=st.data())
def test_a_gate_is_open_wherever_its_rule_finds_a_secret(index: int, data: st.DataObject) -> None:
    rule = RULES[index]
    text = data.draw(st.from_regex(rule.pattern)).encode("utf-8", "surrogatepass")
    match = re2.search(rule.pattern, text)
    if match is None:
        return
    name = match.group(1).decode(errors="replace") if match.lastindex > 1 else ""
    if judge(rule, name, match.group(match.lastindex).decode(errors="replace")):
        assert re2.search(rule.gate, text)


PUMPS = (
    "a", "0", "-", "/", '"', "\\", "\\n", "%2F", "\\u0041", "=", ":", "@", ".", " ", "\n", "é", "→", "_", "1.",
    "password=", 'password="', "token: a1", "secret is ", "://a:b", "postgres://a:b", "Cookie: a=b;", "AKIA",
    "ghp_", "eyJhbGci.", "-----BEGIN RSA PRIVATE KEY-----\nAAAA", "aGVs", "UEFTU1dPUkQ9", "curl -u a:", "mysql -p",
    "login a ", "echo a | sudo ", "<password>", '("a_token", "', "[redacted:password:1]", "&token=", "--password ",
    "$6$", "SG.a", "docker login ", "ENV A_TOKEN ", "bearer ", "authorization: ", "xoxb-1", "name: A_TOKEN\n",
)  # fmt: skip


@pytest.mark.parametrize("pump", PUMPS)
def test_hostile_text_takes_linear_time(pump: str) -> None:
    assert is_linear(lambda text: Redactor().text(text), pump, 1 << 17)


@pytest.mark.parametrize("index", range(len(RULES)))
def test_no_rule_is_slow_on_repeated_text(index: int) -> None:
    pattern = re2.compile(RULES[index].pattern)

    def look(text: str) -> None:
        for _ in pattern.finditer(text.encode()):
            pass

    pumps = ("a", "a1", '"', "\\", "=", "://a:b", "password=", "login a ", "curl -u ", "AAAA", "key: ", "eyJa.")
    assert [pump for pump in pumps if not is_linear(look, pump, 1 << 16)] == []


def test_findings_do_not_overlap_and_are_in_order() -> None:
    body = f"SECRET_URL=https://bob:{GITHUB}@h.io/?token={GITHUB} {KEY} DB_PASSWORD={AWS_ID}".encode()
    findings = find(body)
    assert len(findings) >= 4
    assert all(left.end <= right.start for left, right in itertools.pairwise(findings))


def test_a_placeholder_that_is_there_already_keeps_its_number_for_itself() -> None:
    redactor = Redactor()
    redactor.text("as before: [redacted:github-token:3]")
    assert redactor.text(f"now {GITHUB}") == "now [redacted:github-token:4]"
    redactor = Redactor()
    redactor.arguments('{"a": "[redacted:github-token:3]"}')
    assert redactor.text(f"now {GITHUB}") == "now [redacted:github-token:4]"


def test_a_secret_is_known_again_by_its_placeholder_as_long_as_it_was_always_written_alike() -> None:
    redactor = Redactor()
    redactor.text(f"now {GITHUB}")
    assert redactor.has_made("[redacted:github-token:1]")
    assert redactor.secret_of("[redacted:github-token:1]") == GITHUB
    assert redactor.secret_of("[redacted:github-token:2]") == ""
    assert not redactor.has_made("[redacted:github-token:2]")


@pytest.mark.parametrize("mark", ["llx-", "newvendor_live_", "sk-ws-01-", "XAU_"])
def test_a_key_with_a_mark_is_known_whoever_its_vendor_is(mark: str) -> None:
    key = mark + MIXED[:36]
    assert Redactor().text(f"it printed {key}, twice") == "it printed [redacted:api-key:1], twice"
    assert Redactor().text(f"GET /v1/{key}?x={key}") == "GET /v1/[redacted:api-key:1]?x=[redacted:api-key:1]"
    cut = f"{mark}{MIXED[:13]}_{MIXED[13:30]}-{MIXED[30:40]}"
    assert Redactor().text(f"it printed {cut}, twice") == "it printed [redacted:api-key:1], twice"


@pytest.mark.parametrize(
    "text",
    [
        f"x = {MIXED[:36]}",
        f"toolu_{MIXED[:24]}",
        f"chatcmpl-{MIXED[:29]}",
        f"SHA256:{MIXED[:43]}",
        "py._PyEval_RequestCodeExtraIndexOfTheFrame2",
        "picoCTF.t3h_FuTUr3_15_bR1ghT_1_H0p3_y0uR3_W34r1nG",
        f"sha256={MIXED[:2]}-{MIXED[:40]}",
        f"sha512-{MIXED[:36]}/{MIXED[:36]}==",
        "app-0123456789abcdef0123456789abcdef",
        "test-someVeryLongCamelCaseNameOfATestThatChecksThings",
    ],
)
def test_ids_hashes_and_names_are_not_marked_keys(text: str) -> None:
    assert Redactor().text(text) == text
