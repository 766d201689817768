"""The recipe of the image, as far as it can be held to something without a Docker engine."""

import fnmatch
import re
import shlex
import subprocess
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from helpers import ROOT
from packaging.specifiers import SpecifierSet

FILE = ROOT / "sandboxes" / "Dockerfile"
HOME = "/home/raybench"


class Step(NamedTuple):
    """An instruction, with the stage in which it stands ("" before the first)."""

    stage: str
    name: str
    text: str


def steps(text: str) -> list[Step]:
    """Return the instructions, each as one line, without remarks."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    whole = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    found, stage = [], ""
    for line in whole.splitlines():
        name, _, rest = line.partition(" ")
        if name == "FROM":
            stage = rest.partition(" AS ")[2]
        if line:
            found.append(Step(stage, name, re.sub(r" +", " ", rest).strip()))
    return found


STEPS = steps(FILE.read_text())
BASES = {
    step.stage: step.text.partition(" AS ")[0].split("/")[-1]
    for step in STEPS
    if step.name == "FROM"
}
"""What each stage begins with."""


def texts(name: str, stage: str | None = None) -> list[str]:
    return [it.text for it in STEPS if it.name == name and stage in (None, it.stage)]


def lineage(stage: str) -> list[str]:
    """Return the stage and those that it goes on from."""
    return [stage, *lineage(BASES[stage])] if stage in BASES else []


def packages(stage: str) -> list[str]:
    """Return what of Debian's or Ubuntu's packages a stage installs, with what it begins with."""
    return [
        word
        for name in lineage(stage)
        for run in texts("RUN", name)
        for listed in re.findall(r"apt-get install ([^&;]*)", run)
        for word in shlex.split(listed)
        if not word.startswith("-")
    ]


def test_its_instructions_are_docker_s() -> None:
    assert {step.name for step in STEPS} <= {
        "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "FROM", "RUN", "USER", "WORKDIR",
    }  # fmt: skip
    assert [*BASES][-1] == "worker"  # what `docker build` makes unless it is told a target


@pytest.mark.process
@pytest.mark.parametrize("command", texts("RUN"))
def test_its_commands_are_sound(command: str) -> None:
    subprocess.run(["sh", "-n", "-c", command], check=True)


def test_what_it_copies_is_there_and_is_let_in() -> None:
    ignored = FILE.with_name("Dockerfile.dockerignore").read_text().splitlines()
    let_in = [line[1:] for line in ignored if line.startswith("!")]
    assert "*" in ignored
    copied = set()
    for text in texts("COPY"):
        *sources, _ = [word for word in text.split() if not word.startswith("--")]
        if not text.startswith("--from="):
            copied |= set(sources)
    for source in copied:
        assert (ROOT / source).exists(), source
        assert any(fnmatch.fnmatch(source.split("/")[0], name) for name in let_in), source
    assert {source.split("/")[0] for source in copied} == set(let_in)


def test_stages_are_those_that_there_are() -> None:
    seen: set[str] = set()
    for step in STEPS:
        if step.name == "FROM":
            base = step.text.partition(" AS ")[0]
            assert base in seen or base == "${BASE}"
            seen.add(step.stage)
        elif source := re.match(r"--from=(\S+)", step.text):
            assert source[1] in seen


def test_each_argument_is_used_and_told() -> None:
    readme = (ROOT / "sandboxes" / "README.md").read_text()
    for text in texts("ARG"):
        name = text.partition("=")[0]
        assert f"${{{name}}}" in FILE.read_text()
        assert f"`{name}`" in readme, name


def test_no_image_names_a_host_and_all_are_pinned() -> None:
    (base,) = [text.partition("=")[2] for text in texts("ARG", "")]
    assert re.fullmatch(r"[a-z]+:\d+\.\d+", base)


@pytest.mark.parametrize("stage", [*BASES])
def test_packages_are_named_once(stage: str) -> None:
    found = packages(stage)
    assert len(found) == len(set(found))


def test_what_others_call_in_it_is_there() -> None:
    """For `ray up` (rsync, ssh), KubeRay's probes (wget), kernels, the sandbox and engines."""
    assert {
        "rsync", "openssh-client", "wget", "g++", "bubblewrap", "libtcmalloc-minimal4", "tini",
    } <= set(packages("worker"))  # fmt: skip


