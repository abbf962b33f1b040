"""Where a task lives: enough to find it again, and never a secret."""

from mcptask.origin import Origin


def test_an_origin_keeps_neither_the_user_nor_the_query_of_a_url() -> None:
    assert Origin(url="https://me:canary@h:1/mcp?key=canary#canary").url == "https://h:1/mcp"


def test_an_origin_keeps_no_secret_of_a_command_and_knows_that_it_lacks_one() -> None:
    origin = Origin(command=("env", "API_KEY=canary", "run"))
    assert origin.command == ("env", "API_KEY=***", "run")
    assert origin.lacks_secret
    assert Origin(command=origin.command) == origin, "as read back from the file"
    assert not Origin(command=("run", "x")).lacks_secret


def test_how_to_log_in_does_not_make_another_place() -> None:
    assert Origin(server="a", bearer_env="X").place == Origin(server="a").place
    assert Origin(server="a").place != Origin(server="b").place
    first, second = Origin(command=("run", "--token", "a")), Origin(command=("run", "--token", "b"))
    assert first.place == second.place
