"""The table that `make bench` prints."""

from tests.benchmarks.harness import Result, table


def test_a_row_names_its_goal_and_by_how_much_that_is_missed():
    results = [
        Result("E1 slow", 2.5, 2, 3, 2.0),
        Result("R1 fast", 0.5, 0.4, 0.6, 1.0),
        Result("T1 rate", 2, 1.9, 2.1, 3, "higher"),
        Result("M1 memory", 1.25, 1, 2, None, unit="MiB"),
    ]
    assert table(results).splitlines()[2:] == [
        "| E1 slow | 2.5 | 2–3 | ≤ 2 | 0.5 |",
        "| R1 fast | 0.5 | 0.4–0.6 | ≤ 1 |  |",
        "| T1 rate | 2 | 1.9–2.1 | ≥ 3 | 1 |",
        "| M1 memory | 1.2 MiB | 1–2 |  |  |",
    ]
