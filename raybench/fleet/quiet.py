"""Keeping Ray's remarks off the terminal."""

import logging


def quieten() -> None:
    """Quieten Ray's loggers: importing ray.serve.llm sets the root logger to INFO."""
    logging.getLogger().setLevel(logging.WARNING)
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("ray"):
            logging.getLogger(name).setLevel(logging.WARNING)
