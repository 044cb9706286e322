/** Diffs for tests, written as a unified diff spells them. */

import { EditorLanguageRegistry } from '@jupyterlab/codemirror';
import { RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';
import { nullTranslator } from '@jupyterlab/translation';

import type { IDiffParts } from '../diff/diffParts';
import type { CellDiff, DiffHunk, DiffRow, FileDiff } from '../payloads';

const KINDS: Record<string, DiffRow['kind']> = { '+': 'add', '-': 'remove', ' ': 'context' };

/** A hunk of rows such as `-old`, `+new` and ` same`; a CR at the end is the row's line ending. */
export function hunk(rows: string[], oldStart = 1, newStart = oldStart): DiffHunk {
  let [old, next] = [oldStart, newStart];
  const made = rows.map(row => {
    const kind = KINDS[row[0]];
    const text = row.slice(1).replace(/\r$/, '');
    return {
      kind,
      old: kind === 'add' ? 0 : old++,
      new: kind === 'remove' ? 0 : next++,
      text,
      crlf: row.endsWith('\r')
    };
  });
  const [oldCount, newCount] = [old - oldStart, next - newStart];
  return {
    old_start: oldCount ? oldStart : oldStart - 1,
    old_count: oldCount,
    new_start: newCount ? newStart : newStart - 1,
    new_count: newCount,
    rows: made
  };
}

/** The diff of a file with some facts of its own. */
export function fileDiff(facts: Partial<FileDiff> = {}): FileDiff {
  return {
    path: 'a.txt',
    op: 'edit',
    kind: 'text',
    added: 1,
    removed: 1,
    hunks: [],
    cells: null,
    encoding: null,
    truncated: false,
    language: null,
    ...facts
  };
}

/** One cell's diff with some facts of its own. */
export function cellDiff(facts: Partial<CellDiff> = {}): CellDiff {
  const hunks = [hunk(['-x', '+y'])];
  return {
    cell_id: 'c1',
    index: 1,
    action: 'edit',
    cell_type: 'code',
    moved_from: null,
    follows: null,
    duplicate: false,
    hunks,
    carried: [],
    ...facts
  };
}

/** JupyterLab's own parts: languages, renderers, no translation. */
export function diffParts(): IDiffParts {
  const languages = new EditorLanguageRegistry();
  EditorLanguageRegistry.getDefaultLanguages().forEach(language => languages.addLanguage(language));
  const markdownParser = { render: async (source: string) => `<p>${source}</p>` };
  return {
    languages,
    rendermime: new RenderMimeRegistry({ initialFactories: standardRendererFactories, markdownParser }),
    trans: nullTranslator.load('jupyter_fstools')
  };
}

/** The text of each row, as a person would copy it. */
export function shownLines(node: HTMLElement): string[] {
  return Array.from(node.querySelectorAll('.jp-fstools-Diff-code'), code => code.textContent ?? '');
}

/** Wait until something is true. */
export async function until(found: () => boolean): Promise<void> {
  while (!found()) {
    await new Promise(resolve => setTimeout(resolve, 1));
  }
}
