"""MLflow: one parent run per invocation and one child run per model.

What is to be written is described once, in the run's folder (`spool`); one writer sends it from
there, while the run goes on or whenever a server answers again (`sync`). `import mlflow` in these
files is the library.
"""

from raybench.tracking.mlflow.tracker import Tracker
from raybench.tracking.uri import check_uri, ui_command

__all__ = ["Tracker", "check_uri", "ui_command"]
