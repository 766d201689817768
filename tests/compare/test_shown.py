"""The terminal, JSON and the page."""

import io
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from compare.making import compared, concluded, run, unit, units
from statements import values

from raybench.compare import command, judging, means, questions
from raybench.compare.found import Compared, Concluded, Pair, Score, Side
from raybench.compare.runs import Stored
from raybench.compare.shown import page, summary, terminal, words
from raybench.compare.shown.told import told
from raybench.statements import Statement
from raybench.types import Estimate

NAME = "<script>alert(1)</script>\x1b[31m</pre>"
NASTY = f"{NAME}\ud800"


@pytest.fixture
def nasty(tmp_path: Path) -> list[Concluded]:
    """A comparison in which everything that models and users write is hostile."""

    def of(right: Sequence[bool]) -> list[dict[str, object]]:
        hostile = {"response": NASTY, "answer": NASTY, "reason": NASTY, "truth": NASTY}
        return [
            unit(NAME, f"{NAME}{key}", it, subject=NASTY, reasoning=NASTY, **hostile)
            for key, it in enumerate(right)
        ]

    def made(name: str, right: Sequence[bool]) -> Stored:
        folder = tmp_path / name
        config = {"index": {"limit": NASTY if name == "a" else None}}
        run(folder, [], models=[NAME], config=config, data={"mmlu_pro": {"origin": "samples"}})
        text = "".join(json.dumps(it) + "\n" for it in of(right))
        (folder / "journal" / "units.jsonl").write_text(text)
        return Stored.at(folder)

    one, other = made("a", [True, False, False]), made("b", [False, True, True])
    return judging.concluded([compared(one, other)])


def test_what_models_wrote_is_escaped_on_the_page(nasty: list[Concluded], tmp_path: Path) -> None:
    html = page.render(nasty, [NASTY], tmp_path / "compare.html")
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "\x1b" not in html
    html.encode()  # half a surrogate pair is no text
    assert "default-src 'none'" in html


def test_what_models_wrote_moves_no_terminal(nasty: list[Concluded]) -> None:
    out = io.StringIO()
    terminal.show(nasty, [NASTY], out)
    assert "\x1b" not in out.getvalue()


def test_json_says_it_all_and_takes_itself_back(tmp_path: Path) -> None:
    one = run(tmp_path / "a", units("m", [True] * 40 + [False] * 10))
    other = run(tmp_path / "b", units("m", [False] * 40 + [True] * 10))
    (other.folder / "report.html").touch()
    found = json.loads(json.dumps(told([concluded(one, other)], ["a note"]), allow_nan=False))
    assert found["schema"] == 1 and found["notes"] == ["a note"]
    (pair,) = found["comparisons"]
    assert pair["verdict"] == "worse"
    (score,) = pair["scores"]
    assert score["difference"]["value"] == pytest.approx(-0.6)
    assert {"p", "p_holm", "detectable", "needed", "words", "test", "gained", "lost"} <= {*score}
    assert score["counts"]["baseline"]["ok"] == 50
    (flips,) = pair["flips"]
    assert (flips["gained"], flips["lost"], flips["shown"]) == (10, 40, 50)
    item = flips["items"][0]
    assert item["baseline"]["response"] == "Answer: B"
    assert item["candidate"]["journal"]["line"] == 41
    address, _, fragment = item["candidate"]["report"].partition("#")
    assert address.endswith("b/report.html") and fragment.startswith("unit=")
    assert pair["candidate"]["report"] == address
    assert pair["baseline"]["report"] is item["baseline"]["report"] is None, "there is none"


def test_json_is_utf8_whatever_the_terminal_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "modèle-模"
    one, other = (
        run(tmp_path / at, units(name, marks), models=[name])
        for at, marks in (("a", [True, False]), ("b", [True, True]))
    )
    out = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(out, encoding="latin-1"))
    assert command.run([str(one.folder), str(other.folder), "--json"]) == 0
    sys.stdout.flush()
    (pair,) = json.loads(out.getvalue().decode("utf-8"))["comparisons"]
    assert pair["candidate"]["model"] == name
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    with pytest.raises(SystemExit):
        command.run(["--help"])


def test_in_a_file_the_table_is_plain_and_unbroken(tmp_path: Path) -> None:
    one = run(tmp_path / "a", units("m", [True] * 40 + [False] * 10))
    other = run(tmp_path / "b", units("m", [False] * 40 + [True] * 10))
    out = io.StringIO()
    terminal.show([concluded(one, other)], [], out)
    (line,) = (it for it in out.getvalue().splitlines() if it.strip().startswith("MMLU-Pro"))
    assert line.split()[1:4] == ["0.800", "0.200", "−0.600"]
    assert line.endswith("worse")
    assert all(it == it.rstrip() for it in out.getvalue().splitlines())


