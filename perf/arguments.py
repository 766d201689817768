"""What all measurements of `make perf` are told alike."""

import argparse


def parser(doc: str | None) -> argparse.ArgumentParser:
    """Return one that has a script's own words for its help, and what all of them are asked."""
    made = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument(
        "--keep", action="store_true",
        help="keep what is found in perf/results/, for RESULTS.md (`make perf` does); else it is "
        "printed only",
    )  # fmt: skip
    return made


def count(text: str) -> int:
    """Read a number of things, of which there has to be one."""
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1 is needed")
    return number


def seconds(text: str) -> float:
    """Read a time that passes."""
    if not (number := float(text)) > 0:
        raise argparse.ArgumentTypeError(f"{text}: more than 0 is needed")
    return number
