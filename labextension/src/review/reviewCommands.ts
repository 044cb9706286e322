/** Adds the commands that decide about the changes of the current document. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { DocumentReview } from './documentReview';
import type { BarDecision } from './reviewBar';

const describedBy = { args: { type: 'object', properties: {} } };

/** Add the commands, and list them in the palette. */
export function addReviewCommands(
  app: JupyterFrontEnd,
  current: () => DocumentReview | null,
  trans: TranslationBundle,
  palette: ICommandPalette | null
): void {
  const add = (
    name: string,
    label: string,
    action: BarDecision | 'step',
    act: (review: DocumentReview) => unknown,
    keys?: string
  ) => {
    const command = `jupyter-fstools:${name}`;
    const isEnabled = () => current()?.offers(action) ?? false;
    const execute = () => {
      const review = current();
      return review && act(review);
    };
    app.commands.addCommand(command, { describedBy, label, isEnabled, execute });
    palette?.addItem({ command, category: trans.__('File Tools') });
    if (keys) {
      app.commands.addKeyBinding({ command, keys: [keys], selector: 'body' });
    }
  };
  add('next-change', trans.__('Next Change by an Assistant'), 'step', review => review.step(1), 'Alt F5');
  add(
    'previous-change',
    trans.__('Previous Change by an Assistant'),
    'step',
    review => review.step(-1),
    'Alt Shift F5'
  );
  const decisions: [BarDecision, string][] = [
    ['approve', trans.__('Approve All Changes of This Document')],
    ['reject', trans.__('Reject All Changes of This Document')],
    ['keep', trans.__('Keep All Changes of This Document')],
    ['undo', trans.__('Undo All Changes of This Document')],
    ['keep-session', trans.__('Keep All Changes of This Session of an Assistant')],
    ['undo-session', trans.__('Undo All Changes of This Session of an Assistant')]
  ];
  for (const [decision, label] of decisions) {
    add(`${decision}-here`, label, decision, review => review.decideAll(decision));
  }
}
