// Most of what JupyterLab publishes is ECMAScript modules, which jest has to be told to translate.
const translated = ['@codemirror', '@jupyter', '@jupyterlab', '@lezer', '@lumino', '@microsoft', '@marijn', '@rjsf'];
const plain = [
  'crelt',
  'exenv-es6',
  'lib0',
  'nanoid',
  'style-mod',
  'vscode-ws-jsonrpc',
  'w3c-keyname',
  'y-protocols',
  'yjs'
];

const parser = { syntax: 'typescript', tsx: true, decorators: true };

module.exports = {
  testEnvironment: 'jsdom',
  testRegex: 'src/__tests__/.*\\.spec\\.tsx?$',
  transform: { '\\.(ts|tsx|js|mjs)$': ['@swc/jest', { jsc: { target: 'es2022', parser } }] },
  transformIgnorePatterns: [`/node_modules/(?!(${[...translated, ...plain].join('|')}))`],
  moduleNameMapper: { '\\.(css|svg)$': '<rootDir>/src/__tests__/noAsset.js' },
  setupFiles: ['<rootDir>/src/__tests__/browserParts.js']
};
