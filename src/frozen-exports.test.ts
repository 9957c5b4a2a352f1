import { expect, test } from 'vitest';
import { ENTRY_FOLDERS, joinEntryPath } from './entry-points.harness.ts';

/** Paths below a value at which a plain object or array can be changed. */
function listChangeable(value: unknown, path: string): string[] {
  if (value === null || typeof value !== 'object') return [];
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return [];
  const below = Object.entries(value).flatMap(([key, child]) => listChangeable(child, `${path}.${key}`));
  return Object.isFrozen(value) ? below : [path, ...below];
}

test.each([...ENTRY_FOLDERS.keys()])('no table that %s exports can be changed from outside', async (room) => {
  const exports = (await import(joinEntryPath(room, 'index.ts'))) as Record<string, unknown>;
  const tables = Object.entries(exports).filter(
    ([, value]) => value !== null && typeof value === 'object' && !('_zod' in value) && !('engine' in value),
  );
  expect(tables.flatMap(([name, table]) => listChangeable(table, name))).toEqual([]);
});

test('there are rooms with tables to look at', () => {
  expect(ENTRY_FOLDERS.size).toBeGreaterThan(15);
});
