from __future__ import annotations

from jupyter_fstools.server.bodies import rendered_result
from jupyter_fstools.sessions import system_user
from jupyter_fstools.tools import ToolResult


async def test_the_root_says_what_is_here(ask, jp_root_dir):
    answer = await ask("GET", "/")
    assert answer.status == 200
    said = answer.json
    assert said["root"] == jp_root_dir.name
    assert "read_file" in said["tools"]
    assert said["limits"]["read_lines"] == 2000
    assert (said["approval"], said["read_only"], said["user"]) == ("never", False, system_user())
    assert [name.rsplit("/", 2)[1] for name in said["events"].values()] == ["change", "activity"]
    assert str(jp_root_dir) not in answer.body.decode()


async def test_reading_and_editing_a_file(call, jp_root_dir):
    (jp_root_dir / "a.py").write_text("one\ntwo\n")
    read = await call("read_file", path="a.py")
    assert read.json["data"]["total_lines"] == 2
    edited = await call("edit_file", path="a.py", old_string="two", new_string="2")
    assert edited.status == 200, edited.body
    assert edited.json["change"]["status"] == "applied"
    assert (jp_root_dir / "a.py").read_text() == "one\n2\n"


async def test_a_caller_gets_the_half_of_an_answer_that_it_asks_for(ask, jp_root_dir):
    (jp_root_dir / "a.txt").write_text("one\n")
    for answer, parts in (("content", {"content"}), ("data", {"data"}), ("both", {"content", "data"})):
        told = (await ask("POST", "/tools/read_file", {"path": "a.txt", "force": True}, answer=answer)).json
        assert set(told) == {"tool", "change"} | parts
    refused = await ask("POST", "/tools/read_file", {"path": "a.txt"}, answer="html")
    assert (refused.status, refused.json["error"]["details"]["field"]) == (400, "answer")


def test_what_is_not_asked_for_is_not_built(tmp_path):
    built = []
    result = ToolResult("read_file", lambda: built.append("content") or [], lambda: built.append("data") or {})
    rendered_result(result, "data")
    rendered_result(result, "data")
    assert built == ["data"]
