"""An address that a question asks to open: shown whole, and opened only after a yes (A12.13)."""

from functools import partial

from mcptask.arguments.responses import ACCEPT, DECLINE
from mcptask.commands.answering.by_hand.browser import Browser
from mcptask.commands.answering.by_hand.terminal import LeftError, Terminal
from mcptask.protocol.addresses import read_address
from mcptask.protocol.questions import Question, Response
from mcptask.protocol.schemas import sub
from mcptask.render import forms
from mcptask.render.entries import plain_lines

NO = "n"  # what a person types where the question is whether


async def consent(terminal: Terminal, question: Question, browser: Browser | str) -> Response:
    """`browser` is why there is none, where none is to be had. Accepted is the consent, without content."""
    url = sub(question.request, "params").get("url")
    address = read_address(url)
    terminal.paper.about(
        lambda width: plain_lines(
            forms.address_lines(url, address.host, address.warnings, address.refused, width)
        )
    )
    allowed = address.refused is None
    while True:
        opens = allowed and not isinstance(browser, str)
        why = browser if allowed and isinstance(browser, str) else None
        letter = await terminal.letter(
            forms.address_ways(allowed=allowed, browser=opens),
            (NO, *(("y",) if allowed else ()), *(("o",) if opens else ())),
            partial(forms.no_browser_lines, why),
        )
        if letter == NO:
            raise LeftError(DECLINE)
        failed = None
        if letter == "o" and not isinstance(browser, str):
            failed = await browser(str(url))
        if failed is None:
            end = ": opened in the browser." if letter == "o" else ": agreed to."
            given = forms.answer_head("Answer given to", question.key, end, terminal.width)
            terminal.paper.settle(plain_lines(given))
            return {"action": ACCEPT}
        browser = failed
