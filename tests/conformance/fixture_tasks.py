"""The tools that the suite's `tasks-*` scenarios call: each ends its task in another way."""

from mcptask.demo.calls import valid_responses
from mcptask.demo.jobs import (
    Ask,
    Call,
    Done,
    Fail,
    Job,
    Next,
    Opening,
    Start,
    Step,
    Tool,
    form,
    text_result,
)
from mcptask.demo.jsonrpc import INTERNAL_ERROR, Json

TEXT: Json = {"type": "string"}


def schema(required: list[str], **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": required}


def _greet(call: Call) -> Opening:
    return Done(text_result(f"Hello, {call.arguments['name']}!"))


def _slow_compute(job: Job) -> Step:
    seconds = job.arguments["seconds"]
    if not job.state:
        return Next(seconds, {"begun": True}, f"Computing for {seconds} s")
    return Done(text_result(f"{job.arguments['label']}: computed for {seconds} s"))


def _failing_job(job: Job) -> Step:
    failed = Done(text_result("The job failed, as it was made to", is_error=True))
    return failed if job.state else Next(1.0, {"begun": True}, "About to fail")


def _protocol_error_job(job: Job) -> Step:
    error = Fail(INTERNAL_ERROR, "The job broke the protocol, as it was made to")
    return error if job.state else Next(0.3, {"begun": True}, "About to break")


def _confirm_delete(job: Job) -> Step:
    name = job.arguments["filename"]
    if "confirm" not in job.answers:
        question = form(f"Delete {name}?", {"confirm": {"type": "boolean"}}, ["confirm"])
        return Ask({"confirm": question}, message="Waiting for confirmation")
    answer = job.answers["confirm"]
    deleted = answer["action"] == "accept" and answer["content"]["confirm"]
    return Done(text_result(f"{'Deleted' if deleted else 'Kept'} {name}"))


QUESTIONS: Json = {
    "first": form("First?", {"value": TEXT}, []),
    "second": form("Second?", {"value": TEXT}, []),
}


def _multi_input(job: Job) -> Step:
    missing = {key: asked for key, asked in QUESTIONS.items() if key not in job.answers}
    if missing:
        return Ask(missing, message="Waiting for two answers")
    return Done(text_result(f"Got {len(job.answers)} answers"))


WHO: Json = {"user_name": form("What is your name?", {"name": TEXT}, ["name"])}


def _ask_name(call: Call) -> Opening:
    if call.state and "name" in call.state:
        return Start({"name": call.state["name"]})
    answer = valid_responses(call, WHO).get("user_name")
    if answer is None:
        return Ask(WHO, {"asked": "user_name"})
    name = answer["content"]["name"] if answer["action"] == "accept" else "stranger"
    return Start({"name": name}, delay_s=0.2)


def _greet_later(job: Job) -> Step:
    return Done(text_result(f"Hello, {job.state['name']}!"))


TASK_TOOLS = (
    Tool("greet", "Greet", "Answers at once.", schema(["name"], name=TEXT), open=_greet),
    Tool(
        "slow_compute",
        "Slow compute",
        "A task that can be cancelled.",
        schema([], seconds={"type": "number", "default": 1}, label=TEXT | {"default": "done"}),
        step=_slow_compute,
    ),
    Tool(
        "failing_job",
        "Failing job",
        "Completes with a tool error.",
        schema([]),
        step=_failing_job,
        must_be_task=True,
    ),
    Tool("protocol_error_job", "Broken job", "Ends failed.", schema([]), step=_protocol_error_job),
    Tool(
        "confirm_delete",
        "Delete",
        "Asks one question.",
        schema([], filename=TEXT | {"default": "it"}),
        step=_confirm_delete,
    ),
    Tool("multi_input", "Two questions", "Asks two at once.", schema([]), step=_multi_input),
    Tool(
        "test_tool_with_task",
        "Ask, then work",
        "Asks before there is a task.",
        schema([]),
        open=_ask_name,
        step=_greet_later,
        must_be_task=True,
    ),
)
