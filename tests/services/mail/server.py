"""A mail server that stores letters in a Maildir: `python server.py PORT FOLDER`.

Addresses determine faults: `nobody…` is refused, `later…` is deferred once, `silent…` is accepted, and then the
connection breaks without a response.
"""

import asyncio
import sys
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Mailbox
from aiosmtpd.smtp import SMTP, Envelope, Session


class Faulty(Mailbox):
    """Accepts or refuses letters according to their addresses."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.put_off: set[str] = set()

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address.startswith("nobody"):
            return f"550 5.1.1 <{address}> is not known here"
        if address.startswith("later") and address not in self.put_off:
            self.put_off.add(address)
            return f"451 4.7.1 <{address}> try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> Any:
        answer = await super().handle_DATA(server, session, envelope)
        if any(address.startswith("silent") for address in envelope.rcpt_tos):
            server.transport.abort()
        return answer


def main() -> None:
    port, folder = int(sys.argv[1]), sys.argv[2]
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    controller = Controller(Faulty(folder), hostname="127.0.0.1", port=port)
    controller.start()
    loop.run_forever()


if __name__ == "__main__":
    main()
