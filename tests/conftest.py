"""Where tests find what isn't in the repository, and what is said when it isn't there.

``TYPECASE_SHARED``: the folder of recorded answers (default ``../shared``). ``TYPECASE_MODELS``: model directories made
by its ``models/fetch.py`` (default: ``.models`` in the repository). ``TYPECASE_NOTHING_LEFT_OUT=shared,network``: a
test that would be left out for want of these fails instead.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"


def shared_folder() -> Path | None:
    folder = Path(os.environ.get("TYPECASE_SHARED", ROOT.parent / "shared"))
    return folder if (folder / "golden").is_dir() else None


def models_folder() -> Path | None:
    folder = Path(os.environ.get("TYPECASE_MODELS", ROOT / ".models"))
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded answers."""
    folder = shared_folder()
    assert folder is not None
    return folder


@pytest.fixture(scope="session")
def models() -> Path:
    """The folder that holds the model directories."""
    folder = models_folder()
    assert folder is not None
    return folder


@pytest.fixture(scope="session")
def tiny() -> Path:
    """The small checkpoint that is committed for the tests."""
    return DATA / "tiny"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    strict = os.environ.get("TYPECASE_NOTHING_LEFT_OUT", "").split(",")
    missing = {
        "shared": None if shared_folder() else "the shared folder of recorded answers is not there",
        "network": None if models_folder() else "no model directories: set TYPECASE_MODELS",
    }
    for item in items:
        for marker, reason in missing.items():
            if reason and item.get_closest_marker(marker) and marker not in strict:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[reason.removeprefix("Skipped: ")] += 1
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"left out: {count} tests ({reason})")
    deselected = len(terminalreporter.stats.get("deselected", []))
    if deselected:
        terminalreporter.write_line(
            f"left out: {deselected} tests marked network or nightly (.ci/run and make nightly run them)"
        )
