import { expect, test } from 'vitest';
import type { Interaction } from '../../measure/result.ts';
import { renderInteractionTable } from './interactions.ts';

const buildInteraction = (correctedP: number, more: Partial<Interaction> = {}): Interaction => ({
  factors: ['weight', 'window'],
  metric: 'mrr@10',
  levels: ['0.25', '3'],
  effect: { mean: -0.0312, low: -0.0701, high: 0.0099 },
  p: correctedP / 2,
  correctedP,
  samples: 10_000,
  unresolved: false,
  ...more,
});
const renderInteractions = (interactions: readonly Interaction[], level = 0.95, conversations = 41) =>
  String(
    renderInteractionTable(
      { method: 'factorial', arm: 'words', factors: [], interactions },
      { test: 'permutation', correction: 'holm', samples: 10_000, level },
      conversations,
    ),
  );
/** The cells of each row. */
const parseInteractionRows = (text: string) =>
  [...text.matchAll(/<tr><td([\s\S]*?)<\/tr>/g)].map(([, cells = '']) =>
    [...cells.matchAll(/>([^<>]+)<\/td>/g)].map(([, cell]) => cell),
  );

test('without an interaction there is nothing', () => {
  expect(renderInteractions([])).toBe('');
});

test('a row says which levels, the effect with its interval, and both p; a star below the level of the intervals', () => {
  const some = [
    buildInteraction(0.0499),
    buildInteraction(0.05, { metric: 'map' }),
    buildInteraction(0.0004, { metric: 'p@5' }),
  ];
  const cells = ['weight × window', '0.25 × 3'];
  const figures = ['−.031', '[−.070, +.010]'];
  expect(parseInteractionRows(renderInteractions(some))).toEqual([
    [...cells, 'p@5', ...figures, '&lt;.001', '&lt;.001 *'],
    [...cells, 'mrr@10', ...figures, '.025', '.0499 *'],
    [...cells, 'map', ...figures, '.025', '.050'],
  ]);
  expect(renderInteractions(some)).toContain(
    '95 % bootstrap intervals (BCa), clustered by conversation. * where the corrected p is below .05.',
  );
});

test('another level has another star', () => {
  const text = renderInteractions([buildInteraction(0.0499)], 0.99);
  expect(parseInteractionRows(text)[0]?.at(-1)).toBe('.050');
  expect(text).toContain(
    '99 % bootstrap intervals (BCa), clustered by conversation. * where the corrected p is below .01.',
  );
});

test('of many the surest are listed, and how many there are', () => {
  const many = Array.from({ length: 61 }, (_, i) => buildInteraction(((i * 7) % 61) / 61));
  const sorted = [...renderInteractions(many).matchAll(/data-value="([^"]*)">[^<]*<\/td><\/tr>/g)].map(([, p]) =>
    Number(p),
  );
  expect(sorted).toEqual(Array.from({ length: 60 }, (_, i) => i / 61));
  expect(renderInteractions(many)).toContain('; the 60 with the smallest corrected p of 61.');
  expect(renderInteractions(many.slice(1))).not.toContain('with the smallest');
});

test('few conversations have t intervals or none, and can reach no small p', () => {
  const text = renderInteractions([buildInteraction(0.3), buildInteraction(0.4, { levels: ['0.5', '3'] })], 0.95, 5);
  expect(text).toContain('95 % cluster-robust t intervals (fewer than 20 conversations). * where');
  expect(text).toContain('5 conversations cannot decide 2 interactions: the smallest possible p is .125.');
  const none = renderInteractions([buildInteraction(1, { effect: { mean: 0.25, low: null, high: null } })], 0.95, 2);
  expect(parseInteractionRows(none)).toEqual([['weight × window', '0.25 × 3', 'mrr@10', '+.250', '.500', '1.000']]);
  expect(none).toContain('no intervals (fewer than 3 conversations).');
});

test('an interaction that the samples do not decide has no star', () => {
  const text = renderInteractions([buildInteraction(0.0498, { unresolved: true, samples: 1_000_000 })]);
  expect(parseInteractionRows(text)[0]?.at(-1)).toBe('.0498');
  expect(text).toContain(
    'Undecided after 1,000,000 samples, with .05 within the Monte Carlo error of p: 0.25 × 3 (mrr@10).',
  );
});
