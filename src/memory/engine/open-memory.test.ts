import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const SCRIPT = `
import { createRequire } from 'node:module';
import { openMemory } from './open-memory.ts';
const { cache } = createRequire(import.meta.url);
const isLoaded = () => Object.keys(cache).some((path) => path.includes('stats-base-dists-t-quantile'));
const before = isLoaded();
const memory = await openMemory({ dimension: 2 });
console.log(before, isLoaded());
await memory.close();
`;

test('what the first prior needs is loaded when the memory opens, not within the time of a query', () => {
  const given = ['--import', 'tsx', '--input-type=module', '--eval', SCRIPT];
  const output = execFileSync(process.execPath, given, { cwd: import.meta.dirname, encoding: 'utf8' });
  expect(output.trim()).toBe('false true');
});
