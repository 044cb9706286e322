import base64

import pytest

from jupyter_fstools.errors import Binary
from tests.documents.media.samples import DRAWING, pdf, picture, text_page


def test_a_picture_shows_itself_in_the_notebook(fs, root):
    data = picture("PNG")
    (root / "a.jpg").write_bytes(data)
    bundle = fs("read a.jpg")._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "image/png"} and base64.b64decode(bundle["image/png"]) == data
    assert "60×40 pixels" in bundle["text/plain"]


def test_pages_show_themselves_in_the_notebook(fs, root):
    (root / "a.pdf").write_bytes(pdf(text_page("one"), text_page("<b>two"), DRAWING, b"", text_page("five")))
    bundle = fs("read a.pdf --pages 2-4")._repr_mimebundle_()
    assert "&lt;b&gt;two" in bundle["text/html"] and "<b>" not in bundle["text/html"]
    assert bundle["text/html"].count('<img alt="Page 3 of 5 (a picture)" src="data:image/jpeg;base64,') == 1
    assert bundle["text/plain"].split("\n") == [
        "Page 2 of 5",
        "<b>two",
        "Page 3 of 5 (a picture)",
        "Page 4 of 5 (blank)",
    ]


def test_a_page_of_very_many_lines_is_cut_in_the_notebook(fs, root):
    small = text_page("x\n" * 600).replace(b"12 Tf 14 TL", b"1 Tf 1.1 TL")
    (root / "a.pdf").write_bytes(pdf(small, text_page("end")))
    html = fs("read a.pdf")._repr_mimebundle_()["text/html"]
    assert "more lines]" in html and html.count("<tr>") <= 501


def test_a_broken_picture_is_refused_in_the_notebook(fs, root):
    (root / "a.png").write_bytes(picture("PNG")[:40])
    with pytest.raises(Binary, match="broken picture") as refused:
        fs("read a.png")
    assert "open(path, 'rb')" in refused.value._render_traceback_()[1]
