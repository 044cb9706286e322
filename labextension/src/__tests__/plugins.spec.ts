import plugins from '../index';

describe('the extension', () => {
  it('names every plugin once', () => {
    const ids = plugins.map(plugin => plugin.id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
