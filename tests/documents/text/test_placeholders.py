"""Text that stands for omitted text, and text that only looks like it."""

from __future__ import annotations

import pytest

from jupyter_fstools.documents.text.written_text import placeholder_line

LEFT_OUT = """
# ... rest of the code unchanged ...
    # ... rest of code ...
# ...existing code...
# … rest of the file …
// ... existing code ...
// ... rest of methods
// rest of methods ...
// (unchanged code ...)
//! ... remaining tests ...
/* ... existing styles ... */
/* rest of the code remains the same... */
 * ... remaining lines omitted ...
{/* ... existing markup ... */}
<!-- ... rest of the page ... -->
<!-- [... other sections unchanged ...] -->
-- ... other rows ...
; ... rest of the config ...
;; ... remaining definitions ...
% ... rest of the document ...
! ... rest of the code ...
' ... rest of the code ...
" ... existing config ...
REM ... rest of the script ...
(* ... existing definitions ... *)
{- ... same as before ... -}
\"\"\"... rest of the body ...\"\"\"
# ... same as before ...
# ... unchanged ...
# ... omitted ...
# ... snip ...
# ... (existing code remains unchanged) ...
# keep existing imports ...
# other methods stay the same...
... rest of the code unchanged ...
... rest of the code ...
...rest of the code...
... rest of file
...rest of file
... (content truncated) ...
[... rest of the file unchanged ...]
[rest of the file omitted...]
(rest of code ...)
# Rest of the code remains the same
# The rest of the code remains the same.
# [rest of code unchanged]
# rest of the file unchanged
# (rest of the file is unchanged)
# code omitted for brevity
# imports omitted
# .. rest of the code unchanged ..
    // remaining methods unchanged
// existing code stays the same
/* remainder of the implementation omitted for clarity */
<!-- rest of the document unchanged -->
-- rest of the script as before
# rest of your code goes here
[rest of the file unchanged]
(code omitted for brevity)
.. rest of the code unchanged ..
<... rest of the template ...>
""".strip("\n").split("\n")

INNOCENT = r"""
...
    ...
def f(): ...
class A: ...
    def rest(self, body): ...
x: tuple[int, ...] = (1, 2)
case [first, *rest]: ...
*rest, body = ...
...rest
    ...rest,
    ...props
  ...existing, body,
  ...(same ? [] : [line]),
  ...(rest ? body : {}),
[...previous, line]
[...rest, ...lines]
return { ...existing, code: 1 };
function f(...rest) { return body; }
const [head, ...rest] = lines;
...     return previous + lines
...     for line in remaining: list(line)
... rest = body
... # end of the document
--- ... ---
Loading the rest of the file...
# Loading the rest of the file...
// Reading remaining lines...
# TODO: handle the other tests (see below)...
print("... rest of the code unchanged ...")
    "... rest of the code unchanged ...",
message = '# ... existing code ...'
log.info("Keeping existing lines...")
He looked at the rest of the page...
Wait... the same code?
"Well... the rest is here."
# ... and so on
# see foo... for the rest
// ...
/* ... */
<!-- ... -->
# ...
# 1, 2, ..., n
[...]
(...)
for i in 0...rest { body }
match x { 1..=9 => rest, _ => body }
go test ./...
# run go test ./... for the other tests
git diff main...feature -- other file
# rest of the code
# The rest of the code remains the same as in version 1, but faster
# rest of the file unchanged since 2019 because nobody dared
# the rest of the file is omitted when --short is given
# code omitted for brevity is refused
# See above: rest of the code unchanged
# other fields unchanged
# existing entries remain unchanged
# unchanged
# same as before
# remaining rows are the same
# original text unchanged
# handle the remaining code here
# code here
Rest of the code remains the same
rest of the file unchanged
The code omitted for brevity
x = "rest of the code unchanged"
log("# rest of the code unchanged")
return unchanged  # rest of the code unchanged
#define REST_OF_THE_CODE unchanged
(the same)
[omitted]
- the rest of the code is unchanged
""".strip("\n").split("\n")


@pytest.mark.parametrize("line", LEFT_OUT)
def test_a_line_that_stands_for_left_out_text_is_found(line):
    """In the comment signs of many languages."""
    assert placeholder_line(f"a\n{line}\nb", lambda _: False) == line
    assert placeholder_line(f"a\r\n{line}\r\nb", lambda _: False) == line


@pytest.mark.parametrize("line", INNOCENT)
def test_text_with_dots_is_text(line):
    """Nothing but whole lines of omission words counts."""
    assert placeholder_line(f"a\n{line}\nb", lambda _: False) is None


def test_a_line_that_is_allowed_does_not_hide_the_next_one():
    text = "# ... existing code ...\n# ... rest of the code ...\n"
    assert placeholder_line(text, lambda line: "existing" in line) == "# ... rest of the code ..."


@pytest.mark.parametrize("line", ["# ... " + "rest " * 29, "..." + "the " * 38])
def test_a_long_line_of_the_right_words_is_judged_promptly(line):
    placeholder_line("\n".join([line[:160]] * 500), lambda _: True)


@pytest.mark.parametrize(
    "line", ["# ... rest code" + " " * 140 + "=", f"#{' ' * 140}x...", f"# {'. ' * 75}here", f"{'#' * 150}..."]
)
def test_many_lines_with_long_runs_of_one_sign_are_judged_promptly(line):
    """Of the first two a megabyte took minutes, in which the process did nothing else."""
    placeholder_line("\n".join([line[:160]] * 20_000), lambda _: True)
