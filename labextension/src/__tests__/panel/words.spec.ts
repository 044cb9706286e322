import { nullTranslator } from '@jupyterlab/translation';

import { RequestError } from '../../feed/requests';
import { turnsOf } from '../../panel/turns';
import { Words } from '../../panel/words';
import { changed, wasRead, wasRefused } from '../serverSample';

const words = new Words(nullTranslator.load('jupyter_fstools'));

describe('an entry in one sentence', () => {
  it('of a change has its lines counted, each by its number', () => {
    const sentence = words.sentence(changed('a', { added: 1, removed: 2 }));
    expect(sentence).toContain('edit, a.txt, applied, 1 line added, 2 lines removed');
  });

  it('of a refusal without a file names the tool', () => {
    expect(words.sentence(wasRefused('a', { path: null }))).toContain('refused, edit_file, not read yet');
  });

  it('of a command says what is run and where, and counts no lines', () => {
    const command = changed('a', { op: 'execute', path: 'src', status: 'proposed', tool: 'execute' });
    expect(words.sentence(command, 'make test')).toBe('run, make test, in src, waiting for approval, one, execute');
    expect(words.sentence(command)).toContain('run, a command, in src');
  });
});

it.each([
  [1, 0, '1 change'],
  [0, 2, '2 commands'],
  [2, 1, '2 changes and 1 command']
])('%d changes and %d commands are counted: %s', (changes, commands, said) => {
  const entries = [
    ...Array.from({ length: changes }, () => changed('a')),
    ...Array.from({ length: commands }, () => changed('a', { op: 'execute' }))
  ];
  expect(words.counted(entries)).toBe(said);
});

it.each([
  [{ full: true }, 'whole file'],
  [{ lines: [[1, 1]] as [number, number][] }, 'lines 1'],
  [{ lines: [[1, 2]] as [number, number][] }, 'lines 1–2'],
  [{ cells: ['one'] }, '1 cell'],
  [{ lines: [] }, 'part of the file']
])('a read of %j tells its extent: %s', (facts, extent) => {
  expect(words.detail(wasRead('a', facts))).toBe(extent);
});

it.each([
  [{ place: 'disk' }, 'edit_file'],
  [{ place: 'document' }, 'edit_file · in the open document'],
  [{ place: 'room', decided_by: 'ann' }, 'edit_file · in a room · by ann'],
  [{ place: 'document', status: 'proposed' }, 'edit_file']
] as const)('a change of %j tells where it landed: %s', (facts, detail) => {
  expect(words.detail(changed('a', facts))).toBe(detail);
});

it.each([
  [{ status: 'proposed' }, 'waiting for approval'],
  [{ status: 'applied', exit_code: null }, 'started'],
  [{ status: 'applied', exit_code: 3 }, 'exit code 3']
] as const)('a command of %j: %s', (facts, said) => {
  expect(words.status(changed('a', { op: 'execute', ...facts }))).toBe(said);
});

it('a turn names whose session it is, unless it is the own one', () => {
  const mine = new Words(nullTranslator.load('jupyter_fstools'), () => 'ann');
  const turn = (user: string) => turnsOf([changed('a', { user })])[0];
  expect(mine.who(turn('ann'))).toBe('one');
  expect(mine.who(turn('bob'))).toBe('one of bob');
  expect(words.who(turn('bob'))).toBe('one');
});

it.each([
  ['never', 'Changes are applied at once (approval is "never" in the server\'s settings).'],
  ['always', 'Every change waits for your approval.'],
  [['*.py', 'data/'], 'Changes to *.py, data/ wait for your approval.']
])('approval of %j is: %s', (approval, said) => {
  expect(words.approval(approval)).toBe(said);
});

it('a rejected change that nobody decided about was withdrawn', () => {
  expect(words.status(changed('a', { status: 'rejected', decided_by: null }))).toBe('withdrawn');
  expect(words.status(changed('a', { status: 'rejected', decided_by: 'ann' }))).toBe('rejected');
});

it('a problem is told with what to do next', () => {
  const refusal = { code: 'stale', message: 'It changed.', hint: 'Read it again.', details: {} };
  expect(words.problem(new RequestError(refusal))).toBe('It changed.\nRead it again.');
  expect(words.problem(new RequestError({ ...refusal, code: 'unreachable' }))).toContain('cannot be reached');
  expect(words.problem(new Error('other'))).toBe('other');
});
