import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { requirePackages } from '../../core/required-packages.harness.ts';
import { compileKernel } from '../../core/tensors/kernel-text.harness.ts';
import type { Distance } from '../../model/vector-index.ts';
import { measureDistance, scoreDistance } from './distances.ts';
import { ScannedRows } from './row-scan.ts';

requirePackages('wabt').test('the bytes of the kernel are those of its text', async () => {
  const compiled = await compileKernel(new URL('row-scan.wat', import.meta.url));
  const source = readFileSync(new URL('row-scan.ts', import.meta.url), 'utf8');
  expect(source, `set KERNEL to '${compiled}'`).toContain(`'${compiled}'`);
});

test('every row is read back as it was written, in any block', () => {
  const rows = new ScannedRows(5);
  const value = (slot: number) => Float32Array.from({ length: 5 }, (_, d) => slot + d / 8);
  for (let slot = 0; slot < 5003; slot += 7) rows.set(slot, value(slot));
  rows.set(9001, null);
  for (let slot = 0; slot < 5003; slot += 7) expect(rows.get(slot)).toEqual(value(slot));
  expect(rows.get(9001)).toEqual(new Float32Array(5));
});

function drawRows(metric: Distance, dimension: number, count: number, scale: number): Float32Array[] {
  const stream = createRandom(dimension, `${metric} ${scale}`);
  return Array.from({ length: count }, () => {
    const row = Float32Array.from({ length: dimension }, () => scale * stream.drawNormal());
    const length = Math.hypot(...row);
    return metric === 'cosine' ? row.map((value) => value / length) : row;
  });
}

test.each([
  ['cosine', 1],
  ['l2', 1],
  ['l2', 1e17],
  ['l2', 1e-30],
  ['inner-product', 1],
  ['inner-product', 1e17],
  ['inner-product', 1e-21],
  ['inner-product', 1e-30],
] as const)('%s, numbers of %f: a scan leaves out only rows with a lower score than the worst', (metric, scale) => {
  for (const dimension of [1, 3, 17, 67, 129]) {
    const [query, ...vectors] = drawRows(metric, dimension, 212, scale) as [Float32Array, ...Float32Array[]];
    const rows = new ScannedRows(dimension);
    for (const [slot, vector] of vectors.entries()) rows.set(slot, vector);
    const scan = rows.beginScan(metric, query);
    const scores = vectors.map((vector) => scoreDistance(metric, measureDistance(metric, vector, 0, query)));
    for (const worst of scores) {
      const found = new Set<number>();
      for (let slot = rows.findNear(scan, 0, 211, worst); slot < 211; slot = rows.findNear(scan, slot + 1, 211, worst))
        found.add(slot);
      expect([...scores.keys()].filter((slot) => scores[slot]! >= worst && !found.has(slot))).toEqual([]);
    }
  }
});

test.each(['cosine', 'l2', 'inner-product'] as const)(
  '%s: a scan leaves out nearly every row that is worse',
  (metric) => {
    const [query, ...vectors] = drawRows(metric, 67, 4001, 1) as [Float32Array, ...Float32Array[]];
    const rows = new ScannedRows(67);
    for (const [slot, vector] of vectors.entries()) rows.set(slot, vector);
    const scores = vectors.map((vector) => scoreDistance(metric, measureDistance(metric, vector, 0, query)));
    const worst = [...scores].sort((a, b) => b - a)[9]!;
    const scan = rows.beginScan(metric, query);
    let found = 0;
    for (let slot = rows.findNear(scan, 0, 4000, worst); slot < 4000; slot = rows.findNear(scan, slot + 1, 4000, worst))
      found++;
    expect(found).toBeGreaterThanOrEqual(10);
    expect(found).toBeLessThanOrEqual(12);
  },
);
