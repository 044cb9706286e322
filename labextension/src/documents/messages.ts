/** Defines the messages between the server and open documents. */

import type { JSONObject, JSONValue } from '@lumino/coreutils';

/** `removed` at `offset` becomes `inserted`; it is expected between `before` and `after`. */
export type Span = [offset: number, removed: string, inserted: string, before: string, after: string];

/** Names a cell by id, or where that is null, by index before the change; new cells have indexes from `total` on. */
export interface ICellName {
  id: string | null;
  index: number;
}

export type CellOperation =
  | { do: 'source'; cell: ICellName; spans: Span[] }
  | { do: 'members'; cell: ICellName; set: Record<string, JSONValue> }
  | { do: 'convert'; cell: ICellName; cell_type: string }
  | { do: 'delete'; cell: ICellName; source: string }
  | { do: 'insert'; cell: ICellName; after: ICellName | null; content: JSONObject }
  | { do: 'move'; cell: ICellName; after: ICellName | null };

export interface ITextChange {
  kind: 'text';
  /** Of the text before the change, to which the spans' offsets belong. */
  length?: number;
  spans: Span[];
}

export interface INotebookChange {
  kind: 'notebook';
  total: number;
  operations: CellOperation[];
}

export type DocumentChange = ITextChange | INotebookChange;

/** A request to one document; `patch`, `content` and `save` are answered. `to`: the file's hash after the change. */
export type DocumentRequest =
  | { do: 'content'; known: number | null }
  | { do: 'patch'; hash: string | null; to: string | null; change: DocumentChange }
  | { do: 'save'; to?: string }
  | { do: 'written'; hash: string | null; last_modified: string | null }
  | { do: 'follow' }
  | { do: 'close' };

export type Reason = 'closed' | 'hash' | 'text' | 'busy' | 'caret' | 'running' | 'failed';

export interface IDocumentAnswer {
  done: boolean;
  reason?: Reason;
  counter?: number;
  hash?: string | null;
  content?: JSONValue;
  names?: string[];
}

/** A report on one open document. */
export interface IToldDocument {
  document: number;
  path: string;
  /** `converted`: a notebook that is saved as a text, or beside one. */
  kind: 'notebook' | 'text' | 'converted' | 'other';
  saved: boolean;
  hash: string | null;
  counter: number;
}
