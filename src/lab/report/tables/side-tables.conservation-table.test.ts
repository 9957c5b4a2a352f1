import { expect, test } from 'vitest';
import type { ArmConservation } from '../../measure/conservation.ts';
import { inventSweep } from '../page/invented-sweep.fixture.ts';
import { renderMarkdown } from './markdown.ts';
import { describeConservation, listConservationRows } from './side-tables.ts';

const result = inventSweep(31, { levels: [2, 2, 1], threads: 5, turnsAThread: 4, top: 3 });
const [first] = result.arms as [(typeof result.arms)[number]];
const figures = (coherence: number) => {
  const estimate = (mean: number) => ({ mean, low: mean - 0.0625, high: mean + 0.0625 });
  const energy = estimate(coherence / 2);
  return {
    turns: estimate(7),
    magnitude: estimate(1),
    energy,
    coherence: estimate(coherence),
    information: estimate(2),
  };
};
const conservation: ArmConservation = {
  k: 7,
  weights: 'salience',
  perQuery: {},
  means: { memory: figures(0.25), first: figures(0.75) },
};

test('a row an arm and set, with ratios to the memory', () => {
  const [memory, shown] = listConservationRows([{ ...first, conservation }]).map(({ cells }) =>
    cells.map(({ text }) => text),
  );
  expect(memory?.slice(-3)).toEqual(['—', '—', '—']);
  expect(shown).toEqual([
    ...[first.name, 'first 7', '7.0', '1.000 [.938, 1.063]', '.375 [.313, .438]', '.750 [.688, .813]'],
    ...['2.000 [1.938, 2.063]', '1.000', '3.000', '1.000'],
  ]);
  expect(describeConservation(conservation)).toContain('the first 7 ranks');
  expect(describeConservation(conservation)).toContain('Each turn weighs its salience;');
});

test('the Markdown table has the rows, where any arm was measured', () => {
  expect(renderMarkdown(result)).toMatch(/\n\| arm +\| turns of +\| turns \|/);
  const bare = result.arms.map(({ conservation: _, ...arm }) => arm);
  expect(renderMarkdown({ ...result, arms: bare })).not.toContain('magnitude / memory');
});
