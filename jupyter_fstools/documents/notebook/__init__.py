"""Finds, shows and edits cells without rebuilding the file."""

from __future__ import annotations

from .anchors import CellAnchors as CellAnchors
from .anchors import cell_anchors as cell_anchors
from .cell import SOURCE_KEYS as SOURCE_KEYS
from .cell import Cell as Cell
from .cell import cell_fingerprint as cell_fingerprint
from .cell import joined_text as joined_text
from .cell import lines_of as lines_of
from .cell_edit import CellEdit as CellEdit
from .changed_notebook import ChangedNotebook as ChangedNotebook
from .chosen_cells import hunks_in as hunks_in
from .chosen_cells import notebook_with as notebook_with
from .comparison import compared as compared
from .comparison import notebook_diff as notebook_diff
from .document import CellAfter as CellAfter
from .document import NotebookDocument as NotebookDocument
from .document import NotebookEdit as NotebookEdit
from .document import is_notebook_name as is_notebook_name
from .document import order_of as order_of
from .outputs import Output as Output
from .outputs import OutputSummary as OutputSummary
from .outputs import output_at as output_at
from .page import PageRequest as PageRequest
from .page import ShownLines as ShownLines
from .page import cell_heading as cell_heading
from .page import cells_page as cells_page
from .page import output_rows as output_rows
from .page import output_text as output_text
from .plan import Target as Target
from .replay import replayed as replayed
from .source_text import refuse_surrogates as refuse_surrogates
from .spans import NotebookSpans as NotebookSpans
from .spans import outline_of as outline_of
from .view import CellView as CellView
from .view import cell_view as cell_view
