"""The parts of the index's report, a file for each that may change by itself."""
