import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { findBuiltUrl } from '../../core/built-module.harness.ts';

const SCRIPT = `
import { createRequire } from 'node:module';
import { openMemory } from ${JSON.stringify(findBuiltUrl('memory/engine/open-memory'))};
const { cache } = createRequire(process.execPath);
const isLoaded = () => Object.keys(cache).some((path) => path.includes('stats-base-dists-t-quantile'));
const before = isLoaded();
const memory = await openMemory({ dimension: 2 });
console.log(before, isLoaded());
await memory.close();
`;

test('what the first prior needs is loaded when the memory opens, not within the time of a query', () => {
  const given = ['--input-type=module', '--eval', SCRIPT];
  const output = execFileSync(process.execPath, given, { encoding: 'utf8' });
  expect(output.trim()).toBe('false true');
});
