/** Compares two texts in CodeMirror, side by side or in one column. */

import type { Extension } from '@codemirror/state';
import type { TranslationBundle } from '@jupyterlab/translation';

import { syntaxHighlighting } from '@codemirror/language';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { type IEditorLanguageRegistry, jupyterHighlightStyle, jupyterTheme } from '@jupyterlab/codemirror';
import { Widget } from '@lumino/widgets';

import { languageOf } from './syntaxColours';

/** How a change is shown. */
export interface IComparisonStyle {
  layout: 'side-by-side' | 'unified';
  /** Whether unchanged lines far from any change are shown, too. */
  isUnfolded: boolean;
}

/** Options of a comparison. */
export interface IComparisonOptions extends IComparisonStyle {
  old: string;
  new: string;
  /** Its name for screen readers. */
  name: string;
  /** The file, or the language as a notebook names it. */
  language: { path?: string; name?: string };
  languages: IEditorLanguageRegistry;
  trans: TranslationBundle;
}

const FOLD = { margin: 3, minSize: 4 };

/** Shows both texts, read-only. */
export class Comparison extends Widget {
  constructor(options: IComparisonOptions) {
    super();
    this.addClass('jp-fstools-Comparison');
    this._options = options;
    void this._show().catch(reason => console.warn('The texts cannot be compared.', reason));
  }

  /** Whether both texts are drawn. */
  get isDrawn(): boolean {
    return this._view !== null;
  }

  override dispose(): void {
    this._view?.destroy();
    super.dispose();
  }

  private async _show(): Promise<void> {
    const { languages, language } = this._options;
    const loaded = await languageOf(languages, language).catch(() => null);
    if (!this.isDisposed) {
      this._view = this._made(loaded?.support ?? []);
    }
  }

  private _made(support: Extension): { destroy(): void } {
    const { old, new: now, name, layout, isUnfolded, trans } = this._options;
    const settings = { gutter: true, ...(isUnfolded ? {} : { collapseUnchanged: FOLD }) };
    const side = (doc: string, label: string) => ({ doc, extensions: [...reading(label, trans), support] });
    if (layout === 'side-by-side') {
      const a = side(old, trans.__('%1, before', name));
      return new MergeView({ a, b: side(now, trans.__('%1, after', name)), parent: this.node, ...settings });
    }
    // An empty side has no line, but CodeMirror draws one: these classes hide it.
    this.toggleClass('jp-mod-new', old === '');
    this.toggleClass('jp-mod-gone', now === '');
    const unified = unifiedMergeView({ original: old, mergeControls: false, ...settings });
    const { doc, extensions } = side(now, name);
    return new EditorView({ doc, extensions: [...extensions, unified], parent: this.node });
  }

  private _options: IComparisonOptions;
  private _view: { destroy(): void } | null = null;
}

/** Extensions of a read-only editor: it takes the keyboard but no text, and Tab leaves it. */
function reading(label: string, trans: TranslationBundle): Extension[] {
  return [
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': 'true' }),
    EditorState.phrases.of({ '$ unchanged lines': trans.__('$ unchanged lines') }),
    EditorView.lineWrapping,
    lineNumbers(),
    jupyterTheme,
    syntaxHighlighting(jupyterHighlightStyle)
  ];
}
