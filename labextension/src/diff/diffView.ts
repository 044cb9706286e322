/** Chooses how to show what changed in a file. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { Panel, Widget } from '@lumino/widgets';

import type { IDiffParts } from './diffParts';
import { element } from '../element';
import { NotebookDiff } from './notebookDiff';
import type { FileDiff } from '../payloads';
import { parserOf } from './syntaxColours';
import { TextDiff } from './textDiff';

/** Show a diff: the lines of a text, the cells of a notebook, or why there is nothing to see. */
export function createDiffView(diff: FileDiff, parts: IDiffParts): Widget {
  const view = new Panel();
  view.addClass('jp-fstools-DiffView');
  view.addWidget(bodyOf(diff, parts));
  if (diff.truncated) {
    const { trans } = parts;
    const counts = [diff.added.toLocaleString(), diff.removed.toLocaleString()];
    view.addWidget(
      note(trans.__('Not all of it is shown here: in all, %1 lines are added and %2 removed.', ...counts))
    );
  }
  return view;
}

/** The diffs of a change of several files below each other, each with the file's name. */
export function createDiffViews(files: { path: string; diff: FileDiff }[], parts: IDiffParts): Widget {
  if (files.length === 1) {
    return createDiffView(files[0].diff, parts);
  }
  const view = new Panel();
  for (const { path, diff } of files) {
    view.addWidget(note(path));
    view.addWidget(createDiffView(diff, parts));
  }
  return view;
}

function bodyOf(diff: FileDiff, parts: IDiffParts): Widget {
  const { trans, languages } = parts;
  if (diff.kind === 'notebook' && diff.cells?.length) {
    return new NotebookDiff(diff, parts);
  }
  if (diff.hunks.some(hunk => hunk.rows.length)) {
    const isCommand = diff.kind === 'command';
    return new TextDiff({
      hunks: diff.hunks,
      truncated: diff.truncated,
      name: isCommand ? trans.__('Command to run') : trans.__('Changed lines of %1', diff.path),
      loadParser: () => parserOf(languages, isCommand ? { name: 'shell' } : { path: diff.path }),
      trans
    });
  }
  return note(whyNothing(diff, trans));
}

function whyNothing(diff: FileDiff, trans: TranslationBundle): string {
  if (diff.kind === 'binary') {
    return trans.__('Binary file; no diff available.');
  }
  if (diff.truncated) {
    return trans.__('This change is too large to show.');
  }
  if (diff.kind === 'notebook') {
    return trans.__('No cell differs; what changed is around the cells.');
  }
  switch (diff.op) {
    case 'create':
      return trans.__('The new file is empty.');
    case 'delete':
      return trans.__('The deleted file was empty.');
    default:
      return trans.__('No line differs; the encoding changed.');
  }
}

function note(text: string): Widget {
  return new Widget({ node: element('p', 'jp-fstools-Diff-note', text) });
}
