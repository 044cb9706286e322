import plugins, { IActivityFeed } from '../index';

describe('the extension', () => {
  it('names every plugin once', () => {
    const ids = plugins.map(plugin => plugin.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('exports the token of the feed, by which other extensions ask for it', () => {
    expect(plugins.filter(plugin => plugin.provides === IActivityFeed)).toHaveLength(1);
  });
});
