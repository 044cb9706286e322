/** Converts paths between the tools' root and Jupyter's root. */

import type { Contents } from '@jupyterlab/services';

/** Path of the tools' root below Jupyter's root: '' if both are the same, null if it lies outside. */
export type RootBelowContents = string | null;

/** Converts a tools' path to a path in JupyterLab's file browser; null if the file is not visible there. */
export function contentsPath(path: string, root: RootBelowContents): string | null {
  if (root === null) {
    return null;
  }
  return [root, path].filter(part => part !== '' && part !== '.').join('/');
}

/** Converts a path in JupyterLab's file browser to a tools' path; null for a file outside the tools' root. */
export function toolsPath(
  path: string,
  root: RootBelowContents,
  contents: Pick<Contents.IManager, 'driveName'>
): string | null {
  if (root === null || contents.driveName(path) !== '') {
    // Files of a named drive, e.g. of a shared one, are not on the server's disk.
    return null;
  }
  if (root === '' || path === root) {
    return path === root ? '.' : path;
  }
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null;
}
