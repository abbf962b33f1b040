"""Pure: a task, its tool and the time in; the task after the step out.

No store, no clock, no thread. The transitions are those of the Tasks extension, "Task Status".
"""

from mcptask.demo.jobs import Ask, Done, Fail, Job, Next, Step, Tool
from mcptask.demo.jsonrpc import INTERNAL_ERROR, RpcError, error_body
from mcptask.demo.records import Record

# A job that is later than this was interrupted; it goes on at its own pace from now, instead of
# hurrying through all the steps that it missed.
CATCH_UP_S = 1.0


def advance(record: Record, tool: Tool, now: float) -> Record:
    """The task after the step that is due; one that has ended only loses its `due`. While a task
    asks, nothing but the end of its patience is due."""
    if record.ended:
        return record._replace(due=None)
    if record.cancel_asked and tool.heeds_cancel:
        return _end(record, now, "cancelled", "Cancelled on request")
    going_on = _withdrawn(record)
    return _apply(going_on, _take_step(going_on, tool), now)


def _withdrawn(record: Record) -> Record:
    """Without the questions that are still open. Their keys count as used, like those of answers."""
    return record._replace(requests={}, answers=record.answers | dict.fromkeys(record.requests))


def _take_step(record: Record, tool: Tool) -> Step:
    job = Job(record.arguments, record.state, record.answers, record.cancel_asked)
    try:
        return tool.step(job)
    except Exception as error:  # noqa: BLE001  (a tool's bug ends its task, not the scheduler)
        return Fail(INTERNAL_ERROR, f"Internal error in {tool.name}: {type(error).__name__}")


def _apply(record: Record, step: Step, now: float) -> Record:
    match step:
        case Next():
            return _go_on(record, step, now)
        case Ask():
            return _ask(record, step, now)
        case Done():
            # A result is tagged wherever it stands, also inside a task.
            tagged = {"resultType": "complete"} | step.result
            return _end(record, now, "completed", step.message, tagged)
        case Fail():
            body = error_body(RpcError(step.code, step.message, step.data))
            return _end(record, now, "failed", step.message, body)


def _go_on(record: Record, step: Next, now: float) -> Record:
    planned = record.due if record.due is not None else now
    base = planned if now - planned <= CATCH_UP_S else now
    seen = (record.status, record.message) != ("working", step.message)
    return record._replace(
        status="working",
        message=step.message,
        state=step.state,
        due=base + step.delay_s,
        updated=now if seen else record.updated,
    )


def _ask(record: Record, step: Ask, now: float) -> Record:
    """Keys stay unique over the task's life: one that was answered or withdrawn is not asked again."""
    fresh = {key: value for key, value in step.requests.items() if key not in record.answers}
    if not fresh:
        return _end(record, now, "failed", "The tool asked a key twice", _asked_twice())
    state = record.state if step.state is None else step.state
    return record._replace(
        status="input_required",
        message=step.message,
        requests=fresh,
        state=state,
        due=None if step.withdraw_after_s is None else now + step.withdraw_after_s,
        updated=now,
    )


def _asked_twice() -> object:
    return error_body(RpcError(INTERNAL_ERROR, "Internal error"))


def _end(
    record: Record, now: float, status: str, message: str | None, outcome: object = None
) -> Record:
    return record._replace(
        status=status,
        message=message,
        outcome=outcome,
        requests={},
        due=None,
        runner=None,
        updated=now,
    )


def answered(record: Record, answers: dict[str, object], now: float) -> Record:
    """`answers` (already checked) moved from the open questions to the answered ones. The last
    one sets the task working again; until then it stays `input_required`."""
    still_open = {key: value for key, value in record.requests.items() if key not in answers}
    after = record._replace(requests=still_open, answers=record.answers | answers, updated=now)
    return after if still_open else after._replace(status="working", message=None, due=now)
