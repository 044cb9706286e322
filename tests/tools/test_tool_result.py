"""A tool's result is a value: it can be copied, and sent to another process."""

from __future__ import annotations

import copy
import pickle

import pytest

from jupyter_fstools.kernel.result import KernelResult

CARRIED = {
    "pickled": lambda result: pickle.loads(pickle.dumps(result)),
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
}


@pytest.fixture(params=["read_file", "edit_file"])
def result(call, request):
    call.put("a.txt", "one\ntwo\n")
    read = call("read_file", path="a.txt")
    return read if request.param == "read_file" else call("edit_file", path="a.txt", old_string="one", new_string="1")


@pytest.mark.parametrize("carry", CARRIED.values(), ids=CARRIED.keys())
def test_a_result_arrives_as_it_was(result, carry):
    arrived = carry(result)
    assert (arrived.tool, arrived.content, arrived.data) == (result.tool, result.content, result.data)
    assert (arrived.text, arrived.change) == (result.text, result.change)


@pytest.mark.parametrize("carry", CARRIED.values(), ids=CARRIED.keys())
def test_a_result_of_a_kernel_is_displayed_as_it_was(result, carry):
    shown = KernelResult.of(result)
    assert carry(shown)._repr_mimebundle_() == shown._repr_mimebundle_()
