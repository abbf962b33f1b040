"""A question put to the person at the terminal: who asks, a form or an address, and a last look (A12.12)."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from mcptask.arguments.form_fields import fits_form
from mcptask.arguments.responses import (
    ACCEPT,
    defaults,
    form_of,
    is_url,
    method_of,
    problem_of,
)
from mcptask.commands.answering.by_hand import last_look, line_mode
from mcptask.commands.answering.by_hand.browser import Browser, browser_of
from mcptask.commands.answering.by_hand.consent import consent
from mcptask.commands.answering.by_hand.form import begin, drawn, pressed
from mcptask.commands.answering.by_hand.json_form import answered_as_json
from mcptask.commands.answering.by_hand.keyboard import GoneError, keyboard, reads_keys
from mcptask.commands.answering.by_hand.paper import Paper
from mcptask.commands.answering.by_hand.terminal import LATER, LeftError, Terminal
from mcptask.commands.answering.who import Who
from mcptask.env import Env
from mcptask.errors import UsageError
from mcptask.protocol.questions import Question, Response
from mcptask.protocol.schemas import Schema, sub
from mcptask.protocol.task import ELICITATION
from mcptask.render import forms
from mcptask.render.entries import plain_lines
from mcptask.render.ink import Line
from mcptask.render.parts import wrapped
from mcptask.render.streams import try_write
from mcptask.render.text import flat, unmistaken


async def ask(
    env: Env, who: Who, question: Question, browser: Browser | None = None
) -> Response | None:
    """The response to one question, as a person gives it; None for later, or where nobody can type.

    Wrong input is told at once, so an accepted form always fits its schema. Cancelled with a reason (the
    question is gone), it says the reason and gives the terminal back.
    """
    if not env.interactive:
        return None
    opens = browser or browser_of(env.environ)
    try:
        if not reads_keys(env):
            return await line_mode.ask(env, who, question, opens)
        return await _asked(env, who, question, opens)
    except asyncio.CancelledError as gone:
        reason = gone.args[0] if gone.args else None
        if reason and isinstance(reason, str):
            told = wrapped(f"{flat(question.key)}: {flat(reason)}", env.width(env.stderr) or 80, 9)
            try_write(env.stderr, "".join(f"{unmistaken(each)}\n" for each in told))
        raise


async def _asked(env: Env, who: Who, question: Question, browser: Browser | str) -> Response | None:
    paper = Paper(env)
    async with keyboard(env, paper.aside) as keys:
        terminal = Terminal(keys, paper, started=bool(who.task))
        try:
            await keys.ready()
            paper.about(lambda width: _head(env, who, question, width))
            return await _answer(env, who, question, terminal, browser)
        except (LeftError, GoneError) as left:
            how = left.how if isinstance(left, LeftError) else LATER
            told = forms.left_lines(question.key, how, terminal.width, started=terminal.started)
            paper.settle(plain_lines(told))
            return None if how == LATER else {"action": how}
        except UsageError as unusable:  # the server's schema
            told = forms.wrong_lines(unusable.message, unusable.hint, terminal.width, colour=False)
            paper.settle(plain_lines(told))
            return None
        finally:
            paper.leave()


def _head(env: Env, who: Who, question: Question, width: int) -> list[Line]:
    colour = env.colour(env.stderr)
    head = forms.question_lines(who.server, who.tool, who.task, question, width, colour=colour)
    return plain_lines(head)


async def _answer(
    env: Env, who: Who, question: Question, terminal: Terminal, browser: Browser | str
) -> Response | None:
    if method_of(question.request) != ELICITATION:
        told = forms.unanswerable_lines(question.request, who.to_type, terminal.width)
        terminal.paper.settle(plain_lines(told))
        return None
    if is_url(question.request):
        return await consent(terminal, question, browser)
    schema = form_of(question.request)
    if not fits_form(schema):
        return await answered_as_json(env, terminal, who, question, schema)
    return await _form(terminal, question.key, schema)


async def _form(terminal: Terminal, key: str, schema: Schema) -> Response:
    values: Mapping[str, Any] = defaults(schema)
    while True:
        values = await _filled(terminal, schema, values)
        answer = partial(forms.review_lines, schema, values)
        edits = bool(values or sub(schema, "properties"))
        problem = problem_of(values, schema)
        if await last_look.sends(terminal, key, answer, edits=edits, problem=problem):
            return {"action": ACCEPT, "content": dict(values)}


async def _filled(
    terminal: Terminal, schema: Schema, values: Mapping[str, Any]
) -> Mapping[str, Any]:
    """What is filled in, over the values that there are; in the order of the form."""
    form = begin(schema, values)
    while not form.done:
        terminal.paper.draw(*drawn(form, *terminal.paper.size, started=terminal.started))
        form = pressed(form, await terminal.keys.key())
        if form.left is not None:
            raise LeftError(form.left)
    return form.content
