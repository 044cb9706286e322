/** Converts paths between the tools' root and Jupyter's root. */

import type { Contents } from '@jupyterlab/services';

/** Where the tools' root lies below Jupyter's: '' if they are one, null if it lies elsewhere. */
export type RootBelowContents = string | null;

/** The path in JupyterLab's file browser of a file of the tools' root; null if it is not to be seen there. */
export function contentsPath(path: string, root: RootBelowContents): string | null {
  if (root === null) {
    return null;
  }
  return [root, path].filter(part => part !== '' && part !== '.').join('/');
}

/** The path for the tools of a file in JupyterLab's file browser; null for a file outside their root. */
export function toolsPath(
  path: string,
  root: RootBelowContents,
  contents: Pick<Contents.IManager, 'driveName'>
): string | null {
  if (root === null || contents.driveName(path) !== '') {
    // A drive of its own, such as a shared one, is not on the server's disk.
    return null;
  }
  if (root === '' || path === root) {
    return path === root ? '.' : path;
  }
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null;
}
