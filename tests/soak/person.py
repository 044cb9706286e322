"""A person who types numbers in an open document of a real browser, and saves it, until the process is killed."""

from __future__ import annotations

import os
import random
import sys
from typing import Any

from playwright.sync_api import Error, Page, sync_playwright

from tests.browser.chromium import OPTIONS, find_chromium

from .model import OPEN, name

SECONDS = 1000
EDITOR = ".jp-FileEditor .cm-content"
AT_END = """text => document.activeElement === text &&
    [...text.querySelectorAll(":scope > .cm-line")].at(-1).contains(getSelection().focusNode)"""


def answer(dialogs: Any) -> None:
    """Answer JupyterLab's questions as a person would: the file on the disk wins; wait until it is shown."""
    last = dialogs.last
    revert = last.get_by_role("button", name="Revert")
    if revert.count():
        with last.page.expect_response(lambda answer: "/contents/" in answer.url and "content=1" in answer.url):
            revert.click()
        last.page.wait_for_timeout(SECONDS / 4)
    else:
        last.locator(".jp-Dialog-button").last.click()


class Person:
    """A person at a page that shows the document."""

    def __init__(self, page: Page, chance: random.Random) -> None:
        self._page, self._chance = page, chance
        self._text = page.locator(EDITOR)

    def is_there(self) -> bool:
        """Whether the page shows the document."""
        return self._text.count() == 1

    def type_next(self) -> int | None:
        """Type the next number; one that was only begun is typed again. None where the caret is elsewhere."""
        self._text.click()
        self._page.keyboard.press("Control+End")
        # A dialog that opens and closes now takes the keys, so the caret's place is checked.
        if not self._text.evaluate(AT_END):
            return None
        # Lines far above are not in the page.
        before, last = [line or "" for line in self._text.locator("> .cm-line").all_text_contents()][-2:]
        number = int(before) + 1 if before.isdecimal() else 1
        if last == str(number):
            number += 1
            self._page.keyboard.press("Enter")
        elif last:
            self._page.keyboard.press("Shift+Home")
        self._page.keyboard.type(str(number), delay=20)
        return number

    def save(self) -> bool:
        """Save with the keyboard; returns whether the server confirmed it.

        Only a request sent from now on has the number: the save of an edit may still be under way.
        """
        with self._page.expect_request(
            lambda request: request.method == "PUT" and "/contents/" in request.url, timeout=10 * SECONDS
        ) as saving:
            self._page.keyboard.press("Control+KeyS")
        answer = saving.value.response()
        return answer is not None and answer.ok

    def work(self) -> str:
        """Type one more number; gives one line on the outcome."""
        number = self.type_next()
        if number is None:
            return "nothing"
        self._page.wait_for_timeout(self._chance.uniform(0, SECONDS))
        return f"saved {number}" if self._chance.random() < 0.5 and self.save() else f"typed {number}"


def main(address: str, token: str, seed: str) -> None:
    """Print one line on the outcome of each number."""
    chance = random.Random(int(seed))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=OPTIONS)
        page = browser.new_page()
        page.set_default_timeout(60 * SECONDS)
        page.add_locator_handler(page.locator(".jp-Dialog"), answer)
        person = Person(page, chance)
        while True:
            try:
                if not person.is_there():
                    page.goto(f"{address}/lab/tree/{name(OPEN)}?token={token}&reset")
                    page.wait_for_selector(EDITOR)
                told = person.work()
            except Error:  # The server is gone, or a dialog was in the way.
                page.wait_for_timeout(SECONDS)
                continue
            os.write(1, f"{told}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
