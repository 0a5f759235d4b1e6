"""Texts on which tokenizers go wrong: scripts, white space, digits, marks, code, and special tokens in the text."""

from __future__ import annotations

import random
from collections.abc import Sequence

__all__ = ["probe_texts"]

_FIXED = (
    "",
    " ",
    "  ",
    "\n",
    "\n\n\n",
    "\t \t\n \r\n  \r\r\n",
    " leading and trailing ",
    "Hello, world! It's 9 o'clock; they'LL say I'd've known. DON'T",
    "a  b   c    d     e" + " " * 40 + "f" + "\n" * 17 + "g",
    "1 12 123 1234 12345 123456789 3.14159  7   42 1,000,000 x1y22z333 ½ ² ٣٤ 五百",
    "def f(x):\n\tif x  ==  3:\n        return {'a': [1,2,  3]}  # done\n\n\n\nprint(f(10**6))\n",
    '<html><body class="x">&nbsp;&amp;</body></html> https://example.org/a?b=c&d=%20#e',
    "Ünïcödé Ŝtŕîñğ ﬁ ﬂ Å Å é é ẛ̣ ℡ ㍿ ｆｕｌｌ ＷＩＤＴＨ",
    "汉字漢字かなカナ한국어조선말 今日は、世界。「引用」……！？",
    "مرحبا بالعالم שלום עולם नमस्ते दुनिया สวัสดีชาวโลก မင်္ဂလာပါ ሰላም Ἀθῆναι Привет",
    "😀😃🇫🇷👩‍👩‍👧‍👦👍🏽❤️☃︎ 🏳️‍🌈 𝒜𝔟𝕔 𐍈 \U000e0041",
    "zero\u200bwidth\u200djoin\ufeffbom\u00a0nbsp\u2003em\u3000ideographic\u2028line\u2029para\x00nul\x07bel\x7fdel",
    "▁under ▁▁ _ __ Ġ Ċ ĉ <0x0A> <0xE2> <unk> <s> </s> [INST] [/INST] <pad>",
    "camelCaseHTTPServer iPhone McDONALD'S ÉCOLE straße ŁÓDŹ ǅ ʰ ͏",
    "a\u0301\u0302\u0303\u0304 e\u0300\u0316 \u0915\u094d\u0937\u093f " + "\u0301" * 9,
    "!!! ??? ... --- *** ### $$$ %%% ((( ))) [[[ ]]] {{{ }}} <<< >>> ||| \\\\\\ /// ~~~ ``` ^^^ @@@ &&& +=+=",
)
_BLOCKS = (
    (0x20, 0x7F), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x530), (0x590, 0x700), (0x900, 0xD00), (0xE00, 0x1200),
    (0x2000, 0x2070), (0x2100, 0x2200), (0x3000, 0x3100), (0x4E00, 0x5000), (0xAC00, 0xAD00), (0xFF00, 0xFFF0),
    (0x1F300, 0x1F700),
)  # fmt: skip
_SPICES = (" ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", "'s", "'LL", "1", "123", "▁", "<", "|>", "a", "The", ". ")


def probe_texts(special: Sequence[str] = (), *, count: int = 150, seed: int = 7) -> list[str]:
    """The fixed texts, some with ``special`` tokens in all kinds of company, and ``count`` random mixtures."""
    chance = random.Random(seed)
    texts = list(_FIXED)
    for token in special:
        texts += [
            token,
            f"a{token}b",
            f" {token} ",
            f"{token}{token}  \n{token}",
            token[:-1],
            token.upper() + token[1:],
        ]
    for _ in range(count):
        parts = []
        for _ in range(chance.randint(1, 14)):
            kind = chance.random()
            if kind < 0.45:
                parts.append(chance.choice(_SPICES))
            elif kind < 0.6 and special:
                parts.append(chance.choice(special))
            else:
                low, high = chance.choice(_BLOCKS)
                parts.append("".join(chr(chance.randrange(low, high)) for _ in range(chance.randint(1, 5))))
        texts.append("".join(parts))
    return texts
