from mcptask.nearest import nearest


def test_the_nearest_names_are_proposed_as_they_are_written() -> None:
    assert nearest("studo", ["Studio", "demo"]) == "did you mean 'Studio'?"
    assert nearest("mode", ["node", "Mod", "price"]) == "did you mean 'Mod' or 'node'?"


def test_nothing_is_proposed_where_nothing_is_near() -> None:
    assert nearest("xyz", ["studio"]) is None
    assert nearest("", []) is None
