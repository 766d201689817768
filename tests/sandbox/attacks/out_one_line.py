"""Write 100 MB as one line by print, and more by an exception's text.

unconfined: no, the test's own pipe would take it
expect: output memory error
limits: cpu_s=5 wall_s=60
"""

print("x" * (100 << 20))
raise ValueError("y" * (100 << 20))
