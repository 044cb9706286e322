import type { Change } from '../../payloads';
import type { IOpenCell } from '../../review/cellMarks';

import { RecognizedCells } from '../../review/recognizedCells';
import { cellDiff, fileDiff, hunk } from '../diffSamples';
import { changed, changeOf } from '../serverSample';

const NAME = 'auto-0123456789ab';

/** A proposal that edits a cell without an id; by default from `x` to `y`. */
function edit(id: string, rows = ['-x', '+y']): Change {
  const diff = fileDiff({ cells: [cellDiff({ cell_id: NAME, hunks: [hunk(rows)] })] });
  return { ...changeOf(changed(id, { status: 'proposed' })), diff };
}

/** Code cells with these sources; their ids are `c0`, `c1` and so on. */
function cellsOf(...sources: string[]): Map<string, IOpenCell> {
  const cells = sources.map((source, at) => {
    const model = { id: `c${at}`, type: 'code', sharedModel: { getSource: () => source } };
    return [model.id, { model } as IOpenCell] as const;
  });
  return new Map(cells);
}

/** Pairs of a name that changes give to a cell and its id, in a notebook whose ids are unique. */
function among(
  cells: Map<string, IOpenCell>,
  changes: Change[],
  recognized = new RecognizedCells()
): [string, string][] {
  return [...recognized.among(cells, changes, cells)];
}

it('recognizes the only cell that fits a change', () => {
  expect(among(cellsOf('a', 'x', 'b'), [edit('one')])).toEqual([[NAME, 'c1']]);
  expect(among(cellsOf('x', 'a', 'x'), [edit('one')])).toEqual([]);
  expect(among(cellsOf('a', 'b'), [edit('one')])).toEqual([]);
});

it('still recognizes a cell in which the person types, as long as it is there', () => {
  const recognized = new RecognizedCells();
  among(cellsOf('a', 'x'), [edit('one')], recognized);
  expect(among(cellsOf('a', 'mine'), [edit('one')], recognized)).toEqual([[NAME, 'c1']]);
  expect(among(cellsOf('a'), [edit('one')], recognized)).toEqual([]);
});

it('recognizes none by a name that two proposals give to different cells', () => {
  const changes = [edit('one'), edit('two', ['-a', '+y'])];
  expect(among(cellsOf('a', 'x'), changes)).toEqual([]);
});

it('leaves a notebook alone in which comparing would take too long', () => {
  const cells = cellsOf('x', ...Array.from({ length: 100_000 }, (_, at) => `${at}`));
  expect(among(cells, [edit('one')])).toEqual([]);
});
