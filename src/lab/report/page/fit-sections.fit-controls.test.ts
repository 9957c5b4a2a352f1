import { expect, test } from 'vitest';
import { ValidationError } from '../../../core/errors/errors.ts';
import {
  buildHandmadeArms,
  buildHandmadeControl,
  buildHandmadeTraining,
  withBaseline,
} from '../tables/controls.fixture.ts';
import { formatControlsMarkdown, renderFitControls } from './fit-sections.ts';
import { inventFitted } from './invented-fit.fixture.ts';

const controls = [
  buildHandmadeControl('neighbours', 0.75, 0.652, 0.013),
  buildHandmadeControl('time | place', 0.75, 0.7612),
  withBaseline(buildHandmadeControl('all of these', 0.75, 0.4375, 0.0004), -0.25, 0.001),
];
const arms = buildHandmadeArms(0.5, 0.75);
const training = buildHandmadeTraining(arms, { controls });
const parseControlCells = (text: string) =>
  [...text.matchAll(/<td([^>]*)>([^<]*)<\/td>/g)].map(([, kind, cell]) => [kind, cell]);
const renderControlsText = (result: typeof training) => renderFitControls(result)[0]?.content.text ?? '';

test('a control has its metric, both differences, and a share of the gain only where the baseline is unchanged', () => {
  const texts = parseControlCells(renderControlsText(training)).map(([, cell]) => cell);
  expect([texts.slice(0, 5), texts.slice(5, 10), texts.slice(10)]).toEqual([
    ['neighbours', '2', '.652 [.53, .78]', '−.098 [−.16, −.04], p .013 ▼', 'unchanged; gone: 39 % of the gain'],
    ['time | place', '2', '.761 [.64, .89]', '+.011 [−.05, +.07], p .500', 'unchanged; gone: −4 % of the gain'],
    ['all of these', '2', '.438 [.31, .56]', '−.313 [−.38, −.25], p &lt;.001 ▼', '−.250 [−.31, −.19], p .001 ▼'],
  ]);
});

test('figures sort by their numbers, parts by their names', () => {
  const readRowValues = (row: number) =>
    parseControlCells(renderControlsText(training))
      .slice(5 * row, 5 * row + 5)
      .map(([kind]) => kind?.match(/data-value="([^"]+)"/)?.[1]);
  expect(readRowValues(2)).toEqual([undefined, '2', '0.4375', '-0.3125', '-0.25']);
  expect(readRowValues(0)[4]).toBe('0');
});

test('where nothing was gained no share is taken away', () => {
  const controls = [buildHandmadeControl('time', 0.5, 0.25)];
  const lost = buildHandmadeTraining(buildHandmadeArms(0.75, 0.5), { controls });
  expect(parseControlCells(renderControlsText(lost)).at(-1)?.[1]).toBe('unchanged');
  expect(formatControlsMarkdown(lost)[1]?.split('\n').at(-1)).toMatch(/^\| time .* \| unchanged +\| {13}\|$/);
});

test('without controls nothing is shown', () => {
  const bare = buildHandmadeTraining(arms);
  expect(renderFitControls(bare)).toEqual([]);
  expect(formatControlsMarkdown(bare)).toEqual([]);
});

test('Markdown says what was exchanged and what is gone', () => {
  const [sentence, table] = formatControlsMarkdown(training);
  expect(sentence).toMatch(
    /^Null controls minus learned, .* what the exchange changes of hand-tuned in recall@10, and, only where that is unchanged, the share of the gain.* Brackets: 95 % .*\. \d+ conversations cannot decide \d+ comparisons of controls: the smallest possible p is \S+\.$/,
  );
  expect(table?.split('\n')).toEqual([
    '| exchanged     | signals | recall@10                     | hand-tuned, recall@10        | of the gain |',
    '| ------------- | ------- | ----------------------------- | ---------------------------- | ----------- |',
    '| neighbours    | 2       | −.098 [−.16, −.04], p .013 ▼  | unchanged                    | 39 %        |',
    '| time \\| place | 2       | +.011 [−.05, +.07], p .500    | unchanged                    | −4 %        |',
    '| all of these  | 2       | −.313 [−.38, −.25], p <.001 ▼ | −.250 [−.31, −.19], p .001 ▼ |             |',
  ]);
});

test('every metric has its columns, the share in Markdown is of the first', () => {
  const sample = inventFitted(7, { signals: 11, folds: 3, epochs: 5, queries: 29 });
  const names = [...renderControlsText(sample).matchAll(/<button type="button">([^<]+)</g)].map(([, name]) => name);
  expect(names).toEqual([
    'exchanged',
    'signals',
    ...['recall@10', 'ndcg@10', 'mrr@10'].flatMap((metric) => [
      metric,
      `${metric}: control − learned`,
      `${metric}: control − hand-tuned`,
    ]),
  ]);
  const rows = formatControlsMarkdown(sample)[1]?.split('\n').slice(2) ?? [];
  expect(rows.map((row) => row.split('|').at(-2)?.trim())).toEqual(['40 %', '13 %', '−1 %', '']);
});

test('a control without a metric is refused', () => {
  const [first] = controls as [(typeof controls)[number]];
  const broken = buildHandmadeTraining(arms, { controls: [{ ...first, metrics: {} }] });
  expect(() => renderFitControls(broken)).toThrow(
    new ValidationError('arm neighbours has no metric: recall@10; name a metric of the result', {
      metric: 'recall@10',
    }),
  );
});
