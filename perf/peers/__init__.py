"""What users would take instead, each in an environment of its own."""
