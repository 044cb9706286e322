import { Signal } from '@lumino/signaling';

import type { IActivityFeed } from '../../feed/tokens';
import type { IFileSides, ToolsServer } from '../../feed/requests';
import type { Words } from '../../panel/words';

import { ChangeComparison } from '../../diff/changeComparison';
import { fileDiff, diffParts, until } from '../diffSamples';
import { changed, changeOf } from '../serverSample';

const NOTEBOOK = JSON.stringify({
  cells: [{ id: 'a', cell_type: 'code', source: 'x', metadata: {}, outputs: [] }],
  metadata: {}
});

/** The comparison of a notebook whose file had another text before. */
async function comparedFrom(old: string): Promise<ChangeComparison> {
  const diff = fileDiff({ path: 'e.ipynb', kind: 'notebook', cells: [] });
  const change = { ...changeOf(changed('p', { path: 'e.ipynb', status: 'proposed' })), diff };
  const sides: IFileSides[] = [{ path: 'e.ipynb', old, new: NOTEBOOK }];
  const standing = async () => ({ change, changed_since: [] });
  const server = { standing, whole: async () => change, sides: async () => sides };
  const signals = { heard: new Signal({}), changed: new Signal({}), typedOver: new Signal({}) };
  const feed = { ...signals, staleHere: new Set(), noteShown: () => undefined };
  const widget = new ChangeComparison('p', {
    ...diffParts(),
    server: server as unknown as ToolsServer,
    feed: feed as unknown as IActivityFeed,
    words: { problem: (error: Error) => error.message } as unknown as Words,
    user: () => 'ann',
    begun: null
  });
  await until(() => widget.content.widgets.length > 0);
  return widget;
}

const isShown = (widget: ChangeComparison, name: string) => widget.node.querySelector(name) !== null;

it('compares the cells of a notebook that was an empty file', async () => {
  const widget = await comparedFrom('');
  expect(isShown(widget, '.jp-fstools-NotebookComparison')).toBe(true);
});

it('compares the texts where one was no notebook', async () => {
  const widget = await comparedFrom('{"cells": [');
  expect(isShown(widget, '.jp-fstools-Comparison')).toBe(true);
});
