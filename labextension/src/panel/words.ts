/** Describes entries, turns and problems in words, to read or to hear. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { ChangeEvent } from '../payloads';
import type { ToolsServer } from '../feed/requests';
import type { Entry } from '../feed/tokens';
import type { ITurn } from './turns';

import { isCommand, isStepBack, spokenCommand } from './commandText';
import { RequestError } from '../feed/requests';
import { countsOf } from './turns';

/** Parts that ask the server, and tell its answers. */
export interface IServerParts {
  server: ToolsServer;
  words: Words;
  trans: TranslationBundle;
}

/** Puts entries, turns and problems into the person's language. */
export class Words {
  /**
   * @param user - the current user; empty until known.
   */
  constructor(
    private _trans: TranslationBundle,
    private _user: () => string = () => ''
  ) {}

  /** The action of an entry. */
  verb(entry: Entry): string {
    const { _trans: trans } = this;
    if (entry.kind !== 'change') {
      return entry.kind === 'read' ? trans.__('read') : trans.__('refused');
    }
    if (isStepBack(entry)) {
      return entry.redo ? trans.__('redo') : trans.__('undo');
    }
    const verbs = {
      create: trans.__('create'),
      edit: trans.__('edit'),
      overwrite: trans.__('overwrite'),
      delete: trans.__('delete'),
      execute: trans.__('run')
    };
    return verbs[entry.op];
  }

  /** The status of a change, or the reason of a refusal; empty for a read. */
  status(entry: Entry): string {
    const { _trans: trans } = this;
    if (entry.kind === 'refusal') {
      return this._reason(entry.code);
    }
    if (entry.kind === 'read') {
      return '';
    }
    const words = {
      pending: trans.__('being written'),
      proposed: entry.stale ? trans.__('out of date') : trans.__('waiting for approval'),
      applied: this._applied(entry),
      rejected: entry.decided_by === null ? trans.__('withdrawn') : trans.__('rejected'),
      undone: trans.__('undone')
    };
    return words[entry.status];
  }

  private _applied(change: ChangeEvent): string {
    const { _trans: trans } = this;
    if (!isCommand(change)) {
      return trans.__('applied');
    }
    return change.exit_code === null ? trans.__('started') : trans.__('exit code %1', change.exit_code);
  }

  /** The name of a file; for several files, the first name and how many more. */
  several(paths: string[], file: string): string {
    return paths.length > 1 ? this._trans.__('%1 and %2 more', file, paths.length - 1) : file;
  }

  /** The tool of an entry, where it landed, and who decided it; for a read, its extent. */
  detail(entry: Entry): string {
    if (entry.kind === 'read') {
      return this._extent(entry);
    }
    const by = entry.kind === 'change' && entry.decided_by !== null ? [this._by(entry.decided_by)] : [];
    return [entry.tool, ...this._place(entry), ...by].join(' · ');
  }

  /** The place where a change landed, unless in the file alone. */
  private _place(entry: Entry): string[] {
    if (entry.kind !== 'change' || entry.place === 'disk' || !['applied', 'undone'].includes(entry.status)) {
      return [];
    }
    return [entry.place === 'room' ? this._trans.__('in a room') : this._trans.__('in the open document')];
  }

  /** The session or person that a turn is of. */
  who({ session, user, person }: ITurn): string {
    if (person !== null) {
      return person === this._user() ? this._trans.__('You') : person;
    }
    // For a person's own sessions, the name is enough.
    return [user, ''].includes(this._user()) ? session : this._trans.__('%1 of %2', session, user);
  }

  /** How many files were changed, and commands run. */
  filesAndCommands(files: number, commands: number): string {
    const { _trans: trans } = this;
    const ofCommands = trans._n('%1 command', '%1 commands', commands);
    const ofFiles = trans._n('%1 file', '%1 files', files);
    return commands ? (files ? trans.__('%1, %2', ofFiles, ofCommands) : ofCommands) : ofFiles;
  }

  /** How many reads and refusals a turn has in addition to its changes; empty for none. */
  others({ reads, refusals }: ITurn): string {
    const { _trans: trans } = this;
    const repaired = refusals.filter(refusal => refusal.repaired).length;
    const refused = refusals.length - repaired;
    return [
      ...(reads.length ? [trans._n('%1 read', '%1 reads', reads.length)] : []),
      ...(refused ? [trans._n('%1 refused', '%1 refused', refused)] : []),
      ...(repaired ? [trans._n('%1 repaired', '%1 repaired', repaired)] : [])
    ].join(' · ');
  }