def test_a_narrow_terminal_has_every_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = run(tmp_path / "a", units("m", [True] * 40 + [False] * 10))
    other = run(tmp_path / "b", units("m", [True] * 35 + [False] * 10 + [True] * 5))

    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    terminal.show([concluded(one, other)], [], out)
    text = out.getvalue()
    for number in ("MMLU-Pro", "0.800 → 0.800", "+5 −5 of 50", "+0.000", "not distinguishable"):
        assert number in text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    whole = [it for it in plain.splitlines() if ".jsonl:" not in it]  # addresses stay unbroken
    assert max(map(len, whole)) <= 70
    assert "\x1b[3" not in text  # NO_COLOR: bold may stay


UNCHANGED = "compare.unchanged_models"


def explanations(*found: Compared) -> set[str]:
    """Return the codes of what is explained below the table."""
    told = words.explained(judging.concluded(found))
    return {it.code for it in told if isinstance(it, Statement)}


def explanation(wanted: str, found: Sequence[Concluded]) -> Statement:
    statements = (it for it in words.explained(found) if isinstance(it, Statement))
    return next(it for it in statements if it.code == wanted)


def difference_of(found: Concluded) -> str:
    return words.difference(found.scores[0])


def test_of_several_pairs_the_verdicts_come_first_and_what_is_said_of_all_comes_once(
    tmp_path: Path,
) -> None:
    one = run(tmp_path / "a", units("m", [True] * 40, finish="length"))
    other = run(tmp_path / "b", units("m", [False] * 40), config={"seed": 3}, results={})
    pairs = [compared(one, other), compared(other, one), compared(one, one)]
    found = summary.ordered(judging.concluded(pairs))
    out = io.StringIO()
    terminal.show(found, [], out)
    lines = [it.strip() for it in out.getvalue().splitlines() if it.strip()]
    head = next(at for at, it in enumerate(lines) if it.startswith("candidate"))
    told = [re.split(r"  +", it) for it in lines[head + 2 : head + 5]]
    assert [it[1] for it in told] == ["better", "worse", "identical"]
    assert [it[2:5] for it in told] == [
        ["MMLU-Pro", difference_of(found[at]), p]
        for at, p in ((0, "< 0.001"), (1, "< 0.001"), (2, "—"))
    ]
    assert sum("is unfinished" in it for it in lines) == 1
    assert sum(it.startswith("asking: seed") for it in lines) == 2  # each way round is another
    holm = explanation("compare.holm", found)
    assert holm.values["tests"] == 2 and out.getvalue().count(holm) == 1
    page_ = page.render(found, [], tmp_path / "compare.html")
    assert page_.count("is unfinished") == 1


def test_the_headline_stands_first_in_terminal_page_and_json(tmp_path: Path) -> None:
    names = ("mmlu_pro", "gpqa_diamond", "math_500")
    halves = [it % 2 == 0 for it in range(60)]
    one, other = (
        run(
            tmp_path / at,
            [
                it
                for name in names
                for it in units(
                    "m", first if name == "mmlu_pro" else halves[::step], benchmark=name
                )
            ],
        )
        for at, first, step in (("a", [False] * 60, 1), ("b", [True] * 60, -1))
    )
    found = concluded(one, other)
    assert found.verdict == "better"
    assert values(found.headline)["improved"] < values(found.headline)["scores"]
    (said,) = told([found])["comparisons"]
    assert said["headline"] == found.headline
    assert said["counts"] == {
        "improved": 1, "worsened": 0, "not_told": 2, "identical": 0, "refused": 0,
    }  # fmt: skip
    out = io.StringIO()
    terminal.show([found], [], out)
    assert sum(line.startswith(found.headline) for line in out.getvalue().splitlines()) == 1
    assert f">{found.headline}</strong>" in page.render([found], [], tmp_path / "compare.html")
    out = io.StringIO()
    terminal.show([found, concluded(one, one)], [], out)
    assert found.brief != found.verdict and f"  {found.brief}  " in out.getvalue()


