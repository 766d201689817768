"""Graders that are stricter and read more than the methodology's: `grader=improved`.

What they find does not compare with published numbers: it shows where those rest on the grader.
"""
