"""The table of marked secrets: each vendor's kind of key, the shape that betrays it and the gate that finds it.

Patterns are RE2's, run over UTF-8 bytes. All gates are scanned at once; a rule's own pattern runs only where its
gate is open, so a gate must match wherever the pattern does. Values inside JSON text are escaped, often twice:
patterns take any number of backslashes before a quote, and an escaped line break as a boundary.
"""

from enum import StrEnum
from typing import Final, NamedTuple

START: Final = r"(?:^|[^A-Za-z0-9_\-]|\\[nrtbf]|%[0-9A-F]{2})"
QUOTE: Final = r"""\\*["'`]"""
BREAK: Final = r"(?:\s|\\+[nrt])"

ALNUM: Final = "[A-Za-z0-9]"
SLUG: Final = r"[A-Za-z0-9_\-]"


class MatchTest(StrEnum):
    """How a match is judged before it counts."""

    NONE = "none"  # the shape alone is proof
    MIXED = "mixed"  # the value has letters and digits or changes its case like chance, and is no stand-in
    VALUE = "value"  # the value is plausible as a secret
    CONVINCING = "convincing"  # the value looks generated
    GENERATED = "generated"  # the value ends in letters of both cases and digits without any order
    ASSIGNED = "assigned"  # the name (group 1) is secret and the value is plausible
    CELL = "cell"  # as if assigned, and the value can hardly be a word: tables describe more often than they hold
    TYPED = "typed"  # the same, and the value has a sign or changes its case like chance
    LOGIN = "login"  # the value is a password that is neither a stand-in nor the user's name (group 1)
    COOKIES = "cookies"  # the value is a list of cookies, judged one by one
    STRONG = "strong"  # the value mixes cases, digits and signs without any order
    PHRASE = "phrase"  # the value is a dozen words or two, none of which only sentences have
    BASE64 = "base64"  # the value hides a secret when it is decoded


class SecretRule(NamedTuple):
    """One shape of secret. The last group that took part in a match is the secret."""

    kind: str
    gate: str
    pattern: str
    check: MatchTest = MatchTest.NONE


def token(kind: str, head: str, body: str, check: MatchTest = MatchTest.NONE) -> SecretRule:
    """A key that its vendor marked with a prefix."""
    return SecretRule(kind, f"{START}{head}[A-Za-z0-9_.\\-/+%=]{{4}}", f"{START}({head}{body})", check)


def _any(marks: str) -> str:
    return f"(?:{'|'.join(marks.split())})"


# Marks of keys that the general rule cannot know: a body of one case or of hexadecimal digits is what ids and hashes
# have too, and a short one may be anything.
_HEXADECIMAL = _any(
    r"sk-or-v\d- [sp]k-lf- do[opr]_v1_ dapi sbp_ sbp_v\d_ shp(?:at|ca|pa|ss)_ (?:pub)?key- sntryu_"
    r" pat[A-Za-z0-9]{14}\. v1\.0- PMAK- pul- rubygems_ lsv2_(?:pt|sk)_ sk_ fc- pat-[a-z]{2}\d- sq[pua]_"
    r" dtn_ rca_ cal_live_ sgd_ xaat-"
    r" sgp_ slk_ e2b_ crsr_ key_ packagist_[a-z]{3}_ st\. (?:sdk|api)- infura\.io/(?:ws/)?v3/ user: signkey-[a-z]+-"
    r" access-(?:sandbox|development|production)- rootly_ shippo_(?:live|test)_ 1000\. xkeysib-"
)
_ONE_CASE = _any(r"bk[ua]a_ csk- napi_ oy2 rdme_ pnu_ retool_ hc[a-z]ik_ API- pk_\d{6,}_")
_SHORT = _any(
    r"gl(?:ptt|dt|rt|rtr|cbt|ft|soat|imt|agent|oas|ffct|wt)- GR1348941 whsec_ hv[sbr]\."
    r" dckr_[po]at_ sb_secret_ sq0(?:atp|csp|idp)- tvly- tskey-[a-z]+-[A-Za-z0-9]+- vc[pkiar]_ rnd_ aio_"
    r" tr_(?:dev|prod|stg|preview)_ rzp_(?:live|test)_ FLWSECK(?:_TEST)?- LTAI alchemy\.com/v2/"
    r" rpa_ pdl_(?:live|sdbx)_apikey_ sk-helicone- WPL_AP\d\."
    r" NR(?:AK|JS|II|AL|RA|IQ|SP)- re_[A-Za-z0-9]{8}_"
)
_LONG = _any(
    r"AIza AKCp cmVmdGtu ABSK AQVN EZ[AT]K eyJrIjoi AT(?:ATT3|CTT3|BB) (?:Account|SharedAccess)Key= (?:sk|p)\.eyJ"
    r" AKLT dG9rO eyJhIjoi glc_ sntrys_ BBDC- fm1[ar]_ fm2_ bedrock-api-key- pscale_(?:tkn|pw|oauth)_"
)
_LIKE_WORDS = _any("EAA[A-Za-z] figd_ dub_ unkey_ AKID 4b1d cio BSA md-")  # what follows must be generated

