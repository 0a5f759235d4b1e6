"""``make demo``: the real model is fetched, rendered, shown, and the server is gone afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.network
def test_demo_once(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "demo.py"), "--once"]
    environment = {**os.environ, "TYPECASE_DEMO_CACHE": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "<|im_start|>1 system9690 ⏎198" in done.stdout
    assert '"token_ids": [1, 9690, 198, ' in done.stdout
    assert "the text gives the same ids again" in done.stdout
    assert "\x1b" not in done.stdout, "colours are for terminals only"
