"""Notebooks: cells found, shown and edited without rebuilding the file."""

from __future__ import annotations

from .cell import Cell as Cell
from .cell import lines_of as lines_of
from .cell_edit import CellEdit as CellEdit
from .document import EditedCell as EditedCell
from .document import NotebookDocument as NotebookDocument
from .document import NotebookEdit as NotebookEdit
from .outputs import Image as Image
from .outputs import OutputPage as OutputPage
from .outputs import OutputSummary as OutputSummary
from .outputs import output_at as output_at
from .outputs import outputs_of as outputs_of
from .plan import Target as Target
from .view import CellView as CellView
from .view import cell_view as cell_view
