// Turns the JSON Schema on standard input into TypeScript, which `make payloads` keeps in src/payloads.ts.
import { text } from 'node:stream/consumers';

import { compile } from 'json-schema-to-typescript';
import { format, resolveConfig } from 'prettier';

const schema = JSON.parse(await text(process.stdin));
const bannerComment = '/** Declares the payloads of the server; `make payloads` writes it from the models. */';
const compiled = await compile(schema, 'Payloads', { bannerComment, unreachableDefinitions: true });

// The schema as a whole stands for nothing but its definitions, and where each of them is used is of no interest.
const types = compiled
  .replace(/export interface Payloads \{[^}]*\}\n/, '')
  .replace(/ \*\n \* This interface was referenced by .*\n \* via the `definition` .*\n/g, '');
process.stdout.write(await format(types, { ...(await resolveConfig('src/payloads.ts')), parser: 'typescript' }));
