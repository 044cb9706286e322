import { ContentsManager, Drive, type ServerConnection } from '@jupyterlab/services';

import { contentsPath, toolsPath } from '../paths';

/** JupyterLab's drives: the server's disk, and one with a name. */
const serverSettings = {} as ServerConnection.ISettings;
const drives = new ContentsManager({ serverSettings, defaultDrive: new Drive({ serverSettings }) });
drives.addDrive(new Drive({ serverSettings, name: 'RTC' }));

describe('a path', () => {
  it.each([
    ['', 'a.txt', 'a.txt'],
    ['', 'folder/a.txt', 'folder/a.txt'],
    ['work', 'a.txt', 'work/a.txt'],
    ['', '12:30.txt', '12:30.txt'],
    ['', 'folder/RTC:a.txt', 'folder/RTC:a.txt'],
    ['work/project', 'folder/a.txt', 'work/project/folder/a.txt']
  ])('below the root %j is %s for the tools, and %s in the file browser', (root, tools, contents) => {
    expect(contentsPath(tools, root)).toBe(contents);
    expect(toolsPath(contents, root, drives)).toBe(tools);
  });

  it('is the root itself', () => {
    expect(contentsPath('.', 'work')).toBe('work');
    expect(toolsPath('work', 'work', drives)).toBe('.');
    expect(toolsPath('', '', drives)).toBe('.');
  });

  it.each([
    ['beside the root', 'workshop/a.txt', 'work'],
    ['on a drive of its own', 'RTC:a.txt', ''],
    ['where the root is not to be seen', 'a.txt', null]
  ])('%s is none for the tools', (_, path, root) => {
    expect(toolsPath(path, root, drives)).toBeNull();
  });

  it('of the tools is none in the file browser where the root is not to be seen', () => {
    expect(contentsPath('a.txt', null)).toBeNull();
  });
});
