import { expect, test } from 'vitest';
import { DOORS, importDoor } from './entry-points.harness.ts';

/** Paths below a value at which a plain object or array can be changed. */
function listChangeable(value: unknown, path: string): string[] {
  if (value === null || typeof value !== 'object') return [];
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return [];
  const below = Object.entries(value).flatMap(([key, child]) => listChangeable(child, `${path}.${key}`));
  return Object.isFrozen(value) ? below : [path, ...below];
}

test.each([...DOORS.keys()])('no table that %s exports can be changed from outside', async (door) => {
  const tables = Object.entries(await importDoor(door)).filter(
    ([name, value]) =>
      name !== 'tf' && name !== 'z' && value !== null && typeof value === 'object' && !('_zod' in value),
  );
  expect(tables.flatMap(([name, table]) => listChangeable(table, name))).toEqual([]);
});
