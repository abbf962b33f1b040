"""The tools that the suite calls round by round: they ask before they answer."""

from mcptask.demo.calls import valid_responses
from mcptask.demo.envelope import capability_for, declares
from mcptask.demo.jobs import Ask, Call, Done, Opening, Tool, form, text_result
from mcptask.demo.jsonrpc import Json
from tests.conformance.fixture_tasks import TEXT, WHO, schema


def _sampling(text: str) -> Json:
    message = {"role": "user", "content": {"type": "text", "text": text}}
    params = {"messages": [message], "maxTokens": 100}
    return {"method": "sampling/createMessage", "params": params}


CAPITAL: Json = {"capital_question": _sampling("What is the capital of France?")}
ROOTS: Json = {"client_roots": {"method": "roots/list", "params": {}}}
CONFIRM: Json = {"confirm": form("Go on?", {"ok": {"type": "boolean"}}, ["ok"])}
COLOUR: Json = {"step2": form("What is your colour?", {"color": TEXT}, ["color"])}
NAME: Json = {"step1": WHO["user_name"]}


def _asking(name: str, rounds: list[Json], *, sealed: bool = True) -> Tool:
    """A tool that puts the questions of `rounds` one round after the other; where an answer is
    missing or wrong, the round is put again. Not `sealed`: it remembers no round."""

    def opening(call: Call) -> Opening:
        done = call.state["done"] if call.state else 0
        if valid_responses(call, rounds[done]).keys() == rounds[done].keys():
            done += 1
        if done == len(rounds):
            return Done(text_result("Thank you"))
        return Ask(rounds[done], {"done": done} if sealed else None)

    return Tool(name, name, "Asks before it answers.", schema([]), open=opening)


def _what_the_client_can(call: Call) -> Opening:
    askable = {
        key: asked
        for key, asked in (WHO | CAPITAL | ROOTS).items()
        if declares(call.capabilities, capability_for(asked))
    }
    return Ask(askable, {"asked": sorted(askable)})


PREFIX = "test_input_required_result_"
ROUND_TOOLS = (
    _asking(f"{PREFIX}elicitation", [WHO], sealed=False),
    _asking(f"{PREFIX}sampling", [CAPITAL], sealed=False),
    _asking(f"{PREFIX}list_roots", [ROOTS], sealed=False),
    _asking(f"{PREFIX}request_state", [CONFIRM]),
    _asking(f"{PREFIX}tampered_state", [CONFIRM]),
    _asking(f"{PREFIX}multiple_inputs", [WHO | CAPITAL | ROOTS]),
    _asking(f"{PREFIX}multi_round", [NAME, COLOUR]),
    # Asked in the answer, never on the stream.
    _asking("test_streaming_elicitation", [WHO], sealed=False),
    Tool(
        f"{PREFIX}capabilities",
        "Capabilities",
        "Asks only what the client can be asked.",
        schema([]),
        open=_what_the_client_can,
    ),
)
