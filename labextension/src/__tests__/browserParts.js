// Adds the parts of a browser that jsdom lacks and that JupyterLab's modules need when they are loaded.
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
