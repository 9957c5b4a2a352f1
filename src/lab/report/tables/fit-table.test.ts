import { expect, test } from 'vitest';
import type { Fitted } from '../../measure/result.ts';
import { inventFitted } from '../page/invented-fit.fixture.ts';
import { buildHandmadeArms, buildHandmadeTraining } from './controls.fixture.ts';
import { renderCsv } from './csv.ts';
import { listTransferRows, searchSentences } from './fit-table.ts';
import { renderMarkdown } from './markdown.ts';
import { buildLadderTable } from './table.ts';
import { renderText } from './text-table.ts';

const size = { signals: 11, folds: 7, epochs: 5, queries: 29 };
const result = inventFitted(3, size);
const two = buildHandmadeTraining(buildHandmadeArms(0.5, 0.75));

test('the ways to choose the numbers are arms, compared with the hand-tuned one alone', () => {
  const { rows, legend } = buildLadderTable(result);
  expect(rows.map(({ arm, isBaseline }) => [arm, isBaseline])).toEqual([
    ['hand-tuned', true],
    ['uniform', false],
    ['random search', false],
    ['coordinate ascent', false],
    ['learned', false],
  ]);
  expect(legend.join(' ')).toContain('29 queries in 7 conversations.');
  expect(legend[1]).toMatch(/corrected by Holm over the arms\.$/);
});

test('for a terminal, the first metric has its difference, and what was searched stands below', () => {
  const text = renderText(two);
  expect(text.split('\n').slice(0, 4)).toEqual([
    'arm         recall@10              Δ     p',
    '─'.repeat(42),
    'hand-tuned  .500 [.38, .63]        —     —',
    'learned     .750 [.63, .88] ▲  +.250  .010',
  ]);
  expect(text).toContain('evaluations a fold');
  expect(text.trimEnd().endsWith(result.remarks.join('\n'))).toBe(true);
});

test('Markdown has differences, sentences and what made the numbers', () => {
  const text = renderMarkdown(two);
  expect(text).toContain('| hand-tuned (baseline) | .500 [.38, .63]   |');
  expect(text).toMatch(/\| learned \| \+\.250 \[\+\.19, \+\.31\], p \.010 ▲ \|/);
  expect(text).toContain('Experiment sample-training (5a17c0de) on sample');
  expect(text).not.toContain('Weights on other data');
});

test('null controls and families stand below the arms, and nothing where there are none', () => {
  const listBeginnings = (of: Fitted) =>
    renderMarkdown(of)
      .split('\n\n')
      .map((part) => part.split(' ', 2).join(' '));
  const bare = { ...result, fit: { ...result.fit, controls: [], importance: [] } };
  const above = ['| arm', 'Differences from', '| arm', 'On recall@10,', '▲ better,'];
  const end = ['Every ranking', 'Experiment sample-training'];
  expect(listBeginnings(bare)).toEqual([...above, ...end]);
  const below = ['Null controls', '| exchanged', 'Without a', '| without'];
  expect(listBeginnings(result)).toEqual([...above, ...below, ...end]);
});

test('transfer, if any, is a table with the names of the data', () => {
  const both = inventFitted(3, { ...size, transfer: true });
  expect(listTransferRows(result)).toHaveLength(1);
  expect(listTransferRows(both).map((row) => row.slice(0, 3))).toEqual([
    ['model', 'trained on', 'tested on'],
    ['linear', 'sample-threads', 'irc'],
    ['linear', 'irc', 'sample-threads'],
  ]);
  for (const text of [renderMarkdown(both), renderText(both)]) expect(text).toContain('Brackets of 13 conversations: ');
  expect(renderMarkdown(both)).toContain('Weights on other data');
});

test('weights of users have a table of their own', () => {
  const arms = result.arms.slice(0, 2).map((arm, a) => ({ ...arm, name: ['strategy', 'user'][a] as string }));
  const users = { arms, baseline: 'strategy', asked: 7, learned: [], file: 'users.json' };
  const both = { ...result, users };
  for (const text of [renderMarkdown(both), renderText(both)]) {
    expect(text).toContain('worse than strategy, said only where');
    expect(text).toContain('Weights of users: 0 of 7 users have enough questions');
  }
  const rows = renderCsv(both)
    .trimEnd()
    .split('\n')
    .map((line) => line.split(',').slice(0, 3));
  const own = rows.filter(([, , baseline]) => baseline === 'strategy');
  expect(new Set(own.map(([arm]) => arm))).toEqual(new Set(['strategy', 'user']));
  expect(rows).toHaveLength(1 + (5 + 2) * result.metrics.length);
});

test('searches have their budget, and a sentence where their row repeats the baseline', () => {
  const drawn = { method: 'random search', evaluations: [311, 307, 313], foldsAtStart: 2 };
  const climbed = { method: 'coordinate ascent', evaluations: [311, 311, 311], foldsAtStart: 0 };
  expect(searchSentences({ searches: [drawn, climbed] }, 'hand-tuned')).toEqual([
    "Searches evaluate the metric on a fold's training rows as often as takes the time of its training: random search 307 to 313, coordinate ascent 311 evaluations a fold, a gradient counted as 2.",
    'random search found nothing better than hand-tuned in 2 of 3 folds: its rankings there are those of hand-tuned.',
  ]);
  expect(searchSentences({ searches: [] }, 'hand-tuned')).toEqual([]);
  for (const text of [renderMarkdown(result), renderText(result)])
    expect(text).toContain('random search found nothing better than hand-tuned in 2 of 7 folds');
});