  /** A turn in one sentence, for a screen reader. */
  turn(turn: ITurn): string {
    const { _trans: trans } = this;
    const { files, commands, added, removed } = countsOf(turn);
    const lines = [
      trans._n('%1 line added', '%1 lines added', added),
      trans._n('%1 line removed', '%1 lines removed', removed)
    ];
    const said = files + commands ? [this.filesAndCommands(files, commands), ...(files ? lines : [])] : [];
    return [this.who(turn), ...said, this.others(turn)].filter(word => word !== '').join(', ');
  }

  /** Text in place of a file's name. */
  noFile(entry: Entry): string {
    return entry.kind === 'refusal' ? entry.tool : this._trans.__('no file');
  }

  /** The folder in which a command runs, or a file lies; empty for the root. */
  folder(entry: Entry): string {
    if (isCommand(entry)) {
      return entry.path === '.' ? '' : this._trans.__('in %1', entry.path);
    }
    return entry.path?.slice(0, Math.max(0, entry.path.lastIndexOf('/'))) ?? '';
  }

  /** How many changes of files and commands these are. */
  counted(entries: readonly ChangeEvent[]): string {
    const { _trans: trans } = this;
    const commands = entries.filter(isCommand).length;
    const changes = entries.length - commands;
    const ofChanges = trans._n('%1 change', '%1 changes', changes);
    const ofCommands = trans._n('%1 command', '%1 commands', commands);
    if (changes && commands) {
      return trans.__('%1 and %2', ofChanges, ofCommands);
    }
    return commands ? ofCommands : ofChanges;
  }

  /** How many changes and commands wait, in one number, as their kinds are not known. */
  waiting(count: number): string {
    return this._trans._n('%1 decision waits for you', '%1 decisions wait for you', count);
  }

  /** An entry in one sentence, for a screen reader; `command` is the text of a command, if known. */
  sentence(entry: Entry, command: string | null = null): string {
    const { _trans: trans } = this;
    const subject = isCommand(entry)
      ? [spokenCommand(command ?? trans.__('a command')), this.folder(entry)]
      : [entry.path ?? this.noFile(entry)];
    const said = [this.verb(entry), ...subject, this.status(entry)];
    if (entry.kind === 'change' && !isCommand(entry)) {
      said.push(trans._n('%1 line added', '%1 lines added', entry.added));
      said.push(trans._n('%1 line removed', '%1 lines removed', entry.removed));
    }
    return [...said, entry.session, this.detail(entry)].filter(word => word !== '').join(', ');
  }

  /** Tells which changes wait for approval. */
  approval(approval: string | string[]): string {
    const { _trans: trans } = this;
    if (approval === 'never') {
      return trans.__('Changes are applied at once (approval is "never" in the server\'s settings).');
    }
    return approval === 'always'
      ? trans.__('Every change waits for your approval.')
      : trans.__('Changes to %1 wait for your approval.', [approval].flat().join(', '));
  }

  /** Why something failed, and what to do. */
  problem(error: unknown): string {
    if (error instanceof RequestError) {
      const { code, message, hint } = error.refusal;
      if (code === 'unreachable') {
        return this._trans.__('The server cannot be reached. Nothing was decided; try again when it is back.');
      }
      return [message, hint].filter(part => part !== '').join('\n');
    }
    return error instanceof Error ? error.message : String(error);
  }

  private _by(user: string): string {
    return user === this._user() ? this._trans.__('by you') : this._trans.__('by %1', user);
  }

  private _reason(code: string): string {
    const { _trans: trans } = this;
    const words: Record<string, string> = {
      not_read: trans.__('not read yet'),
      stale: trans.__('changed since the read'),
      unsaved: trans.__('unsaved edits'),
      denied: trans.__('not allowed'),
      rejected: trans.__('rejected by a person'),
      outside_root: trans.__('outside the root'),
      disabled: trans.__('disabled'),
      not_found: trans.__('not found'),
      no_match: trans.__('no match'),
      ambiguous: trans.__('several matches'),
      no_op: trans.__('no difference'),
      conflict: trans.__('conflict'),
      invalid: trans.__('invalid arguments'),
      too_large: trans.__('too large'),
      binary: trans.__('not a text file'),
      encoding: trans.__('cannot be decoded'),
      timeout: trans.__('timed out'),
      io: trans.__('disk error')
    };
    return words[code] ?? code.replace(/_/g, ' ');
  }

  private _extent(entry: Extract<Entry, { kind: 'read' }>): string {
    const { _trans: trans } = this;
    if (entry.full) {
      return trans.__('whole file');
    }
    if (entry.cells !== null) {
      return trans._n('%1 cell', '%1 cells', entry.cells.length);
    }
    if (!entry.lines.length) {
      return trans.__('part of the file');
    }
    const ranges = entry.lines.slice(0, 3).map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`));
    return trans.__('lines %1', ranges.join(', ') + (entry.lines.length > 3 ? ', …' : ''));
  }
}
