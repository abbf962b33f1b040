"""Several tasks at once: what a scripted server says of each, and what came of them."""

from collections.abc import Callable

from tests.e2e.scripted import Reply, now, tool_result

Started = Callable[..., None]


def by_task(**plans: Reply) -> Reply:
    """Each task's own answer, whenever it is asked for."""

    def reply(handler: object, got: object) -> None:
        plans[got.params["taskId"]](handler, got)  # type: ignore[attr-defined,arg-type]

    return reply


def in_turn(*replies: Reply) -> Reply:
    """The answers one after the other, the last one ever after."""
    left = list(replies)

    def reply(handler: object, got: object) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(handler, got)  # type: ignore[arg-type]

    return reply


def failed(task_id: str, message: str = "no room") -> Reply:
    return now("failed", task_id, error={"code": -1, "message": message})


def tool_error(task_id: str) -> Reply:
    return now("completed", task_id, result=tool_result("disk full", failed=True))


def outcomes(body: dict[str, object]) -> list[tuple[str, int]]:
    return [(one["outcome"], one["exitCode"]) for one in body["tasks"]]  # type: ignore[attr-defined,index]
