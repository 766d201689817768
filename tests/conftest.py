"""Lets tests import helpers.py by name; how hypothesis searches on machines that others share."""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

# A busy machine makes examples slow, not wrong; pytest-timeout ends what hangs.
settings.register_profile("raybench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("raybench")