def test_a_launcher_of_triton_is_compiled_where_engines_run() -> None:
    """An image without a compiler or Python's headers is not made."""
    at = [(it.name, "triton.runtime.build" in it.text) for it in STEPS if it.stage == "worker"]
    assert ("RUN", True) in at
    assert "DEVICE=gpu" in texts("ARG", "worker")  # each stage declares what it uses


def test_its_python_is_one_of_raybenchs() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        allowed = SpecifierSet(tomllib.load(file)["project"]["requires-python"])
    (python,) = [it.partition("=")[2] for it in texts("ARG") if it.startswith("PYTHON=")]
    assert python in allowed
    short = ".".join(python.split(".")[:2])
    assert set(re.findall(r"/bin/python(3\.\d+)", FILE.read_text())) == {short}


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_it_has_the_lists_that_setup_has_but_for_the_tools(device: str) -> None:
    (install,) = [run for run in texts("RUN") if "requirements/torch-cpu.txt" in run]
    ours = set(re.findall(r"requirements/([\w${}-]+)\.txt", install.replace("${DEVICE}", device)))
    script = (ROOT / "scripts" / "setup.sh").read_text()
    (lists,) = re.findall(rf"^ *{device}\) lists=\(requirements/{{(.*)}}\.txt\)", script, re.M)
    # torch for CPUs is asked for there only.
    assert ours - {"torch-cpu"} == set(lists.split(",")) - {"dev", "torch-cpu"}
    assert all((ROOT / "requirements" / f"{name}.txt").is_file() for name in ours)


def test_it_runs_as_somebody_without_rights_and_holds_no_secret() -> None:
    for stage in ("sandbox", "worker"):
        assert texts("USER", stage)[-1] == "1000"
    for text in [*texts("ENV"), *texts("ARG")]:
        assert not re.search("TOKEN|SECRET|KEY|PASSWORD", text)


def test_volumes_are_mounted_where_it_has_folders() -> None:
    """Docker and Kubernetes would else make them root's, and nobody could write there."""
    (made,) = [run for run in texts("RUN", "worker") if "install --directory" in run]
    folders = set(re.findall(rf"{HOME}/\S+", made))
    cloud = yaml.safe_load((ROOT / "cluster.yaml").read_text())["docker"]
    asked = [it.rpartition(":")[2] for it in cloud["run_options"] + cloud["head_run_options"]
             if it.startswith("-v ")]  # fmt: skip
    for path in (ROOT / "serving" / "kuberay").glob("*.yaml"):
        asked += re.findall(r"mountPath: ([^\s},]+)", path.read_text())
    assert len(asked) > 3
    assert set(asked) <= folders
    # And the folders above them are not root's either.
    assert all(
        str(above) in folders
        for folder in folders
        for above in Path(folder).parents
        if str(above).startswith(f"{HOME}/")
    )


def test_its_name_is_that_by_which_clusters_ask_for_it() -> None:
    for folder in ("sandboxes", "serving"):
        readme = (ROOT / folder / "README.md").read_text()
        assert "docker build -f sandboxes/Dockerfile -t raybench:gpu ." in readme
    cloud = yaml.safe_load((ROOT / "cluster.yaml").read_text())
    assert cloud["docker"]["image"] == "raybench:gpu"


def test_login_shells_find_its_python() -> None:
    """`ray up` and KubeRay run their commands in such, whose PATH a base may set anew."""
    (path,) = [text for text in texts("ENV", "worker") if text.startswith("PATH=")]
    assert any("> /etc/profile.d/" in run and path.split(":")[0] in run for run in texts("RUN"))


def test_stages_are_told_apart() -> None:
    parsed = steps("ARG A=1\nFROM x AS y\n# no\nRUN a \\\n    # no\n    && b\nFROM y\nRUN c\n")
    assert [(it.stage, it.name, it.text) for it in parsed] == [
        ("", "ARG", "A=1"), ("y", "FROM", "x AS y"), ("y", "RUN", "a && b"),
        ("", "FROM", "y"), ("", "RUN", "c"),
    ]  # fmt: skip
    assert not [pair for pair in pairwise(STEPS) if pair[0] == pair[1]]
