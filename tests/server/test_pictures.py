import base64

from tests.documents.media.samples import DRAWING, pdf, picture, text_page


def test_a_picture_is_shown_over_rest(folder):
    data = picture("PNG")
    answer = folder.call("read_file", path=folder.write("a.jpg", data))
    assert answer.status == 200 and answer.json["data"]["mime_type"] == "image/png"
    block = answer.json["content"][1]
    assert block == {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": "image/png"}


def test_pages_are_shown_over_rest(folder):
    path = folder.write("a.pdf", pdf(text_page("one"), text_page("two"), DRAWING))
    answer = folder.call("read_file", path=path, pages="2-3").json
    assert [page["text"] for page in answer["data"]["pages"]] == ["two", ""]
    assert [block["type"] for block in answer["content"]] == ["text", "text", "image"]
    assert folder.call("read_file", path=path, pages="4").status == 416


def test_a_broken_picture_is_refused_over_rest(folder):
    answer = folder.call("read_file", path=folder.write("a.png", picture("PNG")[:40]))
    assert answer.status == 415 and answer.error["code"] == "binary" and "broken picture" in answer.error["message"]
