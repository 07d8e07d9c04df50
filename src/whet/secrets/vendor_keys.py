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


class MatchTest(StrEnum):
    """How a match is judged before it counts."""

    NONE = "none"  # the shape alone is proof
    MIXED = "mixed"  # the value has letters and digits or changes its case like chance, and is no stand-in
    VALUE = "value"  # the value is plausible as a secret
    CONVINCING = "convincing"  # the value looks generated
    GENERATED = "generated"  # the value ends in letters of both cases and digits without any order
    ASSIGNED = "assigned"  # the name (group 1) is secret and the value is plausible
    CELL = "cell"  # as if assigned, and the value can hardly be a word: tables describe more often than they hold
    LOGIN = "login"  # the value is a password that is neither a stand-in nor the user's name (group 1)
    COOKIES = "cookies"  # the value is a list of cookies, judged one by one
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


ALNUM: Final = "[A-Za-z0-9]"
SLUG: Final = r"[A-Za-z0-9_\-]"

TOKENS: Final = (
    token("aws-key-id", r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])", r"[A-Z0-9]{16}\b"),
    token("github-token", r"gh[pousr]_", ALNUM + "{30,}"),
    token("github-token", r"github_pat_", r"\w{40,}"),
    token("gitlab-token", r"gl(?:pat|ptt|dt|rt|rtr|cbt|ft|soat|imt|agent|oas|ffct|wt)-", SLUG + r"{20,}(?:\.[\w.]+)?"),
    token("slack-token", r"xox[abcdeoprs](?:-|\.xox[bp]-)", SLUG + "{10,}", MatchTest.MIXED),
    token("slack-token", r"xapp-\d", r"-[A-Z0-9]+-\d+-[A-Za-z0-9]{16,}"),
    token("slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/", r"[A-Za-z0-9+/]{30,}"),
    token("stripe-key", r"[sr]k_(?:live|test|prod)_", ALNUM + "{16,}"),
    token("stripe-webhook-secret", r"whsec_", r"[A-Za-z0-9+/=]{24,}"),
    token("anthropic-key", r"sk-ant-", r"[a-z0-9]+-[\w\-]{32,}"),
    token("openai-key", r"sk-(?:proj|svcacct|admin|None)-", SLUG + "{32,}"),
    token("openrouter-key", r"sk-or-v\d", r"-[0-9a-f]{32,}\b"),
    token("langfuse-key", r"[sp]k-lf-", r"[0-9a-f\-]{32,}\b"),
    token("openai-key", r"sk-", ALNUM + "{32,}", MatchTest.MIXED),
    token("google-key", r"AIza", SLUG + "{35,}"),
    token("google-token", r"ya29\.", SLUG + "{20,}"),
    token("google-client-secret", r"GOCSPX-", SLUG + "{20,}"),
    token("google-token", r"1//0", SLUG + "{40,}"),
    token("azure-key", r"(?:Account|SharedAccess)Key=", r"[A-Za-z0-9+/]{40,}={0,2}"),
    SecretRule("azure-client-secret", r"\dQ~[\w.~\-]{6}", START + r"([\w.~]{3}\dQ~[\w.~\-]{31,})"),
    token("npm-token", r"npm_", ALNUM + "{36,}"),
    token("pypi-token", r"pypi-AgE", SLUG + "{50,}"),
    token("huggingface-token", r"(?:hf|api_org)_", r"[A-Za-z0-9]{30,}"),
    token("sendgrid-key", r"SG\.", r"[\w\-]{16,32}\.[\w\-]{32,}"),
    SecretRule("twilio-key", r"SK[0-9a-f]{8}", START + r"(SK[0-9a-f]{32})\b"),
    SecretRule("telegram-token", r"\d:AA[\w\-]{6}", rf"(?:{START}|bot)(\d{{8,10}}:AA[\w\-]{{32,}})"),
    SecretRule("discord-token", r"\.[\w\-]{6}\.[\w\-]{27}", START + r"([MNO][\w\-]{23,27}\.[\w\-]{6}\.[\w\-]{27,})"),
    token("discord-webhook", r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/", r"\d+/[\w\-]{40,}"),
    token("digitalocean-token", r"do[opr]_v1_", r"[a-f0-9]{60,}\b"),
    token("databricks-token", r"dapi", r"[a-f0-9]{32}(?:-\d)?\b"),
    token("linear-key", r"lin_(?:api|oauth)_", ALNUM + "{32,}"),
    token("vault-token", r"hv[sbr]\.", SLUG + "{24,}"),
    token("docker-token", r"dckr_[po]at_", SLUG + "{20,}"),
    token("groq-key", r"gsk_", ALNUM + "{40,}"),
    token("xai-key", r"xai-", ALNUM + "{60,}"),
    token("supabase-key", r"sbp_", r"(?:v\d_)?[a-f0-9]{40,}\b"),
    token("supabase-key", r"sb_secret_", SLUG + "{20,}"),
    token("shopify-token", r"shp(?:at|ca|pa|ss)_", r"[A-Fa-f0-9]{32,}\b"),
    token("square-token", r"sq0(?:atp|csp|idp)-", SLUG + "{22,}"),
    token("square-token", r"EAAA[A-Za-z0-9]", SLUG + "{55,}"),
    token("mailgun-key", r"(?:key|pubkey)-", r"[0-9a-f]{32}\b"),
    SecretRule(
        "mailgun-key", r"[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}", START + r"([0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})\b"
    ),
    SecretRule("mailchimp-key", r"[0-9a-f]{8}-us\d", START + r"([0-9a-f]{32}-us\d{1,2})\b"),
    token("brevo-key", r"xkeysib-", r"[a-f0-9]{60,}-\w+"),
    token("sentry-token", r"sntrys_", r"[\w+/=\-]{40,}", MatchTest.MIXED),
    token("sentry-token", r"sntryu_", r"[a-f0-9]{60,}\b"),
    token("newrelic-key", r"NR(?:AK|JS|II|AL|RA|IQ|SP)-", ALNUM + "{19,}"),
    SecretRule("age-key", r"AGE-SECRET-KEY-", START + r"(AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Za-z]{50,})"),
    token("jwt", r"eyJ", r"[\w\-]{8,}\.eyJ[\w\-]{8,}\.[\w\-]{10,}"),
    token("jwt", r"eyJ", r"[\w\-]{16,}\.[\w\-]{0,}\.[\w\-]{10,}\.[\w\-]{16,}\.[\w\-]{16,}"),
    token("perplexity-key", r"pplx-", ALNUM + "{40,}"),
    token("replicate-token", r"r8_", ALNUM + "{36,}"),
    token("fireworks-key", r"fw_", ALNUM + "{20,}", MatchTest.MIXED),
    token("notion-token", r"(?:ntn|secret)_", ALNUM + "{40,}"),
    token("figma-token", r"fig[doru]_", SLUG + "{38,}"),
    token("airtable-token", r"pat[A-Za-z0-9]{14}\.", r"[a-f0-9]{60,}\b"),
    token("atlassian-token", r"AT(?:ATT3|CTT3|BB)", r"[\w\-=]{28,}"),
    token("doppler-token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.", r"[\w.]{40,}"),
    token("dynatrace-token", r"dt0[a-z]\d\d\.", r"[A-Z0-9]{24}\.[A-Z0-9]{64,}\b"),
    token("fly-token", r"(?:fo1|fm1a|fm1r|fm2)_", r"[\w+/=\-]{40,}"),
    token("grafana-token", r"gl(?:c|sa)_", r"[A-Za-z0-9+/=_]{30,}"),
    token("grafana-token", r"eyJrIjoi", r"[A-Za-z0-9+/=]{40,}"),
    token("cloudflare-key", r"v1\.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}\b"),
    token("cloudflare-token", r"cf(?:k|ut|at)_", ALNUM + "{40,}"),
    token("teams-webhook", r"webhook\.office\.com/webhookb2/", r"[\w@.\-]+/IncomingWebhook/[0-9a-f]{32}[\w/\-]*"),
    token("heroku-key", r"HRKU-", SLUG + "{30,}"),
    SecretRule("terraform-token", r"\.atlasv1\.", START + r"([A-Za-z0-9]{14}\.atlasv1\.[\w\-=]{60,})"),
    token("planetscale-token", r"pscale_(?:tkn|pw|oauth)_", r"[\w.\-=]{32,}"),
    token("postman-key", r"PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}\b"),
    token("pulumi-token", r"pul-", r"[a-f0-9]{40}\b"),
    token("rubygems-key", r"rubygems_", r"[a-f0-9]{48}\b"),
    token("cratesio-token", r"cio", ALNUM + r"{32}\b", MatchTest.MIXED),
    token("tailscale-key", r"tskey-[a-z]+-", r"[A-Za-z0-9]+-[A-Za-z0-9]{16,}"),
    token("netlify-token", r"nf[pcou]_", ALNUM + "{36,}"),
    token("circleci-token", r"CCI(?:PAT|PRJ)_", r"\w{40,}"),
    token("langsmith-key", r"lsv2_(?:pt|sk)_", r"[a-f0-9]{32}_[a-f0-9]{10}\b"),
    token("tavily-key", r"tvly-", SLUG + "{24,}"),
    token("nvidia-key", r"nvapi-", SLUG + "{50,}"),
    token("buildkite-token", r"bk[ua]a_", r"[a-z0-9]{40}\b"),
    token("facebook-token", r"EAA[A-Z][A-Za-z0-9]", ALNUM + "{80,}"),
    token("1password-token", r"ops_eyJ", r"[A-Za-z0-9+/=]{100,}"),
    token("artifactory-key", r"AKCp", ALNUM + "{60,}"),
    token("alibaba-key-id", r"LTAI", ALNUM + r"{16,26}\b"),
    token("vercel-token", r"vc[pkiar]_", ALNUM + "{24,}"),
    token("clerk-key", r"sk_(?:live|test)_", SLUG + "{30,}"),
    token("mapbox-token", r"sk\.eyJ", r"[\w\-]{20,}\.[\w\-]{16,}"),
    token("elevenlabs-key", r"sk_", r"[a-f0-9]{40,}\b"),
    token("cerebras-key", r"csk-", r"[a-z0-9]{40,}\b"),
    token("pinecone-key", r"pcsk_", r"\w{50,}"),
    token("firecrawl-key", r"fc-", r"[a-f0-9]{32}\b"),
    token("resend-key", r"re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", MatchTest.MIXED),
    token("posthog-key", r"phx_", ALNUM + "{40,}"),
    token("contentful-token", r"CFPAT-", SLUG + "{40,}"),
    token("hubspot-token", r"pat-[a-z]{2}\d-", r"[0-9a-f\-]{36}\b"),
    token("neon-key", r"napi_", r"[a-z0-9]{50,}\b"),
    token("render-key", r"rnd_", ALNUM + "{28,}"),
    token("sonar-token", r"sq[pua]_", r"[a-f0-9]{40}\b"),
    token("sourcegraph-token", r"sgp_", r"[a-f0-9_]{40,}\b"),
    token("prefect-key", r"pn[ub]_", ALNUM + "{36,}"),
    token("typeform-token", r"tfp_", SLUG + "{40,}"),
    token("dropbox-token", r"sl\.", SLUG + "{100,}"),
    token("e2b-key", r"e2b_", r"[a-f0-9]{40}\b"),
    token("adyen-key", r"AQE", r"[A-Za-z0-9+/]{60,}={0,2}-[A-Za-z0-9+/]{40,}={0,2}-[^\s\"'`\\]{8,}"),
    token("google-key", r"AQ\.", SLUG + "{40,}", MatchTest.MIXED),
    token("bedrock-key", r"ABSK", r"[A-Za-z0-9+/]{60,}={0,2}"),
    token("bedrock-key", r"bedrock-api-key-", r"[A-Za-z0-9+/]{40,}={0,2}"),
    token("cursor-key", r"crsr_", SLUG + "{32,}"),
    token("together-key", r"tgp_v\d_", SLUG + "{32,}"),
    token("voyage-key", r"pa-", SLUG + "{40,}", MatchTest.MIXED),
    token("jina-key", r"jina_", ALNUM + "{32,}"),
    token("wandb-key", r"wandb_v\d_", r"\w{40,}"),
    token("modal-token", r"a[ks]-", ALNUM + r"{22}\b", MatchTest.MIXED),
    token("neon-password", r"npg_", r"[a-z]{0,7}[A-Z0-9][A-Za-z0-9]{4,}"),
    token("nuget-key", r"oy2", r"[a-z0-9]{43}\b", MatchTest.MIXED),
    token("snyk-token", r"snyk_[us]at\.", r"[a-z0-9]{8}\.[\w\-]+\.[\w\-]+"),
    token("api-key", r"sk-[a-z]{2,12}-", ALNUM + "{32,}", MatchTest.MIXED),
    token("cursor-key", r"key_", r"[a-f0-9]{60,}\b"),
    token("lambda-key", r"secret_[\w\-]+_", r"[0-9a-f]{32}\.[A-Za-z0-9]{20,}"),
    token("api-key", r"sk_", ALNUM + "{40,}", MatchTest.MIXED),
    token("factory-key", r"fk-", SLUG + "{38,}", MatchTest.MIXED),
    token("composio-key", r"ak_", ALNUM + r"{20}\b", MatchTest.MIXED),
    token("brave-key", r"BSA", SLUG + r"{27,28}\b", MatchTest.MIXED),
    token("digitalocean-key-id", r"DO00", r"[A-Z0-9]{16}\b", MatchTest.MIXED),
    token("vercel-token", r"vercel_blob_rw_", r"\w{30,}"),
    token("yandex-key", r"AQVN", SLUG + "{35,}", MatchTest.MIXED),
    token("packagist-token", r"packagist_[a-z]{3}_", r"[a-f0-9]{60,}\b"),
    token("infisical-token", r"st\.[0-9a-f]{24}\.", r"[0-9a-f]{32}\.[0-9a-f]{32}\b"),
    token("bitwarden-token", r"0\.[0-9a-f]{8}-[0-9a-f\-]{27}\.", r"[A-Za-z0-9]{30}:[A-Za-z0-9+/]{20,}={0,2}"),
    token("clickhouse-key", r"4b1d", ALNUM + r"{38}\b", MatchTest.MIXED),
    token("mandrill-key", r"md-", SLUG + r"{22}\b", MatchTest.MIXED),
    token("braintree-token", r"access_token\$(?:production|sandbox)\$", r"[a-z0-9]{16}\$[a-f0-9]{32}\b"),
    token("twitter-token", r"A{19,}", r"[A-Za-z0-9]{2,100}%[A-Za-z0-9%]{40,}"),
    SecretRule("asana-token", r"/\d{12,}:[0-9a-f]{32}", START + r"([12]/\d{12,}(?:/\d{12,})?:[0-9a-f]{32})\b"),
    token("clickup-token", r"pk_\d{6,}_", r"[A-Z0-9]{32}\b"),
    token("honeycomb-key", r"hc[a-z]ik_", r"[a-z0-9]{50,}\b"),
    token("launchdarkly-key", r"(?:sdk|api)-", r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    token("telnyx-key", r"KEY[A-Z0-9]{30,}_", ALNUM + "{20,}"),
    token("trigger-key", r"tr_(?:dev|prod|stg|preview)_", ALNUM + "{20,}"),
    token("infura-key", r"infura\.io/(?:ws/)?v3/", r"[0-9a-f]{32}\b"),
    token("alchemy-key", r"alchemy\.com/v2/", SLUG + "{28,}"),
    token("dagster-token", r"user:", r"[0-9a-f]{32}\b"),
    token("1password-key", r"A3-[A-Z0-9]{6}-", r"[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}\b"),
    token("openshift-token", r"sha256~", SLUG + r"{43}\b"),
    token("adobe-secret", r"p8e-", ALNUM + r"{32}\b", MatchTest.MIXED),
    token("apify-token", r"apify_api_", ALNUM + "{30,}"),
    token("bitbucket-token", r"BBDC-", r"[A-Za-z0-9+/_\-]{4,}[A-Za-z0-9+/@_\-]{36,}"),
    token("clojars-token", r"CLOJARS_", r"[A-Za-z0-9]{60}\b"),
    token("duffel-token", r"duffel_(?:test|live)_", r"[\w\-=]{40,}"),
    token("easypost-key", r"EZ[AT]K", ALNUM + r"{54}\b"),
    token("flutterwave-key", r"FLWSECK(?:_TEST)?-", r"[0-9a-z]{12,32}(?:-X)?"),
    token("frameio-token", r"fio-u-", r"[\w\-=]{60,}"),
    token("gitlab-token", r"GR1348941", SLUG + "{20,}"),
    token("harness-token", r"[ps]at\.[\w\-]{22}\.", r"[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}\b"),
    token("infracost-key", r"ico-", ALNUM + r"{32}\b", MatchTest.MIXED),
    token("inngest-key", r"signkey-[a-z]+-", r"[0-9a-f]{32,}\b"),
    token("artifactory-key", r"cmVmdGtu", ALNUM + "{50,}"),
    SecretRule("maxmind-key", r"_mmk", START + r"([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)\b"),
    token("octopus-key", r"API-", r"[A-Z0-9]{26,}\b", MatchTest.MIXED),
    token("plaid-token", r"access-(?:sandbox|development|production)-", r"[0-9a-f\-]{36}\b"),
    token("ramp-secret", r"ramp_sec_", ALNUM + "{40,}"),
    token("razorpay-key", r"rzp_(?:live|test)_", ALNUM + "{14,}"),
    token("readme-key", r"rdme_", r"[a-z0-9]{60,}\b"),
    token("rootly-key", r"rootly_", r"[a-f0-9]{60,}\b"),
    token("runpod-key", r"rpa_", ALNUM + "{40,}"),
    token("scalingo-token", r"tk-us-", SLUG + "{48,}"),
    token("shippo-token", r"shippo_(?:live|test)_", r"[a-fA-F0-9]{40}\b"),
    token("sonar-token", r"sqco_", ALNUM + "{50,}"),
    token("sourcegraph-token", r"slk_", r"[a-f0-9]{64}\b"),
    token("tencent-key-id", r"AKID", ALNUM + r"{32}\b", MatchTest.MIXED),
    token("baidu-key", r"bce-v3/ALTAK-", r"[A-Za-z0-9]+/[0-9a-f]{40}\b"),
    token("zoho-token", r"1000\.[0-9a-f]{32}\.", r"[0-9a-f]{32}\b"),
    SecretRule(
        "zhipu-key", r"[0-9a-f]{32}\.[A-Za-z0-9]{16}", START + r"([0-9a-f]{32}\.[A-Za-z0-9]{16})\b", MatchTest.MIXED
    ),
    token("adafruit-key", r"aio_", ALNUM + r"{28}\b", MatchTest.MIXED),
    token("axiom-token", r"xa[ap]t-", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
    token("convex-key", r"(?:prod|preview|dev):[\w\-]+\|", r"[A-Za-z0-9+/=]{40,}"),
    token("intercom-token", r"dG9rOj", r"[A-Za-z0-9+/]{50,}={0,2}"),
    token("onesignal-key", r"os_v2_(?:app|org)_", r"[a-z0-9]{80,}\b"),
    token("salesforce-session", r"00D[A-Za-z0-9]{12,15}!", r"[\w.]{60,}"),
    token("tinybird-token", r"p\.eyJ", r"[\w\-]{20,}\.[\w\-]{20,}"),
    token("trello-token", r"ATTA", r"[a-f0-9]{64}[A-F0-9a-f]{8}\b"),
    token("wakatime-key", r"waka_", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
    SecretRule("azure-devops-token", r"AZDO", START + r"([A-Za-z0-9]{70,80}AZDO[A-Za-z0-9]{4})\b"),
)
