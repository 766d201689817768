"""Slow, pin or re-schedule another process; the victim's settings are compared from outside too.

unconfined: safe
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
victim, done = bait["victim"], []
for name, attempt in {
    "nice": lambda: os.setpriority(os.PRIO_PROCESS, victim, 5),
    "nice of the group": lambda: os.setpriority(os.PRIO_PGRP, bait["victim_group"], 5),
    "affinity": lambda: os.sched_setaffinity(victim, {min(os.sched_getaffinity(0))}),
    "scheduler": lambda: os.sched_setscheduler(victim, os.SCHED_BATCH, os.sched_param(0)),
}.items():
    try:
        attempt()
        done.append(name)
    except OSError as error:
        print(name, error, file=sys.stderr)
print("BREACH" if done else "CONTAINED", *done)
