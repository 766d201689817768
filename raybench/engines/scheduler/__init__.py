"""Which engine runs where, with how many replicas: a state machine that decides and does nothing.

`messages.py` holds its events and its orders, `policy.py` the rules, `moves.py` what
happens to replicas, `engine_state.py` the demand and speed of an engine, `devices.py` the memory of
devices and the choice among them, `move_costs.py` what loads and swaps have cost.
"""

from raybench.engines.scheduler.policy import EngineScheduler as EngineScheduler
