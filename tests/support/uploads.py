"""A file chosen in a form, as the page tells the kernel of it."""

from __future__ import annotations

from datetime import UTC, datetime

import ipywidgets


def upload(button: ipywidgets.FileUpload, name: str, content: bytes) -> None:
    told = {"name": name, "type": "", "size": len(content)}
    if ipywidgets.version_info[0] == 7:
        button.metadata, button.data, button._counter = [{**told, "lastModified": 0}], [content], 1
    else:
        button.value = ({**told, "content": memoryview(content), "last_modified": datetime.now(UTC)},)
