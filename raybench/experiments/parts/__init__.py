"""What the experiments have in common: a session, its records, its report; questions."""