_AZURE = r"(?:AZDO|JQQJ99|AzFu|AzSe|AzCa|AIoT|APIM|\+ACR|\+ASt|\+AM[CS])"

TOKENS: Final = (
    token("aws-key-id", r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9]|DO00)", r"[A-Z0-9]{16}\b"),
    token("github-token", r"gh[pousr]_", ALNUM + "{30,}"),
    token("github-token", r"github_pat_", r"\w{40,}"),
    token("gitlab-token", r"glpat-", SLUG + r"{20,}(?:\.[\w.]+)?"),
    token("slack-token", r"xox[abcdeoprs](?:-|\.xox[bp]-)", SLUG + "{10,}", MatchTest.MIXED),
    token("slack-token", r"xoxd-", r"[A-Za-z0-9%+/=_\-]{20,}", MatchTest.MIXED),
    token("slack-token", r"xapp-\d", r"-[A-Z0-9]+-\d+-[A-Za-z0-9]{16,}"),
    token("webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/", r"[A-Za-z0-9+/]{30,}"),
    token("webhook", r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/", r"\d+/[\w\-]{40,}"),
    token("webhook", r"webhook\.office\.com/webhookb2/", r"[\w@.\-]+/IncomingWebhook/[0-9a-f]{32}[\w/\-]*"),
    token("webhook", r"hooks\.zapier\.com/hooks/catch/", r"\d+/\w{5,}"),
    token("stripe-key", r"[sr]k_(?:live|test|prod)_", ALNUM + "{16,}"),
    token("npm-token", r"npm_", ALNUM + "{36,}"),
    token("anthropic-key", r"sk-ant-", r"[a-z0-9]+-[\w\-]{32,}"),
    token("openai-key", r"sk-(?:proj|svcacct|admin|None)-", SLUG + "{32,}"),
    token("openai-key", r"sk-", ALNUM + "{32,}", MatchTest.MIXED),
    token("api-key", r"sk-", SLUG + "{20,}", MatchTest.GENERATED),
    token("google-token", r"ya29\.", SLUG + "{20,}"),
    token("google-client-secret", r"GOCSPX-", SLUG + "{20,}"),
    token("google-token", r"1//0", SLUG + "{40,}"),
    SecretRule("azure-client-secret", r"\dQ~[\w.~\-]{6}", START + r"([\w.~]{3}\dQ~[\w.~\-]{31,})"),
    token("huggingface-token", r"(?:hf|api_org)_", r"[A-Za-z]{34}\b"),
    token("sendgrid-key", r"SG\.", r"[\w\-]{16,32}\.[\w\-]{32,}"),
    SecretRule("twilio-key", r"SK[0-9a-f]{8}", START + r"(SK[0-9a-f]{32})\b"),
    SecretRule("telegram-token", r"\d:AA[\w\-]{6}", rf"(?:{START}|bot)(\d{{8,10}}:AA[\w\-]{{32,}})"),
    SecretRule("discord-token", r"\.[\w\-]{6}\.[\w\-]{27}", START + r"([MNO][\w\-]{23,27}\.[\w\-]{6}\.[\w\-]{27,})"),
    SecretRule(
        "mailgun-key", r"[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}", START + r"([0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})\b"
    ),
    SecretRule("mailchimp-key", r"[0-9a-f]{8}-us\d", START + r"([0-9a-f]{32}-us\d{1,2})\b"),
    SecretRule("age-key", r"AGE-SECRET-KEY-", START + r"(AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Za-z]{50,})"),
    token("jwt", r"eyJ", r"[\w\-]{8,}\.eyJ[\w\-]{8,}\.[\w\-]{10,}"),
    token("jwt", r"eyJ", r"[\w\-]{16,}\.[\w\-]{0,}\.[\w\-]{10,}\.[\w\-]{16,}\.[\w\-]{16,}"),
    SecretRule("jwt", "_eyJ", START + r"(\w{2,20}_eyJ[\w\-]{8,}\.eyJ[\w\-]{8,}\.[\w\-]{10,})"),
    token("dynatrace-token", r"dt0[a-z]\d\d\.", r"[A-Z0-9]{24}\.[A-Z0-9]{64,}\b"),
    SecretRule("terraform-token", r"\.atlasv1\.", START + r"([A-Za-z0-9]{14}\.atlasv1\.[\w\-=]{60,})"),
    token("1password-token", r"ops_eyJ", r"[A-Za-z0-9+/=_\-]{100,}"),
    token("1password-key", r"A3-[A-Z0-9]{6}-", r"[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}\b"),
    token("adyen-key", r"AQE", r"[A-Za-z0-9+/]{60,}={0,2}-[A-Za-z0-9+/]{40,}={0,2}-[^\s\"'`\\]{8,}"),
    token("neon-password", r"npg_", r"[a-z]{0,7}[A-Z0-9][A-Za-z0-9]{4,}"),
    token("snyk-token", r"snyk_[us]at\.", r"[a-z0-9]{8}\.[\w\-]+\.[\w\-]+"),
    token("lambda-key", r"secret_[\w\-]+_", r"[0-9a-f]{32}\.[A-Za-z0-9]{20,}"),
    token("bitwarden-token", r"0\.[0-9a-f]{8}-[0-9a-f\-]{27}\.", r"[A-Za-z0-9]{30}:[A-Za-z0-9+/]{20,}={0,2}"),
    token("braintree-token", r"access_token\$(?:production|sandbox)\$", r"[a-z0-9]{16}\$[a-f0-9]{32}\b"),
    token("twitter-token", r"A{19,}", r"[A-Za-z0-9]{2,100}%[A-Za-z0-9%]{40,}"),
    SecretRule("asana-token", r"/\d{12,}:[0-9a-f]{32}", START + r"([12]/\d{12,}(?:/\d{12,})?:[0-9a-f]{32})\b"),
    token("telnyx-key", r"KEY[A-Z0-9]{30,}_", ALNUM + "{20,}"),
    token("openshift-token", r"sha256~", SLUG + r"{43}\b"),
    token("harness-token", r"[ps]at\.[\w\-]{22}\.", r"[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}\b"),
    SecretRule("maxmind-key", r"_mmk", START + r"([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)\b"),
    token("baidu-key", r"bce-v3/ALTAK-", r"[A-Za-z0-9]+/[0-9a-f]{40}\b"),
    SecretRule(
        "zhipu-key", r"[0-9a-f]{32}\.[A-Za-z0-9]{16}", START + r"([0-9a-f]{32}\.[A-Za-z0-9]{16})\b", MatchTest.MIXED
    ),
    token("salesforce-session", r"00[A-Za-z0-9]{13,16}!", r"[\w.]{60,}"),
    # Microsoft marks the keys of its services near their end.
    SecretRule(
        "azure-key",
        _AZURE,
        START + rf"([A-Za-z0-9_+/\-]{{28,80}}{_AZURE}[A-Za-z0-9]{{4,40}}={{0,2}})",
        MatchTest.MIXED,
    ),
    token("elastic-key", r"essu_", r"[A-Za-z0-9+/]{40,}={0,2}"),
    token("wallet-key", r"[xyzt]prv", r"[1-9A-HJ-NP-Za-km-z]{100,}"),
    SecretRule("roblox-cookie", r"WARNING:-DO-NOT-SHARE", r"WARNING:-DO-NOT-SHARE[^|]{0,400}\|_([A-F0-9]{100,})"),
    token("vault-token", r"s\.", r"[A-Za-z0-9]{24}\b", MatchTest.GENERATED),
    token("api-key", _HEXADECIMAL, r"[0-9A-Fa-f](?:[0-9A-Fa-f]|[._\-][0-9A-Za-z]){30,}(?:[-_]\w+)?\b", MatchTest.MIXED),
    token("api-key", _ONE_CASE, r"(?:[a-z0-9]{19,}|[A-Z0-9]{19,})\b", MatchTest.MIXED),
    token("api-key", _SHORT, r"[A-Za-z0-9_\-+/]{12,}", MatchTest.MIXED),
    token("api-key", "(?:fw_|a[ks][_-])", ALNUM + "{20,}", MatchTest.MIXED),
    token("api-key", _LONG, r"[A-Za-z0-9_\-+/.=]{28,}", MatchTest.MIXED),
    token("api-key", _LIKE_WORDS, SLUG + "{22,}", MatchTest.GENERATED),
)
