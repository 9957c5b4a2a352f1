import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const source = fileURLToPath(new URL('.', import.meta.url));
const rooms = readdirSync(source, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && readdirSync(`${source}${entry.name}`).includes('index.ts'))
  .map(({ name }) => name);

/** Paths below a value at which a plain object or array can be changed. */
function listChangeable(value: unknown, path: string): string[] {
  if (value === null || typeof value !== 'object') return [];
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return [];
  const below = Object.entries(value).flatMap(([key, child]) => listChangeable(child, `${path}.${key}`));
  return Object.isFrozen(value) ? below : [path, ...below];
}

test.each(rooms)('no table that %s exports can be changed from outside', async (room) => {
  const exports = (await import(`./${room}/index.ts`)) as Record<string, unknown>;
  const tables = Object.entries(exports).filter(
    ([, value]) => value !== null && typeof value === 'object' && !('_zod' in value) && !('engine' in value),
  );
  expect(tables.flatMap(([name, table]) => listChangeable(table, name))).toEqual([]);
});

test('there are rooms with tables to look at', () => {
  expect(rooms.length).toBeGreaterThan(15);
});