def test_the_headline_of_several_models_counts_models(tmp_path: Path) -> None:
    names, marks = ("m", "n", "o"), {"m": [False] * 40, "n": [True] * 40, "o": [True, False] * 20}
    one, other = (
        run(
            tmp_path / at,
            [it for name in names for it in units(name, marks[name][::step])],
            models=names,
        )
        for at, step in (("a", 1), ("b", -1))
    )
    better = run(tmp_path / "c", units("m", [True] * 40), models=names)
    pairs = [
        *(Pair(Side(one, name), Side(other, name)) for name in names[1:]),
        Pair(Side(one, "m"), Side(better, "m")),
    ]
    found = judging.concluded(questions.compare(pairs, only=(), most=5)[0])
    headline = values(summary.headline(found))
    assert (headline["all"], headline["what"], headline["scores"]) == (3, "models", "")
    json_output = told(found)
    assert json_output["headline"] == summary.headline(found)
    assert json_output["counts"] == {
        "improved": 1, "worsened": 0, "mixed": 0, "not_told": 1, "identical": 1, "not_tested": 0,
    }  # fmt: skip
    assert all(headline[name] == number for name, number in json_output["counts"].items())
    out = io.StringIO()
    terminal.show(found, [], out)
    assert out.getvalue().splitlines()[0] == summary.headline(found)
    html = page.render(found, [], tmp_path / "compare.html")
    assert html.index(summary.headline(found)) < html.index('aria-label="Verdicts"')
    alone = told(found[:1])
    assert alone["headline"] == alone["comparisons"][0]["headline"]


def test_the_headline_of_several_models_counts_their_scores_too(tmp_path: Path) -> None:
    benchmarks, names = ("mmlu_pro", "gpqa_diamond"), ("m", "n")
    one, other = (
        run(
            tmp_path / at,
            [
                it
                for name in names
                for benchmark in benchmarks
                for it in units(
                    name,
                    [(at == "b") if benchmark == "mmlu_pro" else name == "m"] * 40,
                    benchmark=benchmark,
                )
            ],
            models=names,
        )
        for at in "ab"
    )
    pairs = [Pair(Side(one, name), Side(other, name)) for name in names]
    found = judging.concluded(questions.compare(pairs, only=(), most=5)[0])
    scores = sum(it.scored for it in found)
    assert scores > len(found)
    headline = values(summary.headline(found))
    assert (headline["improved"], headline["all"]) == (2, 2)
    assert f"2 of {scores} " in headline["scores"]


def test_runs_that_are_not_paired_say_so_in_the_headline(tmp_path: Path) -> None:
    names = ("m", "n")
    estimates = (
        Estimate(3.0, 0.03, (2.9, 3.1), 40, "mean"),
        Estimate(3.1, 0.04, (3, 3.2), 40, "mean"),
    )
    one, other = (run(tmp_path / at, [], models=names) for at in "ab")
    score = means.apart("autobench/score", "AutoBench score", *estimates, of="tasks")
    pairs = [Compared(Pair(Side(one, name), Side(other, name)), [score]) for name in names]
    headline = values(summary.headline(judging.concluded(pairs)))
    assert (headline["improved"], headline["not_told"]) == (0, 2)
    assert "not paired" in headline["unpaired"] and "tasks" in headline["unpaired"]
    paired = means.paired("m", "M", ([1.0, 2.0, 3.0], [1.0, 3.0, 3.0]), of="tasks")
    mixed = judging.concluded([pairs[0], replace(pairs[1], scores=[paired])])
    assert values(summary.headline(mixed))["unpaired"] == ""


def test_where_no_observation_differs_no_interval_is_shown(tmp_path: Path) -> None:
    one = run(tmp_path / "a", units("m", [True] * 40 + [False] * 10))
    found = concluded(one, one)
    (score,) = found.scores
    assert score.verdict == "identical" and score.score.difference.ci95 is not None
    assert difference_of(found) == "+0.000"
    out = io.StringIO()
    terminal.show([found], [], out)
    html = page.render([found], [], tmp_path / "compare.html")
    assert "+0.000 [" not in out.getvalue() + html
    (said,) = told([found])["comparisons"][0]["scores"]
    assert said["difference"]["ci95"] == list(score.score.difference.ci95), "public values stay"


