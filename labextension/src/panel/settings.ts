/** Reads the person's settings, and shows the server's among them. */

import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { JSONExt } from '@lumino/coreutils';

const ID = 'jupyter-fstools:plugin';

/** Settings of a person. */
export interface IPanelSettings {
  reads: boolean;
  refusals: boolean;
  notifications: boolean;
}

/** Reads the settings, and reports each change. */
export class PanelSettings {
  constructor(
    private _registry: ISettingRegistry,
    private _apply: (settings: IPanelSettings) => void
  ) {
    // Approval is set by the server's administrator; here it is only shown.
    _registry.transform(ID, {
      // As the default, too, or the settings editor would take it for the person's choice.
      fetch: plugin => {
        plugin.schema.properties!.approval.default = this._approval;
        return plugin;
      },
      compose: plugin => {
        plugin.data.composite = { ...plugin.data.composite, approval: this._approval };
        return plugin;
      }
    });
    this._loaded = this._load();
  }

  /** Show the server's setting of approval. */
  async showApproval(text: string): Promise<void> {
    this._approval = text;
    await this._loaded;
    await this._registry.reload(ID);
  }

  private async _load(): Promise<void> {
    const settings = await this._registry.load(ID);
    let applied: ReadonlyPartialJSONObject = {};
    const apply = () => {
      // Showing the server's setting also emits a change, but it must not change the list.
      const { approval: _, ...chosen } = settings.composite;
      if (!JSONExt.deepEqual(chosen, applied)) {
        applied = chosen;
        this._apply(chosen as unknown as IPanelSettings);
      }
    };
    settings.changed.connect(apply);
    apply();
  }

  private _approval = '';
  private _loaded: Promise<void>;
}
