import { expect, test } from 'vitest';
import { inventResult } from './invented-result.fixture.ts';
import { selectInspectedArms } from './payload.ts';

const result = inventResult(3, { arms: 31, threads: 5, turnsAThread: 5, top: 3 });

test('the baseline, the best by the first metric, then the first of the config', () => {
  const chosen = selectInspectedArms(result, 7);
  const best = result.arms
    .map(({ name, metrics }) => ({ name, mean: metrics['mrr@10']?.mean ?? 0 }))
    .sort((a, b) => b.mean - a.mean)
    .slice(0, 3)
    .map(({ name }) => name);
  expect(chosen.size).toBe(7);
  for (const name of ['bm25', ...best]) expect(chosen).toContain(name);
  const others = result.arms.map(({ name }) => name).filter((name) => name !== 'bm25' && !best.includes(name));
  expect([...chosen].filter((name) => name !== 'bm25' && !best.includes(name))).toEqual(
    others.slice(0, 7 - new Set(['bm25', ...best]).size),
  );
});

test('few arms are all there', () => {
  expect(selectInspectedArms(result, 31).size).toBe(31);
  expect(selectInspectedArms(result, 100).size).toBe(31);
});

test('null controls are never among the best, and come after all others', () => {
  const control = { of: 'bm25', kind: 'permuted-order' };
  const perfect = { 'mrr@10': { mean: 1, low: 1, high: 1 } };
  const arms = result.arms.map((arm, at) => (at < 3 && at !== 1 ? { ...arm, control, metrics: perfect } : arm));
  const controls = [0, 2].map((at) => result.arms[at]?.name as string);
  for (const name of controls) expect(selectInspectedArms({ ...result, arms }, 29)).not.toContain(name);
  expect([...selectInspectedArms({ ...result, arms }, 30)].filter((name) => controls.includes(name))).toEqual([
    controls[0],
  ]);
});
