/** Declares the payloads of the server; `make payloads` writes it from the models. */

/**
 * The reads and refusals since the last such event, by whichever process.
 */
export interface ActivityEvent {
  /**
   * Oldest first.
   */
  entries: (ReadEntry | RefusalEntry)[];
  /**
   * There were more: GET api/fstools/activity lists them.
   */
  more: boolean;
}
/**
 * A session was shown a file: its latest read, with all that it has been shown of this content.
 */
export interface ReadEntry {
  kind: 'read';
  /**
   * The same in events and in GET api/fstools/activity.
   */
  id: string;
  /**
   * When, in seconds since 1970.
   */
  at: number;
  /**
   * The file, relative to the root.
   */
  path: string;
  /**
   * The session's user.
   */
  user: string;
  /**
   * The session.
   */
  session: string;
  /**
   * The line ranges shown; of a notebook the cells.
   */
  lines: [number, number][];
  /**
   * The ids of a notebook's cells that were shown.
   */
  cells: string[] | null;
  /**
   * The whole file was shown.
   */
  full: boolean;
}
/**
 * A call was refused.
 */
export interface RefusalEntry {
  kind: 'refusal';
  /**
   * The same in events and in GET api/fstools/activity.
   */
  id: string;
  /**
   * When, in seconds since 1970.
   */
  at: number;
  /**
   * The file; null if the call named none, or if it may not be told.
   */
  path: string | null;
  /**
   * The session's user.
   */
  user: string;
  /**
   * The session.
   */
  session: string;
  /**
   * The tool that was called.
   */
  tool: string;
  /**
   * The refusal's code.
   */
  code: string;
  /**
   * The reason.
   */
  message: string;
  /**
   * The caller's next step.
   */
  hint: string;
}
/**
 * A page of all that happened.
 */
export interface ActivityPage {
  /**
   * Newest first.
   */
  entries: (ChangeEvent | ReadEntry | RefusalEntry)[];
  /**
   * `before` of the next page; null on the last one.
   */
  next: number | null;
  /**
   * Changes below the root that wait for a person.
   */
  proposed: number;
  /**
   * The journal's: `after` this, GET /changes says what is new in it.
   */
  revision: number;
}
/**
 * A change was made, proposed, decided about or undone.
 */
export interface ChangeEvent {
  kind: 'change';
  /**
   * The change's id.
   */
  id: string;
  /**
   * Grows with every step in the journal.
   */
  revision: number;
  /**
   * When it was made or proposed, seconds since 1970.
   */
  at: number;
  /**
   * The file, relative to the root.
   */
  path: string;
  /**
   * All files, if the change has several.
   */
  paths: string[];
  /**
   * The operation on the file.
   */
  op: 'create' | 'edit' | 'overwrite' | 'delete' | 'execute';
  /**
   * The current status.
   */
  status: 'pending' | 'proposed' | 'applied' | 'rejected' | 'undone';
  /**
   * The tool that made it.
   */
  tool: string;
  /**
   * The user of the session that made it.
   */
  user: string;
  /**
   * The session that made it.
   */
  session: string;
  /**
   * Lines added.
   */
  added: number;
  /**
   * Lines removed.
   */
  removed: number;
  /**
   * Its diff is cut; all of it has to be looked at before it can be approved.
   */
  truncated: boolean;
  /**
   * The id of the change that this one takes back.
   */
  undoes: string | null;
  /**
   * It undoes an undo.
   */
  redo: boolean;
  /**
   * False if a later change covers it, or if it was too large to be kept for undo.
   */
  undoable: boolean;
  /**
   * The exit code of a command that has ended.
   */
  exit_code: number | null;
  /**
   * It waits, and its file changed since it was proposed.
   */
  stale: boolean;
  /**
   * Where it was made: on the disk, in an open document, or in a collaboration room.
   */
  place: 'disk' | 'document' | 'room';
  /**
   * False if a room had not saved it yet.
   */
  saved: boolean;
  /**
   * When it was approved, rejected or undone.
   */
  decided_at: number | null;
  /**
   * The user who approved, rejected or undid it.
   */
  decided_by: string | null;
  /**
   * How that decision came in; null if a program made it, or nobody.
   */
  decided_via: ('browser' | 'token' | 'command line') | null;
  /**
   * The users who marked it as seen (keep).
   */
  seen_by: string[];
}
/**
 * One cell of a notebook that changed; `index` is 0-based in the new notebook (in the old one if deleted).
 *
 * `moved_from` is the index that it had before, if it moves, whatever else changes in it; None for others.
 * `follows` is the id of the cell that this one follows in the new notebook (in the old one if deleted), "" at its
 * beginning; None in older changes.
 * `duplicate` is True where several cells have its id, so that a page gives some of them another one.
 * `hunks` are of its source; `carried` of the outputs, metadata and attachments that come with it, as lines of JSON.
 */
export interface CellDiff {
  cell_id: string;
  index: number;
  action: 'edit' | 'insert' | 'delete' | 'move' | 'convert' | 'clear_outputs';
  cell_type: string;
  moved_from: number | null;
  follows: string | null;
  duplicate: boolean;
  hunks: DiffHunk[];
  carried: DiffHunk[];
}
/**
 * Neighbouring changed lines with up to three lines of context, as in a unified diff.
 */
export interface DiffHunk {
  old_start: number;
  old_count: number;
  new_start: number;
  new_count: number;
  rows: DiffRow[];
}
/**
 * One line of a hunk; `old` and `new` are 1-based line numbers, 0 on the side that has none.
 *
 * `crlf` tells that it ends in CR LF; `text` is without its ending.
 */
