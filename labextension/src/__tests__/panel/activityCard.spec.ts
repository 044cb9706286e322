import { nullTranslator } from '@jupyterlab/translation';
import { MessageLoop } from '@lumino/messaging';
import { Panel, Widget } from '@lumino/widgets';

import type { ICardActions } from '../../panel/activityCard';
import type { ChangeEvent } from '../../payloads';
import type { CardEntry } from '../../panel/cardHead';
import type { ListedRefusal } from '../../panel/turns';

import { ActivityCard } from '../../panel/activityCard';
import { RequestError } from '../../feed/requests';
import { Words } from '../../panel/words';
import { until } from '../diffSamples';
import { changed, changeOf, wasRead, wasRefused } from '../serverSample';

const refused = (id: string, facts: Partial<ListedRefusal> = {}): ListedRefusal => ({
  ...wasRefused(id, facts),
  repaired: facts.repaired ?? false
});

const HOSTILE = '<img src=x onerror=alert(1)>';
const trans = nullTranslator.load('jupyter_fstools');

let shownInFull: Set<string>;
let page: Panel;
let asked: string[];
let refusal: RequestError | null;
let command: string[];
let loaded: ChangeEvent | null;

beforeEach(() => {
  page = new Panel();
  Widget.attach(page, document.body);
  asked = [];
  shownInFull = new Set();
  refusal = null;
  command = ['make test'];
  loaded = null;
});

afterEach(() => {
  window.getSelection()!.removeAllRanges();
  page.dispose();
});

const note = async (what: string) => {
  asked.push(what);
  if (refusal) {
    throw refusal;
  }
};

const actions: ICardActions = {
  decide: (id, decision) => note(`${decision} ${id}`),
  open: path => note(`open ${path}`),
  compare: id => note(`compare ${id}`),
  load: async id => ({ change: changeOf(loaded ?? changed(id), command), changed_since: [] }),
  download: (id, paths) => note(`download ${paths.join(' and ')} of ${id}`),
  show: async () => new Widget({ node: document.createElement('pre') }),
  isTypedOver: () => false,
  wasShown: id => shownInFull.has(id),
  noteShown: id => shownInFull.add(id)
};

function shown(entry: CardEntry): ActivityCard {
  const card = new ActivityCard(entry, actions, new Words(trans), trans);
  page.addWidget(card);
  return card;
}

function shownCommand(status: ChangeEvent['status'], ...lines: string[]): ActivityCard {
  command = lines;
  loaded = changed('a', { op: 'execute', path: '.', status });
  return shown(loaded);
}

const buttons = (card: ActivityCard) =>
  [...card.node.querySelectorAll<HTMLElement>('[data-action]')].map(button => button.dataset.action);
const buttonOf = (card: ActivityCard, action: string) =>
  card.node.querySelector<HTMLElement>(`[data-action="${action}"]`)!;
const press = (card: ActivityCard, action: string) => buttonOf(card, action).click();
const updated = (card: ActivityCard, text: string) => until(() => !!card.node.textContent?.includes(text));

