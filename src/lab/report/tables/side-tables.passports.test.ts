import { expect, test } from 'vitest';
import type { MetricPassport } from '../../measure/result.ts';
import { buildHandmadeResult } from './result.fixture.ts';
import { renderPassports } from './side-tables.ts';

const passport: MetricPassport = {
  metric: 'recall@10',
  definition: 'Found & relevant.',
  ties: 'by id',
  granularity: 'turn',
  cutoff: 5,
  relevantGrade: 3,
  judgedOnly: false,
  dataHash: '0123456789abcdef',
  judgedAt: 0.4372,
  queries: 41,
  unanswerable: 0,
  unanswerableAre: 'apart',
};
const renderPassportText = (passports: Record<string, MetricPassport>) =>
  String(renderPassports({ ...buildHandmadeResult(), passports }));
/** Entry -> text of the one card. */
const readCardEntries = (more: Partial<MetricPassport>) => {
  const entries = renderPassportText({ 'recall@10': { ...passport, ...more } }).matchAll(
    /<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g,
  );
  return Object.fromEntries([...entries].map(([, name, text = '']) => [name, text.replace(/<[^>]*>/g, '')]));
};

test('a passport says all that figures must have in common', () => {
  expect(readCardEntries({})).toEqual({
    definition: 'Found &amp; relevant.',
    'equal scores': 'by id',
    'a hit is': 'a relevant turn',
    relevant: 'grade 3 or above',
    'cut-off': '5',
    queries: '41',
    unanswerable: 'none',
    'unjudged turns': 'stay in the rankings',
    data: '0123456789ab',
    'judged@5': '.437 of the first 5',
  });
});

test.each<[Partial<MetricPassport>, Record<string, string>]>([
  [{ granularity: 'conversation' }, { 'a hit is': 'a turn of a relevant conversation' }],
  [{ cutoff: null }, { 'cut-off': 'none', 'judged@10': '.437 of the first 10' }],
  [{ unanswerable: 7 }, { unanswerable: '7 without a relevant turn, left out' }],
  [{ unanswerable: 7, unanswerableAre: 'counted' }, { unanswerable: '7 without a relevant turn, counted' }],
  [{ judgedOnly: true }, { 'unjudged turns': 'taken out of the rankings' }],
])('%o is reported', (more, expected) => {
  expect(readCardEntries(more)).toMatchObject(expected);
});

test('a card has the number of its metric among all, whether or not those before it have one', () => {
  expect(renderPassportText({ 'recall@10': passport })).toContain(
    '<section id="passport-1" class="passport"><h3>recall@10</h3>',
  );
  expect(renderPassportText({})).toBe('');
});
