import { expect, test } from 'vitest';
import { compareBytes, compareScored, rankIdsDescending } from './tie-rule.ts';

test('score descending, then id descending by bytes', () => {
  const documents = [
    { id: 'd1', score: 0.5 },
    { id: 'd9', score: 0.5 },
    { id: 'd10', score: 0.5 },
    { id: 'a', score: 0.7 },
    { id: 'z', score: -1 },
  ];
  expect(documents.sort(compareScored).map(({ id }) => id)).toEqual(['a', 'd9', 'd10', 'd1', 'z']);
});

test('bytes, not UTF-16 units: a character outside the basic plane comes after one at its end', () => {
  const last = '\uffee'; // 3 bytes, ef bf ae
  const beyond = '\u{1f600}'; // 4 bytes, f0 9f 98 80, but d83d de00 in UTF-16
  expect(compareBytes(beyond, last)).toBeGreaterThan(0);
  expect(beyond < last).toBe(true);
  expect(compareBytes('x', 'x')).toBe(0);
});

test('places follow the bytes of the ids, last first', () => {
  const ids = ['b', 'é', 'a', 'ab', 'Z', 'ﬀ', '😀', '10', '9', 'bb', 'B', '_', '~'];
  const sorted = ids
    .map((id) => ({ id, hex: Buffer.from(id).toString('hex') }))
    .sort((a, b) => (a.hex < b.hex ? 1 : -1));
  expect([...rankIdsDescending(ids)]).toEqual(ids.map((id) => sorted.findIndex((entry) => entry.id === id)));
  expect(rankIdsDescending([])).toHaveLength(0);
});
