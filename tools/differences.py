"""Write the generated part of docs/compatibility.md from tests/parity/differences.json.

    python tools/differences.py [--check]

With ``--check`` nothing is written; the exit status says whether the page is current.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "compatibility.md"
DATA = ROOT / "tests" / "parity" / "differences.json"
BEGIN = "<!-- generated from tests/parity/differences.json by tools/differences.py: begin -->"
END = "<!-- generated: end -->"


def generated() -> str:
    """The table of wanted differences."""
    rows = ["| where | in the answer | ours | why |", "|---|---|---|---|"]
    for entry in json.loads(DATA.read_text(encoding="utf-8")):
        ours = f"`{json.dumps(entry['ours'], ensure_ascii=False)}`" if entry.get("ours") is not None else ""
        where = "everywhere" if entry["sample"] == "*" else f"`{entry['sample']}`"
        rows.append(f"| {where} | `{entry.get('path', '*')}` | {ours} | {entry['reason']} |")
    return "\n".join(rows)


def page() -> str:
    """The whole page with the table as it should be now."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{generated()}\n\n{END}{tail}"


def main() -> int:
    if "--check" in sys.argv[1:]:
        return 0 if page() == PAGE.read_text(encoding="utf-8") else 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
