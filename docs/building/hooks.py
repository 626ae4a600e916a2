"""What the site is made of beside its pages: executed notebooks, tables read from the code, two files of the root."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import site_notebooks
import site_tables
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
OF_THE_ROOT = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
    "conduct.md": "CODE_OF_CONDUCT.md",
}
_outputs: dict[str, list[str]] = {}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that no file of ``docs`` holds."""
    for uri, name in OF_THE_ROOT.items():
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        for page, linked in OF_THE_ROOT.items():
            text = text.replace(f"]({linked}", f"]({page}")
        files.append(File.generated(config, uri, content=text))
    for notebook in site_notebooks.executed(ROOT, ROOT / ".site_cache"):
        _outputs[f"tutorials/{notebook.name}.md"] = notebook.outputs
        files.append(File.generated(config, f"tutorials/{notebook.name}.md", content=notebook.markdown))
        files.append(File.generated(config, f"tutorials/{notebook.name}.ipynb", content=notebook.source))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the tables in where a page asks for them."""
    return site_tables.filled(markdown)


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Put a notebook's outputs in as they are: Markdown would read what is HTML already."""
    return site_notebooks.with_outputs(html, _outputs.get(page.file.src_uri, []))