def test_a_score_without_a_test_says_so_in_terminal_page_and_json(tmp_path: Path) -> None:
    one, other = (run(tmp_path / at, [], models=["m"]) for at in "ab")
    there = Estimate(0.5, None, None, 4, "mean")
    score = means.apart("m", "M", there, replace(there, value=0.6), of="matches")
    found = judging.concluded([Compared(Pair(Side(one, "m"), Side(other, "m")), [score])])
    out = io.StringIO()
    terminal.show(found, [], out)
    (line,) = (it for it in out.getvalue().splitlines() if it.lstrip().startswith("M "))
    assert line.endswith(f"no test: {score.no_test}")
    html = page.render(found, [], tmp_path / "compare.html")
    assert f">no test: {score.no_test}</strong>" in html
    pair = told(found)["comparisons"][0]
    assert (pair["verdict"], pair["counts"]["not_told"]) == ("not distinguishable", 1)
    (said,) = pair["scores"]
    assert (said["verdict"], said["test"], said["no_test"]) == (
        "not distinguishable", "none", score.no_test,
    )  # fmt: skip


def test_why_several_pairs_have_no_test_is_said_once_where_it_is_so_of_all(tmp_path: Path) -> None:
    names = ("m", "n", "o")
    one, other = (run(tmp_path / at, [], models=names) for at in "ab")

    def untested(name: str, n: int, of: str) -> Compared:
        there = Estimate(0.5, None, None, n, "mean")
        moved = Estimate(0.1, None, None, n, "mean")
        score = Score("m/points_won", "M", there, there, moved, independent=n, of=of)
        return Compared(Pair(Side(one, name), Side(other, name)), [score])

    def shown(found: Sequence[Concluded]) -> list[str]:
        out = io.StringIO()
        terminal.show(found, [], out)
        return out.getvalue().splitlines()

    alike = judging.concluded([untested(name, 1, "matches") for name in names[:2]])
    why = alike[0].no_test
    headline = values(summary.headline(alike))
    assert (headline["untested"], headline["not_told"]) == (2, 2), "public values stay"
    assert why in headline["uncertain"] and summary.headline(alike) == shown(alike)[0]
    assert not any(why in it.brief for it in summary.rows(alike))
    # With reasons of their own, each row says which.
    several = judging.concluded(
        [untested("m", 1, "matches"), untested("n", 1, "tasks"), untested("o", 1, "tasks")]
    )
    briefs = [it.brief for it in summary.rows(several)]
    assert all(it.no_test in brief for it, brief in zip(several, briefs, strict=True))
    assert len({it.no_test for it in several}) == 2


def test_p_stands_beside_what_it_was_raised_to(tmp_path: Path) -> None:
    marks = [True] * 40 + [False] * 8
    one = run(tmp_path / "a", [*units("m", marks), *units("m", marks, benchmark="gpqa_diamond")])
    other = run(
        tmp_path / "b",
        [*units("m", marks[::-1]), *units("m", [True] * 48, benchmark="gpqa_diamond")],
    )
    found = [concluded(one, other)]
    out = io.StringIO()
    terminal.show(found, [], out)
    score = next(it for it in found[0].scores if it.score.metric == "gpqa_diamond/accuracy")
    raw, raised = f"{score.score.p:.3f}", f"{score.p_holm:.3f}"
    assert raw != raised
    columns = f" {words.P}  {words.P_HOLM}  {words.WOULD_SHOW}"
    assert sum(columns in it for it in out.getvalue().splitlines()) == 1
    (line,) = (it for it in out.getvalue().splitlines() if it.lstrip().startswith("GPQA"))
    assert re.search(rf"{raw} +{raised}", line)
    html = page.render(found, [], tmp_path / "compare.html")
    assert f'<td class="number">{raw}</td><td class="number">{raised}</td>' in html
    for text in (out.getvalue(), html):
        assert text.count(explanation("compare.holm", found)) == 1


def test_links_lead_from_the_page_to_the_journal(tmp_path: Path) -> None:
    one = run(tmp_path / "runs" / "a b", units("m", [True, False, True]))
    other = run(tmp_path / "runs" / "c", units("m", [False, False, True]))
    html = page.render([concluded(one, other)], [], tmp_path / "out" / "compare.html")
    assert 'href="../runs/a%20b/journal/units.jsonl"' in html


def test_unchanged_models_that_were_sampled_anew_are_named_with_the_way_to_ask_less(
    tmp_path: Path,
) -> None:
    one, other = run(tmp_path / "a", units("m", [True] * 9)), tmp_path / "b"
    anew = compared(one, run(other, units("m", [True] * 8 + [False])))
    changed = compared(one, run(tmp_path / "c", units("n", [False] * 9), models=["n"]))
    said = explanation(UNCHANGED, judging.concluded([anew, changed])).values
    assert (said["models"], said["tests"], said["all"]) == ("m", 1, 2)
    assert "--only BENCHMARK" in said["only"]
    assert UNCHANGED not in explanations(anew)
    asked: dict[str, object] = {"index": {"limit": None, "subset": [], "few_shot": 5}}
    otherwise = compared(one, run(tmp_path / "d", units("m", [True] * 8 + [False]), config=asked))
    assert UNCHANGED not in explanations(otherwise, changed), "it may be by how they were asked"
    alike = explanations(compared(one, one), changed)
    assert UNCHANGED not in alike and "compare.untested" in alike


