import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { compareBytes, compareScored, createTieOrder, rankIdsDescending } from './tie-rule.ts';

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

const drawIds = (count: number) => {
  const source = createRandom(5, `ids ${count}`);
  const letters = ['a', 'b', '7', 'é', '\uffee', '😀', '\u{10ffff}', '\ud7ff', '\ue000'];
  const ids = Array.from({ length: count }, () =>
    Array.from({ length: 1 + source.integer(5) }, () => letters[source.integer(letters.length)]).join(''),
  );
  return [...new Set(ids)];
};

test('the order of two texts is that of their bytes', () => {
  const ids = drawIds(300);
  for (const a of ids)
    for (const b of ids) expect(compareBytes(a, b)).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
});

test('the tie rule puts the places of ids in the order of their ranks', () => {
  const ids = drawIds(40);
  const [ranks, compareTies] = [rankIdsDescending(ids), createTieOrder(ids)];
  for (const a of ids.keys())
    for (const b of ids.keys()) expect(compareTies(a, b)).toBe(Math.sign(ranks[a]! - ranks[b]!));
});
