"""Passwords on command lines and in SQL, seed phrases, and keys that only their place betrays; and what is none."""

import json

import pytest

from whet.secrets.redactor import Redactor

MIXED = "Zk3jQ9wLr7TbX2mN8vYcP5sHdG4fKa6uEe1oRi0WqUtVnBxCyMzJlIgFhDpSaTw3"
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
PASSWORD = "tr0ub4dor!X"
FERNET = f"{MIXED[:42]}8="
# Words of the list that wallets draw from; no wallet has this order of them.
PHRASE = "orbit velvet cactus ribbon lunar pencil gather oyster timber walnut frozen saddle"

KEYS = {
    f"curl https://api.telegram.org/bot123456789:AA{MIXED[:33]}/getMe": MIXED[:33],
    f"telegram bot token 7123456789:AH{MIXED[:33]}": MIXED[:33],
    f"https://{HEX[:32]}@o123456.ingest.us.sentry.io/4504": HEX[:32],
    f"SENTRY_DSN=https://{HEX[:32]}@sentry.corp.io/4504": HEX[:32],
    f"sntrys_{MIXED}": MIXED,
    f"AC{HEX[32:]}:{HEX[:32]}": HEX[:32],
    f"client = Client('AC{HEX[32:]}', '{HEX[:32]}')": HEX[:32],
    f"glsa_{MIXED[:32]}_{HEX[:8]}": MIXED[:32],
    f"glc_eyJvIjoiMTIzIiwibiI6InRlc3QiLCJrIjoi{MIXED[:40]}": MIXED[:30],
    f"the key eyJrIjoi{MIXED[:50]}==": MIXED[:50],
    f"v1.0-{HEX[:24]}-{(HEX * 3)[:146]}": (HEX * 3)[:146],
    f"cfut_{MIXED[:40]}{HEX[:8]}": MIXED[:40],
    f"CLOUDFLARE_API_TOKEN={MIXED[:40]}": MIXED[:40],
    f'f = Fernet(b"{FERNET}")': FERNET,
    f"the Fernet key is {FERNET}": FERNET,
    f"https://corp.webhook.office.com/webhookb2/{HEX[:8]}@x/IncomingWebhook/{HEX[:32]}/y": HEX[:32],
}
PHRASES = (
    f"My seed phrase is {PHRASE}, keep it.",
    f'MNEMONIC="{PHRASE}"',
    f"seed_phrase: {PHRASE}\nname: x",
    f"Secret Recovery Phrase: {PHRASE} {PHRASE}",
    json.dumps({"mnemonic": PHRASE}),
    "Recovery phrase:\n" + "\n".join(f"{number}. {word}" for number, word in enumerate(PHRASE.split(), 1)),
    "seed words\n" + "\n".join(PHRASE.split()),
)
COMMANDS = (
    "git config credential.x.password {}",
    "gh secret set TOKEN --body {}",
    'builder.password("{}")',
    "SECRET_KEY = 'django-insecure-{}(x'",
    "zip -r -P {} out.zip dir",
    "zip -P '{}' out.zip dir",
    "unzip -o -P {} out.zip",
    "7z a -p{} out.7z dir",
    "7za x -p'{}' out.7z",
    "rar a -hp{} out.rar dir",
    "htpasswd -b /etc/nginx/.htpasswd admin {}",
    "htpasswd -bc .htpasswd admin '{}'",
    "htpasswd -nbB admin {} > .htpasswd",
    r"net use Z: \\srv\share {} /user:bob",
    r"net use \\srv\share /user:CORP\bob {}",
    "net user bob {} /add",
    "smbclient //srv/share -U bob%{}",
    r"smbclient //srv/share -U 'CORP\bob%{}' -c ls",
    "smbclient //srv/share --user=bob%{}",
    "rpcclient -U bob%{} srv",
    "ldapsearch -x -D cn=admin,dc=x -w {} -b dc=x",
    "sqlcmd -S srv -U sa -P {} -Q 'select 1'",
    "mongosh -u root -p {} --authenticationDatabase admin",
    "echo 'bob:{}' | chpasswd",
    'echo "root:{}" | sudo chpasswd',
    "ALTER USER bob IDENTIFIED BY '{}';",
    "CREATE USER bob WITH PASSWORD '{}';",
    "CREATE ROLE bob LOGIN ENCRYPTED PASSWORD '{}'",
    "sqlplus scott/{}@//db:1521/x",
    "lftp -u bob,{} ftp.corp.io",
    "aws configure set aws_secret_access_key {}",
    "xfreerdp /u:bob /p:{} /v:srv",
    r"psexec \\srv -u bob -p {} cmd",
    "ipmitool -I lanplus -H h -U admin -P {} power on",
    "openssl enc -aes-256-cbc -k {} -in a",
    "keytool -importkeystore -deststorepass {} -v",
    "mysqladmin -u root password {}",
    "snmpwalk -v2c -c {} host",
    'ConvertTo-SecureString "{}" -AsPlainText -Force',
    "nmcli dev wifi connect net password {}",
    'psk="{}"',
    'expect "assword:"\nsend "{}\\r"',
)
CLEAN = (
    'zip -P "$ZIP_PASSWORD" out.zip dir',
    "zip -P <password> out.zip",
    "unzip -P password file.zip",
    "7z x out.7z -p",
    "7z a -pPASSWORD out.7z",
    "htpasswd -c .htpasswd admin",
    "htpasswd -nb user password",
    r"net use Z: \\srv\share /user:bob /persistent:yes",
    r"net use \\srv\share * /user:bob",
    r"net use Z: /delete",
    "The net user growth increased by 4% in May.",
    "net user bob /delete",
    "smbclient //srv/share -U bob",
    "smbclient -U 'user%password' //srv/share",
    "date -u +%Y-%m-%dT%H:%M:%SZ",
    "printf '%s%s' -U a%b",
    "ldapsearch -x -D cn=admin -W -b dc=x",
    "sqlcmd -S srv -E -Q 'select 1'",
    "mongosh -u root -p",
    "mkdir -p build/a1 && mongodump --db x",
    "echo user:password | chpasswd",
    "CREATE USER test WITH PASSWORD 'password';",
    "ALTER USER bob IDENTIFIED BY RANDOM PASSWORD;",
    "sqlplus / as sysdba",
    "lftp -u anonymous, ftp.corp.io",
    "openssl enc -aes-256-cbc -k $KEY -in a",
    "snmpwalk -v2c -c public host",
    "keytool -list -storepass changeit",
    "mysqladmin -u root password",
    "from cryptography.fernet import Fernet; Fernet(key)",
    "Fernet.generate_key() gives 44 characters",
    "https://example.com/users/12@v2/4504",
    f"git+https://github.com/x/y@{HEX[:40]}#egg=1",
    f"npm i https://x.io/a/{HEX[:32]}@1.0.0/5",
    f"container {HEX[:32]} ACTIVE",
    "v1.0-rc1-3f7868",
    "A mnemonic for the planets: my very educated mother just served us noodles at the farm for lunch today",
    "The seed phrase is twelve or twenty four words that restore a wallet and must never be shared with anyone",
    "recovery phrase: write down the words and keep them in a safe place where nobody can find them",
    "the recovery took about twelve words more than before while under heavy load from other users again",
    "seed: 42",
    "mnemonic = generate_mnemonic(strength=128)",
    "Telegram bot at 10:30, see https://t.me/bot",
    "12:34:56 bot started",
)


@pytest.mark.parametrize(("text", "secret"), KEYS.items())
def test_a_key_is_known_by_its_form_or_its_place(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in Redactor().text(text)


@pytest.mark.parametrize("text", PHRASES)
def test_a_seed_phrase_is_replaced_whole(text: str) -> None:
    redacted = Redactor().text(text)
    assert "[redacted:seed-phrase:1]" in redacted
    assert not set(PHRASE.split()) & set(redacted.replace('"', " ").split())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_password_on_a_command_line_is_replaced(command: str) -> None:
    text = command.format(PASSWORD)
    redacted = Redactor().text(text)
    assert PASSWORD not in redacted
    assert Redactor().text(redacted) is redacted
    assert PASSWORD not in Redactor().arguments(json.dumps({"command": text}))


@pytest.mark.parametrize("text", CLEAN)
def test_what_only_looks_like_one_is_left_as_it_is(text: str) -> None:
    assert Redactor().text(text) is text
