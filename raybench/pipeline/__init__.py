"""What carries work through and keeps it: journals, run folders, resume."""
