/** What is said of an entry, for a person to read or to hear. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Entry } from '../feed/tokens';

import { isCommand, spokenCommand } from './commandText';
import { RequestError } from '../feed/requests';

/** Says it in the person's language. */
export class Words {
  constructor(private _trans: TranslationBundle) {}

  /** What was done. */
  verb(entry: Entry): string {
    const { _trans: trans } = this;
    if (entry.kind !== 'change') {
      return entry.kind === 'read' ? trans.__('read') : trans.__('refused');
    }
    if (entry.undoes !== null) {
      return trans.__('undo');
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

  /** Where a change stands; nothing for what is over. */
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
      proposed: entry.stale ? trans.__('out of date') : trans.__('waits for you'),
      applied: trans.__('applied'),
      rejected: entry.decided_by === null ? trans.__('withdrawn') : trans.__('rejected'),
      undone: trans.__('undone')
    };
    return words[entry.status];
  }

  /** The file, or of several the first and how many more. */
  several(paths: string[], file: string): string {
    return paths.length > 1 ? this._trans.__('%1 and %2 more', file, paths.length - 1) : file;
  }

  /** By whom, with what, how much. */
  detail(entry: Entry): string {
    const { _trans: trans } = this;
    if (entry.kind === 'read') {
      return [entry.session, this._extent(entry)].join(' · ');
    }
    const by = entry.kind === 'change' && entry.decided_by !== null ? [trans.__('by %1', entry.decided_by)] : [];
    return [entry.session, entry.tool, ...by].join(' · ');
  }

  /** What stands in the place of a file's name. */
  noFile(entry: Entry): string {
    return entry.kind === 'refusal' ? entry.tool : this._trans.__('no file');
  }

  /** In which folder a command runs, or a file lies; nothing for the root. */
  folder(entry: Entry): string {
    if (isCommand(entry)) {
      return entry.path === '.' ? '' : this._trans.__('in %1', entry.path);
    }
    return entry.path?.slice(0, Math.max(0, entry.path.lastIndexOf('/'))) ?? '';
  }

  /** How many changes of files and commands. */
  counted(changes: number, commands: number): string {
    const { _trans: trans } = this;
    const ofChanges = trans._n('%1 change', '%1 changes', changes);
    const ofCommands = trans._n('%1 command', '%1 commands', commands);
    if (changes && commands) {
      return trans.__('%1 and %2', ofChanges, ofCommands);
    }
    return commands ? ofCommands : ofChanges;
  }

  /** How many changes and commands wait; of which kind is not known. */
  waiting(count: number): string {
    return this._trans._n('%1 decision waits for you', '%1 decisions wait for you', count);
  }

  /** All of it in one sentence, for a screen reader; `command` is what a command says, where that is known. */
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
    return [...said, this.detail(entry)].filter(word => word !== '').join(', ');
  }

  /** What the server lets wait. */
  approval(approval: string | string[]): string {
    const { _trans: trans } = this;
    if (approval === 'never') {
      return trans.__('Changes are applied at once (approval is "never" in the server\'s settings).');
    }
    return approval === 'always'
      ? trans.__('Every change waits for you.')
      : trans.__('Changes to %1 wait for you.', [approval].flat().join(', '));
  }

  /** Why something did not happen, and what to do. */
  problem(error: unknown): string {
    if (error instanceof RequestError) {
      const { code, message, hint } = error.refusal;
      if (code === 'unreachable') {
        return this._trans.__('The server cannot be reached. When it is back, what stands then is shown here.');
      }
      return [message, hint].filter(part => part !== '').join('\n');
    }
    return error instanceof Error ? error.message : String(error);
  }

  private _reason(code: string): string {
    const { _trans: trans } = this;
    const words: Record<string, string> = {
      not_read: trans.__('not read yet'),
      stale: trans.__('changed since the read'),
      unsaved: trans.__('unsaved in a browser'),
      denied: trans.__('not allowed'),
      outside_root: trans.__('outside the root'),
      disabled: trans.__('switched off'),
      not_found: trans.__('not found'),
      no_match: trans.__('no match'),
      ambiguous: trans.__('several matches'),
      no_op: trans.__('nothing to change'),
      conflict: trans.__('somebody was faster'),
      invalid: trans.__('wrong arguments'),
      too_large: trans.__('too large'),
      binary: trans.__('not text'),
      encoding: trans.__('other encoding'),
      timeout: trans.__('timed out'),
      io: trans.__('disk error')
    };
    return words[code] ?? code.replace(/_/g, ' ');
  }

  private _extent(entry: Extract<Entry, { kind: 'read' }>): string {
    const { _trans: trans } = this;
    if (entry.full) {
      return trans.__('all of it');
    }
    if (entry.cells !== null) {
      return trans._n('%1 cell', '%1 cells', entry.cells.length);
    }
    if (!entry.lines.length) {
      return trans.__('a part of it');
    }
    const ranges = entry.lines.slice(0, 3).map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`));
    return trans.__('lines %1', ranges.join(', ') + (entry.lines.length > 3 ? ', …' : ''));
  }
}
