"""What a screening has before it: the candidates, checked against the dataset as it is."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from raybench.benchmarks.parts.hle.screening import reasons
from raybench.config import Config, HleScreenConf
from raybench.errors import ConfigurationError, Problem
from raybench.experiments.hle_screen import audits, caveats, entries
from raybench.experiments.hle_screen.entries import Entry
from raybench.experiments.hle_screen.reviewed import Reviews
from raybench.experiments.hle_screen.sheets import GUIDE
from raybench.experiments.hle_screen.standing import CANDIDATES, DATASET, Standing, said
from raybench.experiments.parts.questions import setup
from raybench.paths import expanded
from raybench.pipeline.datasets import Prepared
from raybench.pipeline.revisions import QUESTIONS
from raybench.statements import Statement
from raybench.tracking import console

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Batch:
    """Candidates, and what they meet."""

    origin: str
    files: tuple[str, ...]
    entries: tuple[Entry, ...]
    digest: str
    """Of all that the files hold, right or wrong."""
    standing: Standing
    reviews: Reviews

    @classmethod
    def of(cls, config: Config, resolved: Mapping[str, Any], conclusions: Sequence[str]) -> "Batch":
        """Read and check the candidates."""
        given = config.hle_screen.candidates
        paths = [] if given is None else entries.paths(given)
        read = list(entries.read(paths))
        digest = entries.digest_of(read)
        reviews = Reviews.of(config.hle_screen.reviewed)
        standing = Standing.of(config, resolved, conclusions, digest, reviews)
        checked = entries.checked(read, standing.compared())
        return cls(
            origin=str(given),
            files=tuple(path.name for path in paths),
            entries=tuple(_without(each, standing.gone) for each in checked),
            digest=digest,
            standing=standing,
            reviews=reviews,
        )

    @property
    def valid(self) -> dict[str, Entry]:
        """Return the candidates that can be put to the panel, by their ids."""
        return {each.key: each for each in self.entries if each.candidate.valid}

    @property
    def invalid(self) -> list[Entry]:
        """Return the others."""
        return [each for each in self.entries if not each.candidate.valid]

    def kinds(self) -> list[tuple[str, list[Entry]]]:
        """Return the kinds of reasons why candidates are invalid, the commonest first."""
        found: dict[str, list[tuple[str, Entry]]] = {}
        for each in self.invalid:
            for kind, reason in {reasons.kind(it): it for it in each.candidate.reasons}.items():
                found.setdefault(kind, []).append((reason, each))
        kinds = sorted(found.values(), key=lambda it: -len(it))
        return [(reasons.in_words([it for it, _ in of]), [each for _, each in of]) for of in kinds]

    def told(self) -> str:
        """Say how many candidates there are, and how many are valid."""
        counts = Counter(each.candidate.valid for each in self.entries)
        return Statement(
            "screening.candidates",
            "{candidates:,} candidate{s} in {origin}: {valid:,} valid, {invalid:,} invalid",
            candidates=len(self.entries),
            s="s" * (len(self.entries) != 1),
            origin=self.origin,
            valid=counts[True],
            invalid=counts[False],
        )

    def caveats(self, config: Config) -> list[str]:
        """Return what the settings keep this screening from telling."""
        return list(caveats.of(config, (it.candidate.row for it in self.valid.values())))

    def prepared(self, config: Config, folder: Path) -> Prepared:
        """Write the valid candidates below a folder, those that are chosen as questions to ask.

        Raises ConfigurationError where there is none, and nothing that reviewers turned down; and
        where sheets say nothing of the dataset's questions.
        """
        if wrong := list(self._review_problems(config.hle_screen)):
            raise ConfigurationError(wrong)
        valid = self.valid
        if not valid and not config.hle_screen.reviewed and not config.hle_screen.audit:
            raise ConfigurationError(
                Problem(
                    "data.invalid",
                    "\n".join([f"{self.told()}.", *self._why()]),
                    setting="hle_screen.candidates",
                )
            )
        notes = [self.told()] if self.entries else []
        if self.reviews.filled:
            notes.append(self.standing.register.note(self.reviews))
        notes.append(caveats.review(config))
        if config.hle_screen.audit:
            notes.append(self._audit(config))
        if valid and config.hle_screen.late:
            notes.append(caveats.late())
        if valid:
            notes.append(caveats.search(config))
            notes += [*self.caveats(config), *caveats.judging(config)]
        if not config.dry_run:
            for note in notes:
                console.say(f"Note: {note}")
        data = self._chosen(config, folder, valid) if valid else Prepared((), {}, ())
        inputs = {CANDIDATES: self.digest, DATASET: self.standing.digest()}
        return replace(data, notes=(*notes, *data.notes), inputs=inputs)

    def _review_problems(self, conf: HleScreenConf) -> Iterator[Problem]:
        """Yield why nothing would come of the sheets: a hand-in that changes nothing is none."""
        filled, sheets = self.reviews.filled, " and ".join(f"'{it}'" for it in conf.reviewed)
        if filled and filled.keys().isdisjoint(self.standing.register.entries):
            yield Problem(
                "data.missing",
                f"hle_screen.reviewed: no question of {sheets} is in the dataset '{conf.dataset}'",
                setting="hle_screen.dataset",
                given=conf.dataset,
                fix="name the dataset that the sheets are from with dataset=FOLDER; "
                f"{GUIDE} beside the sheets as they were written has the command",
            )
        if filled and not any(it.rows for it in filled.values()):
            yield Problem(
                "data.unreviewed",
                f"hle_screen.reviewed: no row of {sheets} is filled in",
                setting="hle_screen.reviewed",
                given=list(conf.reviewed),
                fix="fill in reviewer, score and decision, then run the command again",
            )

    def _audit(self, config: Config) -> str:
        """Say how many questions are drawn. Raises ConfigurationError where there is none."""
        conf, revision = config.hle_screen, self.standing.newest
        left = audits.undrawn(audits.read(expanded(conf.dataset)), revision)
        if not left and not self.entries and not self.reviews.filled:
            raise ConfigurationError(
                Problem(
                    "data.missing",
                    f"hle_screen.audit is {conf.audit}, and '{conf.dataset}' has no published "
                    "question that no audit has drawn",
                    setting="hle_screen.audit",
                    given=conf.audit,
                    fix="publish questions first: an audit draws from the newest revision",
                )
            )
        return Statement(
            "screening.audit",
            "audit: {drawn:,} of the {left:,} published questions that no audit has drawn yet",
            drawn=min(conf.audit, len(left)),
            left=len(left),
        )

    def _chosen(self, config: Config, folder: Path, valid: Mapping[str, Entry]) -> Prepared:
        inbox = folder / "candidates"
        inbox.mkdir()
        with (inbox / QUESTIONS).open("w", encoding="utf-8") as file:
            for each in valid.values():
                file.write(json.dumps(dict(each.candidate.row), ensure_ascii=False) + "\n")
        data = setup.prepared(config, folder, inbox)
        parts = (replace(part, origin=self.origin, files=self.files) for part in data)
        return replace(data, datasets=tuple(parts))

    def _why(self) -> Iterator[str]:
        for kind, those in self.kinds():
            places = "; ".join(map(str, those[:_SHOWN]))
            more = f" and {len(those) - _SHOWN:,} more" if len(those) > _SHOWN else ""
            yield f"  - {len(those):,}: {kind} ({places}{more})"
        yield "Fix them, or name others. validate=true lists every reason of each, with its fix"


def _without(each: Entry, gone: Mapping[int, Statement]) -> Entry:
    """Return a candidate, invalid where it is a question that left the dataset as it was."""
    candidate = each.candidate
    if not candidate.row or (back := gone.get(said(candidate.row))) is None:
        return each
    told = (*candidate.reasons, back)
    return replace(each, candidate=replace(candidate, reasons=told))