describe('a card', () => {
  it.each([
    [changed('a', { status: 'proposed' }), ['fold', 'open', 'approve', 'reject']],
    [changed('a', { status: 'applied' }), ['fold', 'open', 'undo']],
    [changed('a', { status: 'applied', undoable: false }), ['fold', 'open']],
    [changed('a', { status: 'rejected' }), ['fold', 'open']],
    [changed('a', { op: 'execute', status: 'proposed' }), ['fold', 'approve', 'reject']],
    [changed('a', { op: 'create', status: 'proposed' }), ['fold', 'approve', 'reject']],
    [changed('a', { op: 'create' }), ['fold', 'open', 'undo']],
    [changed('a', { op: 'delete', status: 'proposed' }), ['fold', 'open', 'approve', 'reject']],
    [changed('a', { op: 'delete' }), ['fold', 'undo']],
    [wasRead('a'), ['open']],
    [refused('a'), ['open']],
    [refused('a', { code: 'not_found' }), []],
    [refused('a', { path: null }), []]
  ] as [CardEntry, string[]][])('offers what can be done about %j', (entry, offered) => {
    expect(buttons(shown(entry))).toEqual(offered);
  });

  it('shows hostile names and messages as text', () => {
    const path = `${HOSTILE}/${HOSTILE}`;
    const card = shown(refused('a', { path, message: HOSTILE, session: HOSTILE, tool: HOSTILE }));
    expect(card.node.querySelector('img')).toBeNull();
    expect(card.node.textContent).toContain(HOSTILE);
    expect(card.node.getAttribute('aria-label')).toContain(HOSTILE);
  });

  it('marks characters in names that hide or reorder', () => {
    const card = shown(changed('a', { path: 'src/\u200bnew\nline\u202ecod.py' }));
    const marks = [...card.node.querySelectorAll<HTMLElement>('[data-name]')].map(mark => mark.dataset.name);
    expect(marks).toEqual(['U+200B', 'U+000A', 'U+202E']);
    expect(card.node.querySelector<HTMLElement>('.jp-fstools-Card-title')!.title).toContain('[U+202E]');
  });

  it('calls undoing an undo redo', () => {
    expect(buttonOf(shown(changed('a', { undoes: 'b' })), 'undo').title).toBe('Redo');
  });

  it('keeps the end of a long name', () => {
    const card = shown(changed('a', { path: 'src/a_name_that_goes_on_and_on_to_its_end.py' }));
    const parts = [...card.node.querySelectorAll('.jp-fstools-Card-name span')].map(part => part.textContent);
    expect(parts).toEqual(['a_name_that_goes_on_and_on_to_', 'its_end.py']);
  });

  it('says why the server refused', async () => {
    const card = shown(changed('a', { status: 'proposed' }));
    refusal = new RequestError({
      code: 'stale',
      message: 'It changed.',
      hint: 'Ask again.',
      details: {}
    });
    press(card, 'approve');
    await updated(card, 'It changed.\nAsk again.');
  });

  it('keeps the reason beside what somebody else decided, and drops any other once it is decided', async () => {
    const decided = changed('a', { revision: 2, status: 'rejected' });
    for (const [code, kept] of [
      ['conflict', true],
      ['stale', false]
    ] as const) {
      const card = shown(changed('a', { status: 'proposed' }));
      refusal = new RequestError({ code, message: 'Not done.', hint: '', details: {} });
      press(card, 'approve');
      await updated(card, 'Not done.');
      card.entry = decided;
      await updated(card, 'withdrawn');
      expect(card.node.querySelector('[role="alert"]') !== null).toBe(kept);
    }
  });

  it('loads its diff when it is unfolded, and lets it go again', async () => {
    const card = shown(changed('a'));
    press(card, 'fold');
    await until(() => card.node.querySelector('pre') !== null);
    expect(card.node.querySelector('[data-action="fold"]')!.getAttribute('aria-expanded')).toBe('true');
    press(card, 'fold');
    expect(card.node.querySelector('pre')).toBeNull();
  });

  it('of a change whose diff is cut is approved once all of it was downloaded', async () => {
    loaded = changed('a', { status: 'proposed', truncated: true });
    const card = shown(loaded);
    expect(buttonOf(card, 'approve').matches(':disabled')).toBe(true);
    press(card, 'fold');
    await until(() => buttonOf(card, 'download') !== null);
    expect([buttonOf(card, 'approve').matches(':disabled'), shownInFull.has('a')]).toEqual([true, false]);
    press(card, 'download');
    await until(() => shownInFull.has('a'));
    expect([asked, buttonOf(card, 'approve').matches(':disabled')]).toEqual([['download a.txt of a'], false]);
  });

  it('of a change that was shown in full elsewhere is approved as soon as the list is told', async () => {
    const entry = changed('a', { status: 'proposed', truncated: true });
    const card = shown(entry);
    expect(buttonOf(card, 'approve').matches(':disabled')).toBe(true);
    shownInFull.add('a');
    card.entry = { ...entry };
    await until(() => !buttonOf(card, 'approve').matches(':disabled'));
    expect(card.hasClass('jp-mod-seen')).toBe(true);
  });

  it('of a change that could not be downloaded is not approved', async () => {
    loaded = changed('a', { status: 'proposed', truncated: true });
    const card = shown(loaded);
    press(card, 'fold');
    await until(() => buttonOf(card, 'download') !== null);
    refusal = new RequestError({ code: 'stale', message: 'It changed.', hint: '', details: {} });
    press(card, 'download');
    await updated(card, 'It changed.');
    expect(buttonOf(card, 'approve').matches(':disabled')).toBe(true);
  });

  it('of a command that waits is unfolded by itself, until a person folds it', async () => {
    const card = shownCommand('proposed', 'make test');
    await until(() => card.node.querySelector('pre') !== null);
    press(card, 'fold');
    card.parent = null;
    page.addWidget(card);
    expect(card.isUnfolded).toBe(false);
  });

  it('of a command names its first line, and has all of it for a tooltip and a screen reader', async () => {
    const card = shownCommand('applied', '', `echo ${HOSTILE}\u202e`, 'make test');
    await updated(card, `echo ${HOSTILE}\u202e …`);
    const whole = `\necho ${HOSTILE}\u202e\nmake test`;
    expect(card.node.querySelector<HTMLElement>('.jp-fstools-Card-title')!.title).toBe(
      whole.replace('\u202e', '[U+202E]')
    );
    expect(card.node.getAttribute('aria-label')).toContain(whole);
    expect([card.isUnfolded, card.node.querySelector('img')]).toEqual([false, null]);
    expect(card.node.querySelector<HTMLElement>('[data-name]')!.dataset.name).toBe('U+202E');
  });

  it.each([
    ['an equal one', {}],
    ['another state of it', { revision: 2, added: 7, user: 'bob' }]
  ])('hears a press during which its entry becomes %s, and keeps the keyboard', (_, facts) => {
    const card = shown(changed('a', { status: 'proposed' }));
    const pressed = buttonOf(card, 'approve');
    pressed.focus();
    pressed.dispatchEvent(new MouseEvent('pointerdown', { bubbles: true }));
    card.entry = changed('a', { status: 'proposed', ...facts });
    MessageLoop.flush();
    expect([buttonOf(card, 'approve'), document.activeElement]).toEqual([pressed, pressed]);
    pressed.dispatchEvent(new MouseEvent('pointerup', { bubbles: true }));
    pressed.click();
    expect(asked).toEqual(['approve a']);
  });

  it('is not drawn again for an equal entry, and keeps a selection where another is drawn', async () => {
    const card = shown(changed('a', { status: 'proposed' }));
    const seen = new MutationObserver(() => undefined);
    seen.observe(card.node, { subtree: true, childList: true, attributes: true, characterData: true });
    card.entry = changed('a', { status: 'proposed' });
    MessageLoop.flush();
    expect(seen.takeRecords()).toEqual([]);
    const name = card.node.querySelector('.jp-fstools-Card-name')!;
    window.getSelection()!.selectAllChildren(name);
    card.entry = changed('a', { revision: 2, added: 7 });
    MessageLoop.flush();
    expect(card.node.textContent).toContain('+7');
    expect(window.getSelection()!.toString()).toBe('a.txt');
  });

  it('takes no press on a button for one on that which has come in its place', () => {
    const card = shown(changed('a', { status: 'proposed' }));
    const pressed = buttonOf(card, 'approve');
    pressed.focus();
    card.entry = changed('a', { revision: 2 });
    MessageLoop.flush();
    expect(pressed.isConnected).toBe(false);
    expect(buttons(card)).toContain('undo');
    expect(document.activeElement).toBe(card.node);
  });

  it('leaves the keyboard to the list when it goes', () => {
    const card = shown(changed('a'));
    page.node.tabIndex = -1;
    card.node.focus();
    card.parent = null;
    expect(document.activeElement).toBe(page.node);
  });
});
