"""Waits for PostgreSQL's answers, within limits."""

from __future__ import annotations

import selectors
import time
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import Connection, pq
from psycopg.abc import RV, PQGen
from psycopg.errors import InvalidSqlStatementName, error_from_result
from psycopg.generators import execute

_BINARY = pq.Format.BINARY


class NoAnswer(psycopg.OperationalError):
    """An answer took too long; the connection is closed."""


class Patient(Connection[Any]):
    """A connection that ends where an answer takes too long.

    Attributes:
        patience: in seconds; None: as long as it takes.
    """

    patience: float | None = None

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._named: dict[str, bytes] = {}

    def ask(self, query: str, *values: bytes) -> list[bytes | None] | None:
        """The first row of a statement that is prepared once; None if there is none.

        Values and columns are in the database's binary format, and nothing is converted: that takes longer than a small
        answer on the same machine.
        """
        try:
            return self._asked(query, values)
        except InvalidSqlStatementName:
            # After a rollback psycopg deallocates all statements of the session, also those that it did not prepare.
            self._named.clear()
            return self._asked(query, values)

    def _asked(self, query: str, values: Sequence[bytes]) -> list[bytes | None] | None:
        if (name := self._named.get(query)) is None:
            name = f"fstools_{len(self._named)}".encode()
            self.execute(b"PREPARE %s AS %s" % (name, query.encode()))
            self._named[query] = name
        with self.lock:
            self.pgconn.send_query_prepared(name, values, param_formats=[_BINARY] * len(values), result_format=_BINARY)
            answer = self.wait(execute(self.pgconn))[-1]
        if answer.status != pq.ExecStatus.TUPLES_OK:
            raise error_from_result(answer, encoding=self.info.encoding)
        return [answer.get_value(0, column) for column in range(answer.nfields)] if answer.ntuples else None

    def wait(self, gen: PQGen[RV], *given: Any, **named: Any) -> RV:
        """Wait for an answer, within limits."""
        return super().wait(gen if self.patience is None else self._answered(gen, self.patience), *given, **named)

    def _answered(self, gen: PQGen[RV], seconds: float) -> PQGen[RV]:
        late = time.monotonic() + seconds
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and time.monotonic() > late:
                    self.pgconn.finish()
                    raise NoAnswer(f"there was no answer within {seconds:g} s")
                wanted = gen.send(ready)
        except StopIteration as answered:
            return answered.value  # type: ignore[no-any-return]  # A generator's result is not typed.

    def send(self, query: bytes) -> None:
        """Send a statement without waiting for its answer; the next user of the connection reads it."""
        self.pgconn.send_query(query)
        if self.pgconn.flush():  # The database does not accept it: closing the connection ends its locks, too.
            self.close()

    def is_usable(self, seconds: float) -> bool:
        """Whether the last statement is answered and the server has not hung up; costs no round trip."""
        link = self.pgconn
        try:
            link.consume_input()
            while self._has_come(seconds):
                if (answer := link.get_result()) is None:
                    link.consume_input()  # The end of a connection is behind the server's last words, which say why.
                    return link.status == pq.ConnStatus.OK
                if answer.status != pq.ExecStatus.TUPLES_OK:
                    return False
        except psycopg.Error:
            pass
        return False

    def _has_come(self, seconds: float) -> bool:
        """Whether the next part of an answer comes in time; to fetch it before it is there would block all threads."""
        link = self.pgconn
        while link.is_busy():
            with selectors.DefaultSelector() as answered:
                answered.register(link.socket, selectors.EVENT_READ)
                if not answered.select(seconds):
                    return False
            link.consume_input()
        return True
