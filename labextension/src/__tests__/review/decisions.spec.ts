import { formerPlaces, predecessors } from '../../review/cellMarks';
import { asHunks, Decisions, hunkName, hunksOf, isDivisible, isKept } from '../../review/decisions';
import { cellDiff, fileDiff, hunk } from '../diffSamples';
import { changed, changeOf } from '../serverSample';

const HUNKS = [hunk(['-a', '+A']), hunk(['-b', '+B'])];
const ofText = { ...changeOf(changed('t')), diff: fileDiff({ hunks: HUNKS }) };
const cells = [
  cellDiff({ cell_id: 'edited', action: 'edit', hunks: HUNKS }),
  cellDiff({ cell_id: 'new', action: 'insert', index: 2, hunks: [HUNKS[0]] })
];
const ofNotebook = { ...changeOf(changed('n')), diff: fileDiff({ kind: 'notebook', cells }) };

describe('decisions', () => {
  it('name the hunks as the server takes them', () => {
    expect(asHunks(ofText, hunksOf(ofText))).toEqual([0, 1]);
    expect(asHunks(ofNotebook, hunksOf(ofNotebook))).toEqual({ edited: [0, 1], new: [0] });
  });

  it('are whole once every hunk is decided, and the last word counts', () => {
    const decisions = new Decisions(ofNotebook);
    expect(decisions.decide([hunkName(0, 'edited')], true)).toBe(false);
    expect(decisions.decide([hunkName(0, 'edited')], false)).toBe(false);
    expect(decisions.decide([hunkName(1, 'edited')], true)).toBe(false);
    expect(decisions.decide([hunkName(0, 'new')], true)).toBe(true);
    expect(asHunks(ofNotebook, decisions.taken)).toEqual({ edited: [1], new: [0] });
    expect(decisions.of(hunkName(0, 'edited'))).toBe(false);
  });
});

describe('the reason', () => {
  it('of a hunk is the one that was given last, and is told once', () => {
    const decisions = new Decisions(ofText);
    decisions.decide([hunkName(0)], false, { reason: 'too long' });
    decisions.decide([hunkName(0)], false, { reason: 'no' });
    decisions.decide([hunkName(1)], false, { reason: 'no' });
    expect(decisions.reason).toBe('no');
    decisions.decide([hunkName(0), hunkName(1)], true);
    expect(decisions.reason).toBeUndefined();
  });

  it('of a hunk that is rejected stays when it is rejected again, alone or with all others', () => {
    const decisions = new Decisions(ofText);
    decisions.decide([hunkName(0)], false, { reason: 'too long' });
    decisions.decide([hunkName(0)], false, { reason: '' });
    decisions.decide([hunkName(0), hunkName(1)], false);
    expect(decisions.reason).toBe('too long');
  });
});

describe('a change', () => {
  it('is kept hunk by hunk, by each person', () => {
    const kept = { ann: { edited: [1] } };
    expect(isKept({ ...ofNotebook, kept }, 'ann', hunkName(1, 'edited'))).toBe(true);
    expect(isKept({ ...ofNotebook, kept }, 'ann', hunkName(0, 'edited'))).toBe(false);
    expect(isKept({ ...ofNotebook, kept }, 'bob', hunkName(1, 'edited'))).toBe(false);
    expect(isKept({ ...ofText, kept: { ann: [0] } }, 'ann', hunkName(0))).toBe(true);
  });

  it('of several files is decided about as a whole', () => {
    expect(isDivisible(ofText)).toBe(true);
    const file = { path: 'a', before: null, after: null, diff: ofText.diff };
    expect(isDivisible({ ...ofText, files: [file, file] })).toBe(false);
  });
});

describe('ghost cells', () => {
  it('stand after the cell that they will follow', () => {
    const coming = [
      cellDiff({ cell_id: 'first', action: 'insert', index: 0 }),
      cellDiff({ cell_id: 'x', action: 'insert', index: 2 }),
      cellDiff({ cell_id: 'y', action: 'insert', index: 3 }),
      cellDiff({ cell_id: 'b', action: 'delete', index: 1 }),
      cellDiff({ cell_id: 'a', action: 'move', index: 5 })
    ];
    expect([...predecessors(['a', 'b', 'c', 'd'], coming)]).toEqual([
      ['first', null],
      ['x', 'c'],
      ['y', 'c'],
      ['a', 'd']
    ]);
  });

  it('stay after that cell while the person inserts cells above, and where it was once it is deleted', () => {
    const coming = [
      cellDiff({ cell_id: 'first', action: 'insert', index: 0, follows: '' }),
      cellDiff({ cell_id: 'x', action: 'insert', index: 3, follows: 'b' }),
      cellDiff({ cell_id: 'y', action: 'insert', index: 4, follows: 'x' })
    ];
    const found = (ids: string[]) => [...predecessors(ids, coming)];
    const atB = [
      ['first', null],
      ['x', 'b'],
      ['y', 'b']
    ];
    expect(found(['a', 'b', 'c'])).toEqual(atB);
    expect(found(['new', 'newer', 'a', 'b', 'c'])).toEqual(atB);
    expect(found(['b', 'a', 'c'])).toEqual(atB);
    expect(found(['a', 'c'])).toEqual([
      ['first', null],
      ['x', 'c'],
      ['y', 'c']
    ]);
  });

  it('stand where they do when a cell that changes moves, which shows its change where it is', () => {
    const coming = [
      cellDiff({ cell_id: 'c', action: 'edit', index: 0, moved_from: 2 }),
      cellDiff({ cell_id: 'x', action: 'insert', index: 3 })
    ];
    expect([...predecessors(['a', 'b', 'c', 'd'], coming)]).toEqual([['x', 'b']]);
  });

  it('of deleted cells stand where these were', () => {
    const gone = [0, 2].map(index => cellDiff({ cell_id: `gone${index}`, action: 'delete', index }));
    expect([...formerPlaces(['a', 'b'], gone)]).toEqual([
      ['gone0', null],
      ['gone2', 'b']
    ]);
  });
});
