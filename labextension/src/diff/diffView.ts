/** Shows a file's diff in the form that fits it. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { Panel, Widget } from '@lumino/widgets';

import type { IDiffParts } from './diffParts';
import { element } from '../element';
import { NotebookDiff } from './notebookDiff';
import type { ChangedSince, CommandOutcome, FileDiff } from '../payloads';
import { drawLines } from './styledText';
import { parserOf } from './syntaxColours';
import { TextDiff } from './textDiff';

/** Show a diff: the lines of a text, the cells of a notebook, or why there is nothing to see. */
export function createDiffView(diff: FileDiff, parts: IDiffParts): Widget {
  const view = new Panel();
  view.addClass('jp-fstools-DiffView');
  if (diff.encoding !== null) {
    view.addWidget(
      note(parts.trans.__('Written in %1: a program that takes it for UTF-8 reads other text.', diff.encoding))
    );
  }
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

/**
 * The diffs of a change of several files below each other, each with the file's name.
 *
 * @param since - what happened to files of a proposal since.
 */
export function createDiffViews(
  files: { path: string; diff: FileDiff }[],
  since: readonly ChangedSince[],
  parts: IDiffParts
): Panel {
  const view = new Panel();
  for (const { path, diff } of files) {
    if (files.length > 1) {
      view.addWidget(note(path));
    }
    const modified = since.find(one => one.path === path);
    view.addWidget(modified ? createStaleView(diff, modified, parts) : createDiffView(diff, parts));
  }
  return view;
}

/** Both sides of a proposal whose file was modified meanwhile: what was proposed, and what happened to the file. */
export function createStaleView(proposed: FileDiff, since: ChangedSince, parts: IDiffParts): Widget {
  const { trans } = parts;
  const view = new Panel();
  view.addWidget(note(trans.__('Proposed, for the file as it was:')));
  view.addWidget(createDiffView(proposed, parts));
  view.addWidget(note(trans.__('Since then the file was modified:')));
  view.addWidget(since.diff ? createDiffView(since.diff, parts) : note(since.message));
  return view;
}

/** A command, and below it the end of what it printed. */
export function createOutcomeView(command: Widget, ran: CommandOutcome, trans: TranslationBundle): Widget {
  const endings = {
    'timed out': trans.__('Stopped at its time limit.'),
    cancelled: trans.__('Cancelled: its caller no longer waited.')
  };
  const view = new Panel();
  view.addWidget(command);
  if (ran.note) {
    view.addWidget(note(endings[ran.note]));
  }
  if (!ran.output) {
    view.addWidget(note(trans.__('It printed nothing.')));
    return view;
  }
  view.addWidget(note(ran.cut ? trans.__('The end of its output:') : trans.__('Its output:')));
  const output = element('code', 'jp-fstools-Outcome');
  output.tabIndex = 0;
  output.setAttribute('role', 'group');
  output.setAttribute('aria-label', trans.__('Output of the command'));
  drawLines(output, ran.output);
  view.addWidget(new Widget({ node: output }));
  return view;
}

/** What a person wrote about their decision. */
export function createReasonView(reason: string, trans: TranslationBundle): Widget {
  const view = note('');
  view.addClass('jp-fstools-Diff-reason');
  drawLines(view.node, trans.__('Reason: %1', reason));
  return view;
}

function bodyOf(diff: FileDiff, parts: IDiffParts): Widget {
  const { trans, languages } = parts;
  if (diff.kind === 'notebook' && (diff.cells?.length || diff.hunks.length)) {
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
  if (diff.truncated) {
    return trans.__('This change is too large to show.');
  }
  if (diff.kind === 'notebook') {
    return trans.__('No cell changed; the change is outside the cells.');
  }
  switch (diff.op) {
    case 'create':
      return trans.__('The new file is empty.');
    case 'delete':
      return trans.__('The deleted file was empty.');
    default:
      return trans.__('No line changed; the encoding did.');
  }
}

function note(text: string): Widget {
  return new Widget({ node: element('p', 'jp-fstools-Diff-note', text) });
}
