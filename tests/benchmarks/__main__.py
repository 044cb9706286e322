"""`python -m tests.benchmarks [ids...] [--json PATH]`: run the benchmarks named, or all."""

from __future__ import annotations

import argparse
import importlib
import json
from pathlib import Path

from tests.benchmarks.harness import Benchmark, NotHere, Result, table


def found() -> dict[str, Benchmark]:
    """Every benchmark of every `bench_*.py` beside this file, by id."""
    modules = sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))
    return {
        name: benchmark
        for module in modules
        for name, benchmark in importlib.import_module(f"{__package__}.{module}").BENCHMARKS.items()
    }


def run(benchmarks: dict[str, Benchmark]) -> list[Result]:
    """Run them one after the other; what needs something that is not installed is skipped aloud."""
    results: list[Result] = []
    for name, benchmark in benchmarks.items():
        try:
            results += benchmark()
        except NotHere as missing:
            print(f"{name}: skipped, {missing}", flush=True)
    return results


def main() -> None:
    benchmarks = found()
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=run.__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID", help=" ".join(benchmarks))
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the results there")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.ids) - set(benchmarks))
    if unknown:
        parser.error(f"no such benchmark: {' '.join(unknown)}; there are {' '.join(benchmarks)}")
    results = run({name: benchmarks[name] for name in arguments.ids or benchmarks})
    if arguments.json:
        arguments.json.write_text(json.dumps([result._asdict() for result in results], indent=2) + "\n", "utf-8")
    print(f"\n{table(results)}")


if __name__ == "__main__":
    main()
