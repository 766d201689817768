"""Plots as inline SVG: text stays text, ink is the page's colour, equal data give equal bytes."""

from raybench.tracking.plots.across import across
from raybench.tracking.plots.bars import bars
from raybench.tracking.plots.budgets import budgets
from raybench.tracking.plots.forest import forest, forests
from raybench.tracking.plots.heatmap import heatmap
from raybench.tracking.plots.lines import lines
from raybench.tracking.plots.places import places
from raybench.tracking.plots.profiles import profiles
from raybench.tracking.plots.reliability import reliability
from raybench.tracking.plots.versus import versus

__all__ = [
    "across",
    "bars",
    "budgets",
    "forest",
    "forests",
    "heatmap",
    "lines",
    "places",
    "profiles",
    "reliability",
    "versus",
]
