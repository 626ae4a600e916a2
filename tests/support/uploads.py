"""Files to and from a form, as its page hands them on."""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime

import ipywidgets

from smsotp_nb._widgets.results_table import Download


def upload(button: ipywidgets.FileUpload, name: str, content: bytes) -> None:
    told = {"name": name, "type": "", "size": len(content)}
    if isinstance(button.value, dict):  # ipywidgets 7
        button.metadata, button.data, button._counter = [{**told, "lastModified": 0}], [content], 1
    else:
        button.value = ({**told, "content": memoryview(content), "last_modified": datetime.now(UTC)},)


def taken(download: Download) -> tuple[str, bytes]:
    """Take the file that is offered; return its name and content."""
    content, name = b"", ""
    while download.open:
        piece = download._piece.value
        name = re.search(r'data-name="([^"]*)"', piece)[1]  # type: ignore[index]
        content += base64.b64decode(re.sub("<[^>]*>", "", piece))
        download._taken.click()
    return name, content
