"""Files to and from a form, as its page hands them on."""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime
from typing import Any

import ipywidgets

from smsotp_nb._widgets.lists import Upload, Uploaded
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


def in_a_form(name: str, content: bytes, how: dict[str, Any]) -> Uploaded:
    """Choose a file in a form, and say in its fields how it is read."""
    read: list[Uploaded] = []
    form = Upload("A list", ".csv", lambda file: read.append(file) or "")
    upload(form.button, name, content)
    for field, value in how.items():
        if field == "sheet":  # of hidden ones the form does not know
            form.fields[field].options = [("", ""), (value, value)]
        else:
            assert form.fields[field].layout.display is None
        form.fields[field].value = value if value is True else str(value)
    return read[-1]
