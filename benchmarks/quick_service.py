"""A service that only answers, as fast as Python can: what the speed of sending is measured against.

``python benchmarks/quick_service.py PORT DELAY_SECONDS`` serves until it is ended; it keeps no state.
"""

from __future__ import annotations

import asyncio
import json
import sys

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nx-uni-request-id: benchmark\r\nContent-Length: "
ENDS = '","iso":"US","cc":"1","parts":1,"price":"0.007500"}'


def answer(body: bytes) -> bytes:
    to = json.loads(body)["to"]
    numbers = [to] if isinstance(to, str) else to
    size = len(numbers)
    records = ",".join([f'{{"id":"{number[1:]:0>32}","to":"{number}{ENDS}' for number in numbers])
    data = (
        f'{{"code":"0","message":"Success","data":{{"recipients":{size},"messageCount":{size},"currency":"USD",'
        f'"totalAmount":"{size * 0.0075:.6f}","messages":[{records}]}}}}'
    ).encode()
    return HEAD + str(len(data)).encode() + b"\r\n\r\n" + data


class Answering(asyncio.Protocol):
    """One connection: whole requests in, one reply each, after a delay."""

    delay = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self._buffer = transport, b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        if len(rest) < length:
            return
        self._buffer = rest[length:]
        reply = answer(rest[:length])
        if self.delay:
            asyncio.get_running_loop().call_later(self.delay, self._write, reply)
        else:
            self._write(reply)

    def _write(self, reply: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(reply)  # type: ignore[attr-defined]


async def serve(port: int, delay: float) -> None:
    Answering.delay = delay
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", port, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2])))
