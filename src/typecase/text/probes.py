"""Texts on which tokenizers go wrong, for comparing one against another.

``probes()`` gives a few hundred strings: quick enough for a start-up check of a tokenizer nobody has proved before;
the tests add generated ones. Each line below names a kind of trouble seen in some tokenizer library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

__all__ = ["probes"]

_WORDS = (
    "",
    "a",
    "Hello world",
    "Hello  world   with    runs\tof\t\tblanks",
    " leading and trailing ",
    "don't we've I'll he'S THEY'RE it''s 'tis",
    "snake_case camelCase PascalCase kebab-case SCREAMING_CASE",
    "supercalifragilisticexpialidocious" * 3,
    "x" * 300,
    "ab" * 200,
)
_BLANKS = (
    " ", "  ", "   ", "\n", "\n\n", "\r\n", "\r", "\t", " \n", "\n ", " \n \n word", "word\n \n \nword", "a\n\n\n\nb",
    "\x0b\x0c", "\x1c\x1d\x1e\x1f\x85", "a\u00a0b", "\u2000\u2001\u2002\u2003\u2028\u2029\u202f\u205f\u3000",
    "\ufeffbom", "zero\u200bwidth\u200cjoin\u200d\u2060er", "   code(\n\t\tindented,\n    more)\n",
)  # fmt: skip
_NUMBERS = (
    "0 1 12 123 1234 12345 123456 1234567890", "3.14159e-10 1,000,000 0x1F", "½ ² ³ ① Ⅷ ⅷ ፫ ٣٤٥ ४५६ 一二三 １２３",
    "2024-01-31T23:59:59Z", "v1.2.3-rc4+build5", "1st2nd3rd", "a1b22c333d4444",
)  # fmt: skip
_SCRIPTS = (
    "漢字とかな交じり文。中文测试，繁體中文",
    "한국어 문장입니다. \u1112\u1161\u11ab\u1100\u116e\u11a8", "สวัสดีชาวโลก", "नमस्ते दुनिया क्षत्रिय",
    "שלום עולם", "مرحبا بالعالم \u0640\u064b", "Привет, мир! Ёё Йй", "Ελληνικά Άά", "Zażółć gęślą jaźń",
    "İstanbul ıI ǅ ß ẞ ﬁ ﬀ", "e\u0301 \u00e9 n\u0303 \u00f1 a\u0323\u0302 \u1eadz\u0351\u036b", "\u0301\u0301 alone",
    "Å\u212b\u2126Ω ℌ ℕ ﷺ ㍿ ㌀", "👩‍👩‍👧‍👦 👍🏽 🇸🇪🇳 ❤️ 🫠 🏴\U000e0067\U000e0062\U000e007f", "🤷🏽‍♀️x🤷",
    "\ufffd \U0010ffff \ue000", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒯𝓔𝓧𝓽",
)  # fmt: skip
_SIGNS = (
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "...…—–-‐", "<<>>«»“”‘’„‚", "a/b\\c",
    "C++ c# f(x)=x^2; //comment /* x */ # y",
    '{"k": [1, 2.5, null, true], "s": "\\u00e9\\n"}', "<html><body class='x'>&amp;</body></html>",
    "def f(a, b=1):\n    return a**b  # ok\n", "https://example.org/a?b=c&d=%20#e user@example.org",
    "$x^{2}$ \\frac{1}{2}", "\x00\x01\x02\x7f\x80\x9f", "\u202eabc\u202c \u200f!", "▁▁a▁b", "Ġhello Ċ",
    "<0x0A><0xFF>", "##ing @@ </w>",
)  # fmt: skip


def probes(markers: Sequence[str] = ()) -> Iterator[str]:
    """Hard strings; ``markers`` are added tokens of the tokenizer, which are placed inside, beside and cut in two."""
    plain: tuple[Iterable[str], ...] = (_WORDS, _BLANKS, _NUMBERS, _SCRIPTS, _SIGNS)
    singles = [text for group in plain for text in group]
    yield from singles
    for left, right in zip(singles, singles[7:], strict=False):
        yield left + right
        yield f"{left} {right}"
        yield f"{left}\n\n{right}"
    for marker in markers[:40]:
        yield marker
        yield f"a{marker}b"
        yield f" {marker} {marker}\n{marker}{marker} x"
        yield marker[:-1]
        yield marker[1:] + marker[:-1]
        yield marker.upper() + marker.lower()
    yield " ".join(singles)
