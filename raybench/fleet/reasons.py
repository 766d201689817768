"""What a failure of Ray or vLLM comes down to, in a line for the person."""

import re
from typing import Any


def of_application(application: Any) -> str:
    """Return why Serve says that an application did not start."""
    messages = [application.message] + [
        deployment.message for deployment in application.deployments.values()
    ]
    return error_in("\n".join(message for message in messages if message)) or "no reason given"


def error_in(text: str) -> str:
    """Return the last error that a traceback names, with what it says, on one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("For further information")]
    named = [
        number for number, line in enumerate(lines) if re.match(r"[\w.]*(Error|Exception)\b", line)
    ]
    return " ".join(lines[named[-1] :][:5])[:600] if named else last_line(text)


def last_line(text: str) -> str:
    """Return the last line that says anything: of a traceback, the error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
