/** Colours code outside of editors as JupyterLab's editor theme does. */

import type { Parser, PartialParse, Tree } from '@lezer/common';

import { type IEditorLanguage, type IEditorLanguageRegistry, jupyterHighlightStyle } from '@jupyterlab/codemirror';
import { highlightTree } from '@lezer/highlight';
import { StyleModule } from 'style-mod';

import type { Pace } from './pace';
import type { IStyledRange } from './styledText';

const MOST_CHARACTERS = 1_000_000;
const CHARACTERS_AT_ONCE = 20_000;

/** CodeMirror's names of languages by the names that notebooks use. */
const EDITOR_LANGUAGES: Record<string, string> = { python: 'ipython', markdown: 'ipythongfm' };

/** Finds a language by the name of a file or as a notebook names it, and loads it. */
export async function languageOf(
  languages: IEditorLanguageRegistry,
  { path, name = '' }: { path?: string; name?: string }
): Promise<IEditorLanguage | null> {
  const wanted = name.toLowerCase();
  const found =
    path !== undefined ? languages.findByFileName(path) : languages.findBest(EDITOR_LANGUAGES[wanted] ?? wanted, false);
  return found && languages.getLanguage(found);
}

/** The parser of a language; null for plain text. */
export async function parserOf(
  languages: IEditorLanguageRegistry,
  of: { path?: string; name?: string }
): Promise<Parser | null> {
  return (await languageOf(languages, of))?.support?.language.parser ?? null;
}

/** The coloured ranges of each line of a text; none where it is too long. */
export async function coloursOf(parser: Parser, lines: readonly string[], pace: Pace): Promise<IStyledRange[][]> {
  const colours: IStyledRange[][] = lines.map(() => []);
  const text = lines.join('\n');
  if (text.length > MOST_CHARACTERS) {
    return colours;
  }
  // An editor mounts these styles, but none may have been opened yet.
  if (jupyterHighlightStyle.module) {
    StyleModule.mount(document, jupyterHighlightStyle.module);
  }
  const tree = await parsed(parser.startParse(text), pace);
  let line = 0;
  let start = 0;
  const put = (from: number, to: number, classes: string) => {
    while (from > start + lines[line].length) {
      start += lines[line++].length + 1;
    }
    for (let row = line, begin = start; row < lines.length && begin < to; begin += lines[row++].length + 1) {
      const range = { from: Math.max(from - begin, 0), to: Math.min(to - begin, lines[row].length), classes };
      if (range.from < range.to) {
        colours[row].push(range);
      }
    }
  };
  for (let from = 0; from < text.length; from += CHARACTERS_AT_ONCE) {
    highlightTree(tree, jupyterHighlightStyle, put, from, Math.min(from + CHARACTERS_AT_ONCE, text.length));
    await pace.breathe();
  }
  return colours;
}

async function parsed(parse: PartialParse, pace: Pace): Promise<Tree> {
  let tree = parse.advance();
  while (tree === null) {
    await pace.breathe();
    tree = parse.advance();
  }
  return tree;
}