export interface DiffRow {
  kind: 'context' | 'add' | 'remove';
  old: number;
  new: number;
  text: string;
  crlf: boolean;
}
/**
 * A step by one reader: of one file, or of several at once.
 *
 * Attributes:
 *     id: a short unique word.
 *     revision: grows with every step any process makes in the journal (a new change, a new status); the store sets
 *         it. Following the journal is asking for what is above the last revision seen.
 *     key: the file (`FileStat.key`), of several the first; so are `path`, `before`, `after` and `diff`.
 *     path: relative to the root of the workspace that shows it.
 *     tool: the tool that made it; `undo` for a step back.
 *     user: the reader's user.
 *     session: the reader's session.
 *     created_at: when it was made or proposed, seconds since 1970.
 *     decided_at: when it was approved, rejected or undone.
 *     decided_by: the user who did.
 *     decided_via: how that came in: from a browser that is logged in, with Jupyter's token, or from the command line
 *         of this machine; None where nobody decided, or a program did.
 *     before: the file before the change; None if it did not exist.
 *     after: the file after it; None if the change deleted it.
 *     undoes: the id of the change that this one takes back.
 *     undoable: False where what it takes to go back was too large to keep.
 *     place: where the change landed: on the disk, in a document that a browser had open, or in a room where several
 *         edit together; of several files a room if one of them is in one, else a document if one is open.
 *     saved: the file has the change; False where a room had not saved it yet when the change was made.
 *     decided: what a person decided about a proposal; its diff and `after` are of what was carried out.
 *     told: the session that proposed it was told what was decided.
 *     seen_by: the users who have seen it and keep it.
 *     kept: the hunks that a user has seen and keeps, by user, until they are all of it.
 *     files: of a change of several files all of them, sorted by key; empty for a change of one.
 *     ran: of a command that has ended; None for all else.
 *     interrupted: its writer was killed, and the file had other content by the time anybody looked: whether the
 *         change was carried out cannot be told.
 *     account: the account of the system that made it (`system_user`); empty in records of earlier versions.
 */
export interface Change {
  id: string;
  revision: number;
  path: string;
  tool: string;
  user: string;
  session: string;
  created_at: number;
  decided_at: number | null;
  decided_by: string | null;
  decided_via: ('browser' | 'token' | 'command line') | null;
  status: 'pending' | 'proposed' | 'applied' | 'rejected' | 'undone';
  before: FileState | null;
  after: FileState | null;
  diff: FileDiff;
  undoes: string | null;
  undoable: boolean;
  place: 'disk' | 'document' | 'room';
  saved: boolean;
  decided: Decided | null;
  told: boolean;
  seen_by: string[];
  kept: {
    [k: string]:
      | number[]
      | {
          [k: string]: number[];
        };
  };
  files: ChangedFile[];
  ran: CommandOutcome | null;
  interrupted: boolean;
  account: string;
}
/**
 * The state of a file at one moment: enough to recognise it, not enough to rebuild it.
 *
 * The digests are those of `Fingerprint`; None before a change of a file too large to be hashed for that alone.
 * `on_disk` is the exact one of the file itself, where the content is that of a document with unsaved changes.
 */
export interface FileState {
  text_sha: string | null;
  exact_sha: string | null;
  size: number;
  on_disk: string | null;
}
/**
 * One file's change: counts of added and removed lines, and hunks.
 *
 * A notebook has `cells`; its `hunks` are of what comes around them (kernelspec, metadata), as lines of JSON.
 *
 * A command stands here like a text that is added (`execute`, `command`); `path` is the folder it runs in.
 *
 * `truncated` is True where rows were left out or cut; the counts are still whole. `language` is what a notebook's
 * code cells are written in (`unknown` where it does not say), None for other files. `encoding` is the text's where it
 * is not UTF-8, or what a text in UTF-8 declares: other programs may read something else in the same bytes.
 */
export interface FileDiff {
  path: string;
  op: 'create' | 'edit' | 'overwrite' | 'delete' | 'execute';
  kind: 'text' | 'notebook' | 'command';
  added: number;
  removed: number;
  hunks: DiffHunk[];
  cells: CellDiff[] | null;
  truncated: boolean;
  language: string | null;
  encoding: string | null;
}
/**
 * A person's decision about a proposal, in detail.
 *
 * Attributes:
 *     taken: the hunks of the proposal that were carried out.
 *     rejected: those that were not.
 *     reason: what the person wrote about it.
 *     edited: the person wrote something else than what was proposed; the change's diff shows it.
 */
export interface Decided {
  taken:
    | number[]
    | {
        [k: string]: number[];
      };
  rejected:
    | number[]
    | {
        [k: string]: number[];
      };
  reason: string | null;
  edited: boolean;
}
/**
 * The change of one file.
 *
 * Attributes:
 *     key: the file (`FileStat.key`), which clients are not told.
 *     path: relative to the root of the workspace that shows it.
 *     before: the file before the change; None if it did not exist.
 *     after: the file after it; None if the change deleted it.
 *     diff: its rows.
 */
export interface ChangedFile {
  path: string;
  before: FileState | null;
  after: FileState | null;
  diff: FileDiff;
}
/**
 * The outcome of a command that ran.
 *
 * Attributes:
 *     exit_code: the shell's; 128 + n where signal n ended it.
 *     output: the end of what it printed.
 *     cut: there was more before.
 *     note: why it was ended, if it was.
 */
export interface CommandOutcome {
  exit_code: number;
  output: string;
  cut: boolean;
  note: ('timed out' | 'cancelled') | null;
}
/**
 * A modification of a proposal's file since it was proposed.
 *
 * Attributes:
 *     path: the file, relative to the root.
 *     message: says that it was modified.
 *     diff: how, as far as the proposer was shown the file; None where it cannot be told.
 */
export interface ChangedSince {
  path: string;
  message: string;
  diff: FileDiff | null;
}
