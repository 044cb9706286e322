import type { IDocumentWidget } from '@jupyterlab/docregistry';

import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import type { ToolsServer } from '../../feed/requests';
import type { Words } from '../../panel/words';
import type { Change } from '../../payloads';
import type { UnseenChanges } from '../../review/unseenChanges';

import { DocumentReview } from '../../review/documentReview';
import { KeptDecisions } from '../../review/keptDecisions';
import { fileDiff } from '../diffSamples';
import { changed, changeOf } from '../serverSample';

/** A document without an editor, with the parts that a review follows. */
class WidgetSample {
  constructor(path: string) {
    this.context.path = path;
  }

  readonly node = document.createElement('div');
  readonly content = { activate: jest.fn() };
  readonly contentHeader = { addWidget: () => undefined };
  readonly disposed = new Signal<this, void>(this);
  readonly context = {
    path: '',
    model: { contentChanged: new Signal<object, void>({}) },
    pathChanged: new Signal<object, string>({}),
    ready: new Promise<void>(() => undefined)
  };
}

/** The review of a document with applied changes of one session; records decisions about them in `decided`. */
function reviewOf(
  path: string,
  changes: Change[],
  decided: string[],
  widget: WidgetSample = new WidgetSample(path)
): DocumentReview {
  const ofThis = changes.filter(change => [change, ...change.files].some(file => file.path === path));
  const server = {
    changesOf: async (_: string, status: string) => {
      const found = status === 'applied' ? ofThis : [];
      return { changes: found, total: found.length };
    },
    standing: async (id: string) => ({ change: changes.find(change => change.id === id)!, changed_since: [] }),
    decide: async (id: string, decision: string) => void decided.push(`${decision} ${id}`)
  };
  const parts = {
    server: server as unknown as ToolsServer,
    decisions: new KeptDecisions(),
    unseen: { user: 'ann', changes, paths: [], toolsPath: (one: string) => one } as unknown as UnseenChanges,
    feed: { noteStale: () => undefined },
    trans: nullTranslator.load('jupyter_fstools'),
    words: {} as Words,
    leave: () => undefined,
    decided: () => undefined,
    compare: () => undefined
  };
  return new DocumentReview(widget as unknown as IDocumentWidget, parts);
}

/** A change of several files; the journal gives it the path of the first one. */
function changeOfFiles(id: string, ...paths: string[]): Change {
  const files = paths.map(path => ({ path, before: null, after: null, diff: fileDiff({ path }) }));
  return { ...changeOf(changed(id, { path: paths[0] })), files: files.length > 1 ? files : [] };
}

it('takes a session back with each change once, also one that is of another file too', async () => {
  const decided: string[] = [];
  const changes = [changeOfFiles('both', 'a.ipynb', 'b.ipynb'), changeOfFiles('other', 'c.txt')];
  const review = reviewOf('b.ipynb', changes, decided);
  await review.decideAll('keep'); // Nothing is loaded yet, so this only loads the changes.
  await review.decideAll('undo-session');
  expect(decided).toEqual(['undo both', 'undo other']);
});

it.each([true, false])('goes back to the document after a press, unless it is closed by then: %s', async isOpen => {
  const widget = new WidgetSample('a.ipynb');
  const button = document.createElement('button');
  widget.node.append(button);
  document.body.append(widget.node);
  const review = reviewOf('a.ipynb', [changeOfFiles('one', 'a.ipynb')], [], widget);
  await review.decideAll('keep');
  button.focus();
  const pressed = review.decideAll('undo');
  button.remove();
  if (!isOpen) {
    widget.disposed.emit();
  }
  await pressed;
  expect(widget.content.activate).toHaveBeenCalledTimes(isOpen ? 1 : 0);
});
