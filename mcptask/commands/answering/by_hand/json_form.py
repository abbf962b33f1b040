"""The answer to a schema that is no flat form, written as JSON: in the user's editor, or pasted (A12.12)."""

import os
from functools import partial

from mcptask.arguments.responses import ACCEPT, content_problem
from mcptask.commands.answering.by_hand import last_look
from mcptask.commands.answering.by_hand.editor import edited_text, editor_of
from mcptask.commands.answering.by_hand.json_file import (
    begun_content,
    begun_text,
    field_lines,
    file_text,
    is_whole,
    read_back,
    without_comments,
)
from mcptask.commands.answering.by_hand.keys import ESCAPE, PASTE, Key
from mcptask.commands.answering.by_hand.line import TextLine, edited, window
from mcptask.commands.answering.by_hand.terminal import ENTER, Terminal
from mcptask.commands.answering.who import Who
from mcptask.env import Env
from mcptask.errors import UsageError
from mcptask.protocol.questions import Question, Response
from mcptask.protocol.schemas import Schema
from mcptask.render import forms
from mcptask.render.entries import PROMPT, plain_lines
from mcptask.render.ink import cropped, line
from mcptask.render.text import clean


async def answered_as_json(
    env: Env, terminal: Terminal, who: Who, question: Question, schema: Schema
) -> Response:
    """Accepted, with a content that fits. UsageError for a schema that is unusable."""
    content_problem(begun_content(schema), schema)
    editor, told = _editor(env)
    fields, begun = tuple(field_lines(schema)), begun_text(schema)
    terminal.paper.about(
        lambda width: plain_lines(forms.json_lines(fields, begun, width, editor=editor is not None))
    )
    written = ""  # kept, whatever is wrong with it
    while True:
        by_editor = await _how(terminal, editor, told)
        try:
            if by_editor and editor:
                terminal.paper.settle([])
                text = file_text(who, question, schema, written)
                written = without_comments(await edited_text(env, terminal.keys, editor, text))
            else:
                written = await _typed(terminal, written)
            told, content = None, read_back(written, schema)
        except UsageError as wrong:
            told = wrong
            continue
        answer = partial(forms.json_review_lines, content)
        if await last_look.sends(terminal, question.key, answer):
            return {"action": ACCEPT, "content": content}


def _editor(env: Env) -> tuple[tuple[str, ...] | None, UsageError | None]:
    """Its words, and why it cannot be run."""
    try:
        return editor_of(env), None
    except UsageError as error:
        return None, error


async def _how(terminal: Terminal, editor: tuple[str, ...] | None, told: UsageError | None) -> bool:
    """In the editor? Else here. Raises LeftError where the question is left."""

    def above(width: int) -> list[str]:
        return forms.wrong_lines(told.message, told.hint, width, colour=False) if told else []

    ways = forms.json_ways(os.path.basename(editor[0]) if editor else None)
    letter = await terminal.letter(ways, {ENTER, *("p" if editor else "")}, above)
    return letter == ENTER and editor is not None


async def _typed(terminal: Terminal, written: str) -> str:
    """Lines up to an empty one, or until they are a whole. `written` is there to be changed, as one line."""
    told = "Paste or type the JSON; an empty line ends it."
    if written:
        told = "Change what is there, or clear it with Ctrl-U and paste anew; Enter takes it."
    terminal.paper.settle(plain_lines(forms.told_lines(told, terminal.width)))
    lines: list[str] = []
    now = _put(TextLine(), " ".join(each.strip() for each in written.split("\n")).strip())
    while True:
        width = terminal.width
        text, column = window(now, width - len(PROMPT))
        terminal.paper.draw([line(PROMPT, text)], (0, column + len(PROMPT)))
        key = await terminal.keys.key()
        if key.name == ESCAPE:
            raise UsageError("nothing was taken")
        if key.name == PASTE:
            first, *more = key.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            for each in more:
                lines.append(_put(now, first).text)
                _keep(terminal, lines[-1])
                now, first = TextLine(), each
            now = _put(now, first)
        elif key.name in (ENTER, "end of input"):
            lines.append(now.text)
            _keep(terminal, now.text)
            if not now.text.strip() or is_whole("\n".join(lines)):
                return "\n".join(lines)
            now = TextLine()
        else:
            now = edited(now, key) or now


def _put(now: TextLine, text: str) -> TextLine:
    return edited(now, Key(PASTE, text)) or now


def _keep(terminal: Terminal, text: str) -> None:
    terminal.paper.settle([cropped(line(f"  {clean(text)}"), terminal.width)])
