"""What goes through the loop and what comes out of it: Iterate and Event, Trace, Status and Result."""

from maxmargin.result.iterate import Event, Iterate, Related
from maxmargin.result.result import Reason, Result, Status
from maxmargin.result.trace import COLUMNS, Snapshot, Trace

__all__ = ["COLUMNS", "Event", "Iterate", "Reason", "Related", "Result", "Snapshot", "Status", "Trace"]
