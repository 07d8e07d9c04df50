"""Passwords that their place gives away: prefixed literals, pipes and here-strings, flags and verbs of any program."""

import pytest

from whet.secrets.redactor import Redactor

PASSWORD = "qD7fw!Zk3Rt08pA"
# `§` stands for the password.
PLACES = (
    "CREATE LOGIN bob WITH PASSWORD = N'§';",
    "app.secret_key = b'§'",
    "password = r'§'",
    "password = u'§'",
    "password = f'§'",
    'string password = @"§";',
    "ALTER USER x PASSWORD E'§'",
    "CREATE USER x IDENTIFIED BY N'§'",
    "password: &pw §",
    '{"password":{"value":"§"}}',
    "password: |-\n  §\n",
    "password: >-\n  §",
    "jdbc:oracle:thin:scott/§@//h:1521/x",
    ":pserver:me:§@h:/r",
    "echo § | docker login -u me --password-stdin",
    "echo § | passwd --stdin bob",
    "echo -n § | cryptsetup luksOpen /dev/sda2 x",
    "echo § | wrangler secret put API",
    "vercel env add API_KEY production <<< §",
    "printf '§' | gcloud secrets create x --data-file=-",
    "printf § | secret-tool store --label=x a b",
    "echo § | pass insert -e x",
    "echo § | kinit bob",
    "echo § | openconnect --passwd-on-stdin h",
    "gpg --batch --passphrase-fd 0 <<< §",
    "gh auth login --with-token <<< '§'",
    "mc alias set m https://h KEYKEY §",
    "aws ssm put-parameter --name x --type SecureString --value §",
    "security add-generic-password -a me -s x -w §",
    "ssh-keygen -t ed25519 -N '§' -f k",
    "mosquitto_pub -h h -u me -P § -t x",
    "bw unlock §",
    "fly secrets set API=§",
    'Content-Disposition: form-data; name="password"\r\n\r\n§\r\n--b',
    'password <- "§"',
    'char password[] = "§";',
    'static API_SECRET: &\'static str = "§";',
    "password: !!str §",
    "<password><![CDATA[§]]></password>",
    '{"passwords":["§"]}',
    "$p = getenv('DB_PASS') ?: '§';",
    "requirepass §",
    ': PSK "§"',
    "git config sendemail.smtppass §",
    "mvn -Dsonar.login=§ x",
    "CREATE USER x IDENTIFIED BY §;",
    "ALTER USER x PASSWORD $$§$$",
    "SET PASSWORD FOR 'x'@'h' = PASSWORD('§')",
    "db.auth('x','§')",
    "subprocess.run(['mysql', '-u', 'root', '-p§'])",
    "run(['sshpass', '-p', '§', 'ssh'])",
    "requests.get(u, auth=('me', '§'))",
    "http -a me:§ h",
    "curl --oauth2-bearer § h",
    "npm config set //r.io/:_authToken §",
    "poetry config pypi-token.pypi §",
    "poetry config http-basic.x me §",
    "cargo login §",
    "dotnet nuget push x.nupkg -k §",
    "dotnet user-secrets set Db:Password §",
    "crane auth login r -u me -p §",
    "doctl auth init -t §",
    "vault login §",
    "vault operator unseal §",
    "etcdctl --user root:§ get x",
    "rabbitmqctl add_user x §",
    "cypher-shell -u me -p §",
    "beeline -n me -p §",
    "rclone obscure §",
    "p4 -P § sync",
    "java -jar jenkins-cli.jar -auth me:§ x",
    "codecov -t §",
    "snyk auth §",
    "qpdf --encrypt § o 256 -- a b",
    "samba-tool user create x §",
    "kadmin -p me -w §",
    "schtasks /create /ru me /rp §",
    "tsql -S h -U me -P §",
)
# The same places with what they hold in ordinary work.
ORDINARY = (
    "docker login -u me --password-stdin < token.txt",
    "echo done | grep token",
    "printf '%s' v1.2.3 | docker login registry",
    "pytest -k 'TestLogin and not slow' -p no:cacheprovider",
    "mkdir -p src/login/v2",
    "git commit -m 'Login page' && git push -u origin login",
    "npm install -D @types/node@20.1.0",
    "ssh -p 2222 deploy@host1.example.com",
    "cargo login --help",
    "vault login -method=oidc",
    "curl -d '{\"id\": 12}' https://example.com/login",
    "const token = await login(userName, options);",
    "requests.get(url, auth=(user, password))",
    "client.login('me', password)",
    "def create(self, Name2: str) -> None:",
    "password: str = Field(min_length=8)",
    "authorization: Bearer <token>",
    "Authorization: required for all routes",
)


@pytest.mark.parametrize("place", PLACES)
def test_a_password_is_found_by_its_place(place: str) -> None:
    assert PASSWORD not in Redactor().text(place.replace("§", PASSWORD))


@pytest.mark.parametrize("line", ORDINARY)
def test_ordinary_lines_stay(line: str) -> None:
    assert Redactor().text(line) == line


KEYS = (
    "EAA" + "Gm0PX4ZCpsBAO7h2kQzVt9Yw" * 4,
    "ops_eyJzaWduSW5BZGRyZXNz" + "aG-ZkQ7_w2Xv9" * 12,
    "rpa_7QK2M9ZX4T1VB8NC6YD3WF5HJ0LRPSGEUAQK2M9ZX4f7k2m9",
    "dtn_" + "7b2e9c4f10a85d63" * 4,
    "xoxd-fK7wQ2zRt9%2BvX4cB8nM1%2FhJ5gD3sA6%3D%3D",
    "a9Kd7Fq2Lm4Xz8Rb1Tn6Vc3Wp5Hs0Jy7Gu2Ei9Oa4QkJQQJ99BKACAAAAAAAAAAAAACOGx7Qe",
    "kS9wF2mL7xQ4zR1tB8nV6cY3pH5dJ0gU2eA7oI4qW+ACRBhX7Km",
)


@pytest.mark.parametrize("key", KEYS)
def test_a_vendors_key_is_known_by_its_mark(key: str) -> None:
    assert key[-20:] not in Redactor().text(f"use {key} here")


def test_the_end_of_a_private_key_is_hidden_without_its_beginning() -> None:
    lines = ["b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW", "QyNTUxOQAAACDk3v9bHq7x2w=="]
    shown = Redactor().text("$ tail -3 id\n" + "\n".join(lines) + "\n-----END OPENSSH PRIVATE KEY-----\n")
    assert not any(line in shown for line in lines)
    assert shown.startswith("$ tail -3 id\n")
