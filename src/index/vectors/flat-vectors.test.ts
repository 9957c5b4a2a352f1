import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import { openFlatVectors } from './flat-vectors.ts';
import { readSavedIndex } from './saved-index.ts';
import { describeVectorIndex } from './vector-index-contract.harness.ts';

describeVectorIndex('flat', async (distance, dimension, folder) =>
  openFlatVectors(
    { index: 'flat', distance },
    { dimension, ...(folder === undefined ? {} : { saved: await readSavedIndex(folder) }) },
  ),
);

/** The product of rows of integers, exactly. */
function multiplyExactly(a: Float32Array, b: Float32Array): number {
  return Number(a.reduce((sum, value, i) => sum + BigInt(value) * BigInt(b[i]!), 0n));
}

test('scores that sums in float32 cannot tell apart are ranked exactly, with removals and filters', async () => {
  const [dimension, count] = [19, 2311];
  const stream = createRandom(5, 'integers');
  const base = Float32Array.from({ length: dimension }, () => 2000 + stream.integer(2000));
  const rows = Array.from({ length: count }, (_, i) => ({
    id: `row-${(i * 37) % count}`,
    vector: base.map((value) => value + Number(stream.integer(9) === 0)),
    subject: { attributes: { place: i % 11 } },
  }));
  const index = await openFlatVectors({ index: 'flat', distance: 'inner-product' }, { dimension });
  await index.upsert(rows);
  const removed = new Set(rows.filter((_, i) => i % 13 === 5).map(({ id }) => id));
  await index.remove([...removed]);
  const exact = rows
    .map((row) => ({ ...row, score: Math.fround(multiplyExactly(row.vector, base)) }))
    .sort((a, b) => b.score - a.score || compareBytes(b.id, a.id))
    .filter(({ id }) => !removed.has(id));
  for (const k of [1, 10, 500, 5000])
    for (const most of [11, 5, 1]) {
      const filter = { op: '<', field: 'place', value: most } as const;
      const seen = exact.filter(({ subject }) => subject.attributes.place < most).slice(0, k);
      const [found] = await index.search(base, k, most === 11 ? {} : { filter });
      expect(found!.map(({ id, score }) => ({ id, score }))).toEqual(seen.map(({ id, score }) => ({ id, score })));
    }
});