def test_without_a_headline_the_least_p_stands_for_a_pair_and_says_of_what_it_is(
    tmp_path: Path,
) -> None:
    marks = [True] * 40 + [False] * 8
    one = run(tmp_path / "a", [*units("m", marks), *units("m", marks, benchmark="gpqa_diamond")])
    other = run(
        tmp_path / "b", [*units("m", marks), *units("m", [True] * 48, benchmark="gpqa_diamond")]
    )
    found = concluded(one, other)
    standing = summary.standing(found.scores, found.verdict)
    assert standing is not None and standing.score.metric == "gpqa_diamond/accuracy"
    (row, _) = summary.rows([found, found])
    assert row.score == "GPQA Diamond" and row.p_holm == words.p_shown(standing.p_holm)


def test_what_the_runs_ranked_by_stands_for_a_pair(tmp_path: Path) -> None:
    few, none, every = [False] * 30 + [True] * 18, [False] * 48, [True] * 48
    one = run(tmp_path / "a", [*units("m", few), *units("m", none, benchmark="gpqa_diamond")])
    other = run(tmp_path / "b", [*units("m", every), *units("m", every, benchmark="gpqa_diamond")])
    (row,) = summary.rows([concluded(one, other)])
    assert row.score == "GPQA Diamond"
    for it in (one, other):
        line = {"model": "m", "metric": "mmlu_pro/accuracy", "value": 0.5, "covariance": {"m": 0}}
        (it.folder / "headline.jsonl").write_text(json.dumps(line))
    (row,) = summary.rows([concluded(Stored.at(one.folder), Stored.at(other.folder))])
    assert row.score == "MMLU-Pro"
    (one.folder / "headline.jsonl").write_text("no JSON")
    (row,) = summary.rows([concluded(Stored.at(one.folder), Stored.at(other.folder))])
    assert row.score == "GPQA Diamond"


def test_a_verdict_stands_beside_a_score_that_it_comes_from(tmp_path: Path) -> None:
    """'better' stood beside an index of which nobody can tell."""
    marks = [True] * 40 + [False] * 8
    one = run(tmp_path / "a", [*units("m", marks), *units("m", marks, benchmark="gpqa_diamond")])
    other = run(
        tmp_path / "b",
        [*units("m", marks[::-1]), *units("m", [True] * 48, benchmark="gpqa_diamond")],
    )
    found = concluded(one, other)
    first, second = sorted(found.scores, key=lambda it: it.score.metric)
    assert (first.verdict, second.verdict) == ("better", "not distinguishable")
    there = [replace(second, score=replace(second.score, metric="index/intelligence")), first]
    standing = summary.standing(there, "better")
    assert standing is first
    assert summary.standing(there, "not distinguishable") is there[0]


def test_pairs_that_differ_come_first_in_the_table_and_below_it(tmp_path: Path) -> None:
    one = run(tmp_path / "a", units("m", [False] * 40))
    other = run(tmp_path / "b", units("m", [True] * 40))
    given = judging.concluded([compared(one, one), compared(one, other)])
    assert [it.verdict for it in given] == ["identical", "better"]
    found = summary.ordered(given)
    assert found == given[::-1]
    assert [row.verdict for row in summary.rows(found)] == ["better", "identical"]
    out = io.StringIO()
    terminal.show(found, [], out)
    details = out.getvalue().split(" against ")
    assert "better in 1" in details[1] + details[2]
    assert "same score" not in out.getvalue(), "the table says that they are identical"
    assert "--details 2" in out.getvalue()


def test_what_differs_in_all_pairs_stands_above_the_verdicts(tmp_path: Path) -> None:
    one = run(tmp_path / "a", units("m", [True] * 9))
    other = run(tmp_path / "b", units("m", [False] * 9), config={"seed": 3})
    found = judging.concluded([compared(one, other), compared(one, other)])
    out = io.StringIO()
    terminal.show(found, [], out)
    for text in (out.getvalue(), page.render(found, [], tmp_path / "compare.html")):
        assert text.lower().index("seed") < text.lower().index("p (holm)")
