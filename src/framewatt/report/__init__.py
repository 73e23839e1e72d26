"""The report: one self-contained HTML page with the answers first."""

from framewatt.report.material import Material
from framewatt.report.page import build_report

__all__ = ["Material", "build_report"]
