# SPDX-License-Identifier: Apache-2.0
"""The notebook of the examples, executed."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).resolve().parents[2] / "Sources" / "NearbyPython" / "examples"


def test_the_notebook_runs_and_shows_its_figures(
    plaza2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEARBY_RECORDING", str(plaza2))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(EXAMPLES / "trajectory.ipynb", as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute(cwd=str(tmp_path))
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == 2
    tables = [output for output in outputs if "text/html" in output.get("data", {})]
    assert any("Estimates:" in str(output.data["text/html"]) for output in tables)
    text = "".join(output.text for output in outputs if output.output_type == "stream")
    assert text.count("converged, error") == 3
    # The committed notebook has no outputs, which would change with every run.
    assert all(not cell.get("outputs") for cell in nbformat.read(EXAMPLES / "trajectory.ipynb", 4).cells)
