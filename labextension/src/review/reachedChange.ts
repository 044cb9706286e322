/** Lets Tab lead from the change that the keyboard has reached to that change's buttons. */

/** Keys that leave the person where they are. */
const STAYING = ['Tab', 'Escape', 'Shift', 'Alt', 'Control', 'Meta'];

/** How many frames to wait for an editor to draw the buttons that come into sight. */
const FRAMES_TO_DRAW = 10;

/** The reached change; null once the person has gone elsewhere. */
let reached: { within: Element; hunk: string | null; bringUp: () => void } | null = null;

/**
 * Note the change that the person was led to.
 *
 * @param within - the editor or cell that has the focus, and contains the buttons.
 * @param hunk - the key of the buttons (`data-hunk`); null for the first ones.
 * @param bringUp - scrolls to the buttons, which an editor does not draw while they are far away.
 */
export function noteReached(within: Element, hunk: string | null, bringUp: () => void): void {
  reached = { within, hunk, bringUp };
}

/** Follow the keys of this page: by itself, the browser would go to the first button of the editor or cell. */
export function followReached(): void {
  window.addEventListener('pointerdown', forget, true);
  window.addEventListener('keydown', ({ key }) => STAYING.includes(key) || forget(), true);
  window.addEventListener('keydown', leadOn);
}

function forget(): void {
  reached = null;
}

function leadOn(event: KeyboardEvent): void {
  const { target } = event;
  // An editor that indents its text has prevented the default.
  const isPlainTab = event.key === 'Tab' && !event.shiftKey && !event.defaultPrevented;
  if (isPlainTab && reached && target instanceof Element && reached.within.contains(target)) {
    const { within, hunk, bringUp } = reached;
    const which = hunk === null ? '' : `[data-hunk="${CSS.escape(hunk)}"]`;
    const button = () => within.querySelector<HTMLElement>(`.jp-fstools-Review-controls${which} button`);
    forget();
    if ((button() || hunk !== null) && !target.closest('.jp-fstools-Review-controls')) {
      event.preventDefault();
      if (!button()) {
        bringUp();
      }
      focusOnce(button, FRAMES_TO_DRAW);
    }
  }
}

/** Focus a button as soon as it is drawn. */
function focusOnce(button: () => HTMLElement | null, frames: number): void {
  const found = button();
  if (found) {
    found.focus();
  } else if (frames) {
    requestAnimationFrame(() => focusOnce(button, frames - 1));
  }
}
