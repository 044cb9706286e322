"""Replaces the APIs of three models: it answers with the calls of a script, and keeps what it is shown."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, NamedTuple

Json = dict[str, Any]


class Seen(NamedTuple):
    """The part of one call's result that the model is shown."""

    text: str
    pictures: int


class Scripted(NamedTuple):
    """One call of the script: the tool as our server names it, and its arguments."""

    tool: str
    arguments: Json


class ScriptedModel(ABC):
    """One dialect. The next call follows from the number of results in a request: clients ask other things too."""

    asked: ClassVar[str]
    """A part of the address at which the client asks for the next step."""

    def __init__(self, script: Sequence[Scripted]) -> None:
        self.script = script
        self.tools: list[str] = []
        self.shown: list[Seen] = []

    def answer(self, body: Json) -> list[Json]:
        """The events that answer a request."""
        if not (self.named(body) or self.searches(body)):
            return self.saying("nothing to do")
        seen = self.results(body)
        if len(seen) >= len(self.shown):
            self.shown, self.tools = seen, sorted(self.named(body))
        if self.searches(body):
            return self.searching()
        if len(seen) == len(self.script):
            return self.saying("done")
        call = self.script[len(seen)]
        return self.calling(len(seen), self.named(body)[call.tool], call.arguments)

    @abstractmethod
    def named(self, body: Json) -> Mapping[str, Any]:
        """Our tools in a request, by the names that our server gives them."""

    @abstractmethod
    def results(self, body: Json) -> list[Seen]:
        """The results of earlier calls in a request."""

    @abstractmethod
    def saying(self, text: str) -> list[Json]:
        """A text, which ends the client's run."""

    @abstractmethod
    def calling(self, number: int, tool: Any, arguments: Json) -> list[Json]:
        """The call of a tool."""

    def searches(self, body: Json) -> bool:
        """Whether the tools have to be searched for before they can be called."""
        return False

    def searching(self) -> list[Json]:
        """The call that searches for them."""
        raise NotImplementedError


class Messages(ScriptedModel):
    """Claude Code's dialect."""

    asked = "/v1/messages"
    _PREFIX = "mcp__jupyter__"

    def named(self, body: Json) -> Mapping[str, Any]:
        names = [tool["name"] for tool in body.get("tools", [])]
        return {name.removeprefix(self._PREFIX): name for name in names if name.startswith(self._PREFIX)}

    def results(self, body: Json) -> list[Seen]:
        blocks = [
            block
            for message in body["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
        ]
        return [_seen(block["content"]) for block in blocks if block["type"] == "tool_result"]

    def saying(self, text: str) -> list[Json]:
        return self._message({"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn")

    def calling(self, number: int, tool: Any, arguments: Json) -> list[Json]:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": {}}
        return self._message(block, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use")

    def _message(self, block: Json, delta: Json, reason: str) -> list[Json]:
        message = {
            **{"id": "msg", "type": "message", "role": "assistant", "model": "stand-in", "content": []},
            **{"stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 1}},
        }
        return [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]


class Responses(ScriptedModel):
    """Codex's dialect: the tools of MCP servers are found by a search first."""

    asked = "/v1/responses"

    def named(self, body: Json) -> Mapping[str, Any]:
        spaces = [tool for part in (body, *self._items(body, "tool_search_output")) for tool in part.get("tools", [])]
        ours = [space for space in spaces if space.get("name") == "mcp__jupyter"]
        return {
            tool["name"]: {"namespace": space["name"], "name": tool["name"]}
            for space in ours
            for tool in space["tools"]
        }

    def results(self, body: Json) -> list[Seen]:
        return [_seen(item["output"]) for item in self._items(body, "function_call_output")]

    def searches(self, body: Json) -> bool:
        offered = any(tool["type"] == "tool_search" for tool in body.get("tools", []))
        return offered and not self._items(body, "tool_search_output")

    def searching(self) -> list[Json]:
        arguments = {"query": "jupyter read edit file grep notebook", "limit": 20}
        call = {"type": "tool_search_call", "call_id": "search", "execution": "client", "arguments": arguments}
        return self._done(call)

    def saying(self, text: str) -> list[Json]:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return self._done(
            {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}
        )

    def calling(self, number: int, tool: Any, arguments: Json) -> list[Json]:
        call = {
            "type": "function_call",
            "id": f"f{number}",
            "call_id": f"c{number}",
            "arguments": json.dumps(arguments),
        }
        return self._done(call | tool)

    def _items(self, body: Json, kind: str) -> list[Json]:
        return [item for item in body.get("input", []) if item["type"] == kind]

    def _done(self, item: Json) -> list[Json]:
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        response = {"id": "r", "object": "response", "output": [item], "status": "completed", "usage": usage}
        return [
            {"type": "response.created", "response": {**response, "output": [], "status": "in_progress"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]


class GenerateContent(ScriptedModel):
    """Gemini CLI's dialect: a picture stands beside the result of its call."""

    asked = "enerateContent"
    _PREFIX = "mcp_jupyter_"

    def named(self, body: Json) -> Mapping[str, Any]:
        declared = [one["name"] for tool in body.get("tools", []) for one in tool.get("functionDeclarations", [])]
        return {name.removeprefix(self._PREFIX): name for name in declared if name.startswith(self._PREFIX)}

    def results(self, body: Json) -> list[Seen]:
        found: list[Seen] = []
        for part in (part for content in body["contents"] for part in content["parts"]):
            if response := part.get("functionResponse"):
                found.append(Seen("\n".join(response["response"].values()), 0))
            elif "inlineData" in part:
                found[-1] = found[-1]._replace(pictures=found[-1].pictures + 1)
        return found

    def saying(self, text: str) -> list[Json]:
        return self._part({"text": text})

    def calling(self, number: int, tool: Any, arguments: Json) -> list[Json]:
        return self._part({"functionCall": {"name": tool, "args": arguments}})

    def _part(self, part: Json) -> list[Json]:
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        return [{"candidates": [candidate], "usageMetadata": {"totalTokenCount": 2}}]


def _seen(content: Any) -> Seen:
    if isinstance(content, str):
        return Seen(content, 0)
    pictures = sum(block["type"] in ("image", "input_image") for block in content)
    return Seen("\n".join(block["text"] for block in content if "text" in block), pictures)


@contextmanager
def served(model: ScriptedModel) -> Iterator[str]:
    """The address at which a model answers, on the loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *words: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if model.asked not in self.path or "count_tokens" in self.path:
                self._send("application/json", json.dumps({"input_tokens": 1, "totalTokens": 1}))
                return
            events = model.answer(body)
            heads = [f"event: {event['type']}\n" if "type" in event else "" for event in events]
            told = [f"{head}data: {json.dumps(event)}\n\n" for head, event in zip(heads, events, strict=True)]
            self._send("text/event-stream", "".join(told))

        def do_GET(self) -> None:
            self._send("application/json", '{"models": []}')

        def _send(self, kind: str, text: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
