/** Shows the cells below a collapsed heading again, once an edit has removed that heading. */

/** A cell's widget, as far as it is needed here; only Markdown cells have headings. */
export interface ICollapsible {
  readonly isHidden?: boolean;
  readonly headingCollapsed?: boolean;
  readonly headingInfo?: { level: number };
  setHidden?(hidden: boolean): void;
  getHeadings?(): Promise<unknown>;
}

interface ICollapsibleCells {
  readonly widgets: readonly ICollapsible[];
  readonly isDisposed: boolean;
}

/**
 * Show hidden cells that no collapsed heading covers any more. JupyterLab shows them with their heading's button alone,
 * so without the heading nobody could reach them.
 */
export async function showUncovered(notebook: ICollapsibleCells): Promise<void> {
  if (!notebook.widgets.some(({ isHidden }) => isHidden)) {
    return;
  }
  // JupyterLab 4.2 knows the level of a heading at once, newer ones only after this.
  await Promise.all(notebook.widgets.map(cell => cell.getHeadings?.()));
  if (notebook.isDisposed) {
    return;
  }
  let covering = 0;
  for (const cell of notebook.widgets) {
    const level = cell.headingInfo?.level ?? 0;
    if (level > 0 && level <= covering) {
      covering = 0;
    }
    if (covering === 0) {
      if (cell.isHidden) {
        cell.setHidden?.(false);
      }
      covering = cell.headingCollapsed ? Math.max(level, 0) : 0;
    }
  }
}
