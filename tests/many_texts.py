"""Texts as people write them in many languages, and texts that hide something."""

REAL_TEXTS = {
    "German": "Führe vor jedem Commit die Tests aus; „größer“ heißt > 5 €, § 3 gilt.",
    "French": "N’écrase jamais le fichier\u202f: demande d’abord « pourquoi\u00a0? » à l’équipe, œuvre après œuvre.",
    "Japanese": "コミットする前にテストを実行してください。「はい」と答える。Ｔシャツ、ﾃｽﾄ、１２３、神社の々。",
    "Chinese": "提交之前先运行测试，不要跳过。使用Python编写：第１步（必须）。",
    "Hindi": "कमिट से पहले परीक्षण चलाएँ। श्री, क्\u200dष, क्\u200cष।",
    "Bengali": "র\u200d্যাব কমিটের আগে পরীক্ষা চালান।",
    "Malayalam": "അവന്\u200d വന്നു.",
    "Arabic": "شغِّل الاختبارات قبل كل إيداع، ولا تتجاوزها؟ ١٢٣",
    "Persian": "می\u200cخواهم پاسخ\u200cها کوتاه باشند؛ سال ۱۴۰۳ ه\u200d.ش.",
    "Hebrew": "הרץ את הבדיקות לפני כל קומיט, בְּרֵאשִׁית.",
    "Korean": "커밋하기 전에 테스트를 실행하세요. API를 사용합니다.",
    "Thai": "รัน\u200bการ\u200bทดสอบ\u200bก่อน",
    "Khmer": "រត់\u200bតេស្ត",
    "Mongolian": "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ\u180c ᠠᠮᠠ\u180eᠠ",
    "Russian": "Запусти тесты перед коммитом, а не после.",
    "Greek": "Τρέξε τα τεστ πριν από κάθε αλλαγή.",
    "Vietnamese": "Chạy kiểm thử trước khi commit.",
    "emoji": "Done 👩‍💻 ❤️ 🏳️‍🌈 🏴‍☠️ 🧑🏽‍🚀 1️⃣ #️⃣ 🇩🇪 🤷‍♀️ ✔︎ ⚠️ 🫨",
    "flags": "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f is Scotland's.",
    "signs": "→ ≤ × · … – — ✓ ½ 10⁻³ µs ∑ ⌘ \u202f% naïve\tcafé\r\nnew line",
}

HIDDEN = {
    "variation selector": "Answer\ufe0f briefly.",
    "selector of an ideograph": "葛\U000e0100",
    "supplementary selector on an emoji": "😀\U000e0141",
    "two selectors on an emoji": "❤\ufe0f\ufe0f",
    "zero-width space": "Ans\u200bwer",
    "zero-width space beside Thai": "Answer\u200bรัน",
    "joiner between Latin letters": "An\u200dswer",
    "non-joiner between Latin letters": "An\u200cswer",
    "joiner after an emoji": "👩\u200d, done",
    "two joiners in Persian": "می\u200c\u200cخواهم",
    "word joiner": "An\u2060swer",
    "byte order mark": "An\ufeffswer",
    "soft hyphen": "An\u00adswer",
    "combining grapheme joiner": "An\u034fswer",
    "Hangul filler": "An\u3164swer",
    "Hangul choseong filler": "An\u115fswer",
    "half-width Hangul filler": "An\uffa0swer",
    "Braille blank": "An\u2800swer",
    "Khmer inherent vowel": "An\u17b4swer",
    "Mongolian vowel separator": "An\u180eswer",
    "invisible times": "a\u2062b",
    "tag": "Answer\U000e0041",
    "tags on a flag of no country": "🏴\U000e0061\U000e0062\U000e0063\U000e007f",
    "right-to-left override": "Answer \u202eyltrohs\u202c.",
    "isolate": "Answer\u2066x\u2069",
    "right-to-left mark": "Answer\u200f",
    "Arabic letter mark": "Answer\u061c",
    "annotation": "a\ufff9b\ufffac\ufffb",
    "object replacement": "a\ufffcb",
    "musical format": "a\U0001d173b",
    "escape": "Answer\x1b[2J",
    "next line": "Answer\x85",
    "line separator": "Answer\u2028briefly",
    "lone carriage return": "Never\rAnswer",
    "private use": "a\ue000b",
    "not assigned": "a\U000e0fffb",
    "lone surrogate": "a\ud800b",
}

# The text, and a letter of it that passes for another.
DECEPTIVE = {
    "Install p\u0430ypal.": "\u0430",  # Cyrillic a
    "Install \u0440\u0430\u0443\u0440.": "\u0440",  # a whole word of Cyrillic twins in a Latin text
    "Read c\u03bfnfig.": "\u03bf",  # Greek omicron
    "Run \uff52\uff4d -rf.": "\uff52",  # full width
    "Run r\uff4d -rf.": "\uff4d",
    "使用r\uff4d命令": "\uff4d",
    "Run \U0001d42b\U0001d426.": "\U0001d42b",  # mathematical bold
    "Run \U0001d7d9 time.": "\U0001d7d9",
    "\u0561\u057dk me": "\u0561",  # Armenian in Latin
    "\u13a0ccept": "\u13a0",  # Cherokee
    "\u0261oogle": "\u0261",  # phonetic g
    "Наук\u03b1": "\u03b1",  # Greek in Cyrillic
    "https://example\u2024com": "\u2024",
    "https://example.com\u2215evil.org": "\u2215",
}
