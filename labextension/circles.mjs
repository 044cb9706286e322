// Fails where modules below src import each other in a circle, type imports and import() included.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

import ts from 'typescript';

const names = readdirSync('src', { recursive: true }).filter(name => name.endsWith('.ts'));
const imports = new Map(names.map(name => [name, importedBy(name)]));

function importedBy(name) {
  const { importedFiles } = ts.preProcessFile(readFileSync(join('src', name), 'utf-8'));
  const own = importedFiles.map(({ fileName }) => fileName).filter(imported => imported.startsWith('.'));
  return own.map(imported => normalize(join(dirname(name), `${imported}.ts`)));
}

/** The modules on the way from a module back to itself; null where there is no such way. */
function circleFrom(start) {
  const seen = new Set();
  const ways = [[start]];
  while (ways.length) {
    const way = ways.pop();
    for (const next of imports.get(way.at(-1)) ?? []) {
      if (next === start) {
        return way;
      }
      if (!seen.has(next)) {
        seen.add(next);
        ways.push([...way, next]);
      }
    }
  }
  return null;
}

const circles = new Map();
for (const name of names) {
  const circle = circleFrom(name);
  if (circle) {
    circles.set([...circle].sort().join(' '), circle);
  }
}
const entryImporters = names.filter(name => !name.startsWith('__tests__') && imports.get(name).includes('index.ts'));
for (const circle of circles.values()) {
  console.error(`circle: ${[...circle, circle[0]].join(' -> ')}`);
}
entryImporters.forEach(name => console.error(`${name} imports index.ts, which only lists the plugins`));
console.log(`${circles.size} circles among ${names.length} modules`);
process.exitCode = circles.size || entryImporters.length ? 1 : 0;
