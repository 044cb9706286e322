// What a browser has and jsdom lacks, as far as JupyterLab's modules ask for it when they are loaded.
const util = require('util');

global.TextEncoder ??= util.TextEncoder;
global.TextDecoder ??= util.TextDecoder;
global.DragEvent ??= class {};
global.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
global.IntersectionObserver ??= global.ResizeObserver;
window.matchMedia ??= () => ({
  matches: false,
  addEventListener() {},
  removeEventListener() {},
  addListener() {},
  removeListener() {}
});
global.requestIdleCallback ??= callback => setTimeout(callback);
