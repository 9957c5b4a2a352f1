import { expect, test } from 'vitest';
import type { Fitted } from '../../measure/result.ts';
import { formatSelectionMarkdown } from '../page/fit-sections.ts';
import { inventFitted } from '../page/invented-fit.fixture.ts';
import { buildHandmadeArms, buildHandmadeControl, buildHandmadeTraining, withBaseline } from './controls.fixture.ts';
import { formatNumberName, renderFitFiles } from './fit-table.ts';

const result = inventFitted(3, { signals: 11, folds: 3, epochs: 5, queries: 29 });
const { fit } = result;
const render = (of: Fitted, file: string) => renderFitFiles(of)[file] ?? '';

function parseTrainingCsv(csv: string): { heading: string[]; rows: string[][] } {
  const [heading = [], ...rows] = csv
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  return { heading, rows };
}

test('a row a number, hand-tuned before learned, bounds empty where nothing was resampled', () => {
  const { heading, rows } = parseTrainingCsv(render(result, 'weights.csv'));
  expect(heading).toEqual(['model', 'parameter', 'number', 'hand-tuned', 'learned', 'low', 'high']);
  expect(rows).toHaveLength(11);
  const first = fit.numbers[0];
  expect(rows[0]?.slice(3).map(Number)).toEqual([
    first?.handTuned,
    first?.value,
    first?.interval?.low,
    first?.interval?.high,
  ]);
  const numbers = fit.numbers.map((number) => ({ ...number, interval: null }));
  const bare = { ...result, fit: { ...fit, numbers } };
  expect(parseTrainingCsv(render(bare, 'weights.csv')).rows[0]?.slice(5)).toEqual(['', '']);
});

test('a row an epoch of every fold, as far as loss or validation goes', () => {
  const { heading, rows } = parseTrainingCsv(render(result, 'curve.csv'));
  expect(heading.at(-1)).toBe(`validation ${fit.validatedBy}`);
  expect([...new Set(rows.map(([, fold]) => fold))]).toEqual(['1', '2', '3', 'all']);
  const own = rows.filter(([model, fold]) => model === 'linear' && fold === '2');
  const fold = fit.folds[1];
  expect(own).toHaveLength(Math.max(fold?.curve.length ?? 0, fold?.validation.length ?? 0));
  expect(own[0]?.[3]).toBe('');
  expect(Number(own[1]?.[3])).toBe(fold?.curve[1]?.loss);
  expect(Number(own[1]?.[4])).toBe(fold?.validation[1]);
});

test('a row a family and metric', () => {
  const { rows } = parseTrainingCsv(render(result, 'importance.csv'));
  expect(rows).toHaveLength(3 * fit.importance.length);
  expect(Number(rows[1]?.[4])).toBe(fit.importance[0]?.comparisons['ndcg@10']?.difference.mean);
});

test('a row a null control and metric, the share empty where nothing was gained or the baseline changes', () => {
  const controls = [
    buildHandmadeControl('time', 0.75, 0.625, 0.25),
    withBaseline(buildHandmadeControl('text', 0.75, 0.625, 0.25), -0.25, 0.25),
  ];
  const gained = buildHandmadeTraining(buildHandmadeArms(0.5, 0.75), { controls });
  const lost = buildHandmadeTraining(buildHandmadeArms(0.5, 0.375), {
    controls: [buildHandmadeControl('time', 0.375, 0.25)],
  });
  const difference = 'difference,difference low,difference high,p,corrected p,samples,unresolved,verdict';
  const baseline = difference.replaceAll(/(^|,)/g, '$1baseline ');
  expect(render(gained, 'controls.csv')).toBe(
    [
      `model,part,signals,metric,mean,low,high,${difference},${baseline},baseline,share of gain`,
      'linear,time,time:a time:b,recall@10,0.625,0.5,0.75,-0.125,-0.1875,-0.0625,0.125,0.25,10000,false,undecided,0,-0.0625,0.0625,0.25,0.5,10000,false,undecided,unchanged,0.5',
      'linear,text,text:a text:b,recall@10,0.625,0.5,0.75,-0.125,-0.1875,-0.0625,0.125,0.25,10000,false,undecided,-0.25,-0.3125,-0.1875,0.125,0.25,10000,false,undecided,changed,',
      '',
    ].join('\n'),
  );
  expect(render(lost, 'controls.csv').split('\n')[1]).toBe(
    'linear,time,time:a time:b,recall@10,0.25,0.125,0.375,-0.125,-0.1875,-0.0625,0.25,0.5,10000,false,undecided,0,-0.0625,0.0625,0.25,0.5,10000,false,undecided,unchanged,',
  );
  expect(parseTrainingCsv(render(result, 'controls.csv')).rows).toHaveLength(4 * 3);
});

test('a number is called by its parameter too where there are several', () => {
  expect(formatNumberName({ parameter: 'weights', label: 'bm25' }, 1)).toBe('bm25');
  expect(formatNumberName({ parameter: 'coordinates', label: 'depth' }, 2)).toBe('coordinates: depth');
  expect(formatNumberName({ parameter: 'alpha', label: 'alpha' }, 2)).toBe('alpha');
});

test('a row a selected signal, in a file that a fit of all signals does not have', () => {
  const kept = { signal: 'bm25', summary: 'words, of it', folds: 3, meanWeight: 0.5, meanOrder: 4 / 3 };
  const other = { ...kept, signal: 'age', folds: 1, meanWeight: -0.25, meanOrder: 5, weight: null, without: 0 };
  const selection = [{ ...kept, weight: 0.625, without: -0.0125 }, other];
  const selected = { ...result, fit: { ...fit, selection } };
  expect(render(selected, 'selection.csv')).toBe(
    [
      'model,signal,weight,folds,of,mean order,mean weight,ndcg@10 without,meaning',
      'linear,bm25,0.625,3,3,1.3333333333333333,0.5,-0.0125,"words, of it"',
      'linear,age,,1,3,5,-0.25,0,"words, of it"',
      '',
    ].join('\n'),
  );
  expect(renderFitFiles(result)).not.toHaveProperty('selection.csv');
  expect(formatSelectionMarkdown(result)).toEqual([]);
  const [sentence, table] = formatSelectionMarkdown(selected);
  expect(sentence).toMatch(/^Signals: 1 in the weight file, /);
  expect(table?.split('\n').slice(2)).toEqual([
    '| bm25   | +.625  | 3 of 3 | 1.3   | +.500           | −.0125           | words, of it |',
  ]);
});
