import { contentsPath, toolsPath } from '../paths';

describe('a path', () => {
  it.each([
    ['', 'a.txt', 'a.txt'],
    ['', 'folder/a.txt', 'folder/a.txt'],
    ['work', 'a.txt', 'work/a.txt'],
    ['work/project', 'folder/a.txt', 'work/project/folder/a.txt']
  ])('below the root %j is %s for the tools, and %s in the file browser', (root, tools, contents) => {
    expect(contentsPath(tools, root)).toBe(contents);
    expect(toolsPath(contents, root)).toBe(tools);
  });

  it('is the root itself', () => {
    expect(contentsPath('.', 'work')).toBe('work');
    expect(toolsPath('work', 'work')).toBe('.');
    expect(toolsPath('', '')).toBe('.');
  });

  it.each([
    ['beside the root', 'workshop/a.txt', 'work'],
    ['on a drive of its own', 'RTC:a.txt', ''],
    ['where the root is not to be seen', 'a.txt', null]
  ])('%s is none for the tools', (_, path, root) => {
    expect(toolsPath(path, root)).toBeNull();
  });

  it('of the tools is none in the file browser where the root is not to be seen', () => {
    expect(contentsPath('a.txt', null)).toBeNull();
  });
});
