import { expect, test } from 'vitest';
import {
  buildHandmadeControl,
  buildHandmadeModel,
  buildHandmadeTraining,
  withBaseline,
} from '../tables/controls.fixture.ts';
import { inventTraining } from './invented-training.fixture.ts';
import {
  formatNumberName,
  renderControlsCsv,
  renderCurveCsv,
  renderImportanceCsv,
  renderTrainingCsv,
  renderWeightsCsv,
} from './training-csv.ts';

const result = inventTraining(3, { signals: 11, folds: 3, epochs: 5, queries: 29, second: true });
const [linear, trajectory] = result.models;

function parseTrainingCsv(csv: string): { heading: string[]; rows: string[][] } {
  const [heading = [], ...rows] = csv
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  return { heading, rows };
}

test('a row a model, method and metric, with all digits', () => {
  const { heading, rows } = parseTrainingCsv(renderTrainingCsv(result));
  expect(rows).toHaveLength(2 * 5 * 3);
  expect(rows[0]?.slice(0, 4)).toEqual([
    'linear',
    'hand-tuned',
    'recall@10',
    String(linear?.methods[0]?.metrics['recall@10']?.mean),
  ]);
  expect(rows[0]?.[heading.indexOf('difference')]).toBe('');
  const learned = rows.find(([, method, metric]) => method === 'learned' && metric === 'mrr@10');
  expect(Number(learned?.[heading.indexOf('corrected p')])).toBe(
    linear?.methods.at(-1)?.comparisons?.['mrr@10']?.correctedP,
  );
});

test('a row a number, hand-tuned before learned, bounds empty where nothing was resampled', () => {
  const { heading, rows } = parseTrainingCsv(renderWeightsCsv(result));
  expect(heading).toEqual(['model', 'parameter', 'number', 'hand-tuned', 'learned', 'low', 'high']);
  expect(rows).toHaveLength(11 + (trajectory?.numbers.length ?? 0));
  const first = linear?.numbers[0];
  expect(rows[0]?.slice(3).map(Number)).toEqual([
    first?.handTuned,
    first?.value,
    first?.interval?.low,
    first?.interval?.high,
  ]);
  const bare = {
    ...result,
    models: result.models.map((model) => ({
      ...model,
      numbers: model.numbers.map((number) => ({ ...number, interval: null })),
    })),
  };
  expect(parseTrainingCsv(renderWeightsCsv(bare)).rows[0]?.slice(5)).toEqual(['', '']);
});

test('a row an epoch of every fold, as far as loss or validation goes', () => {
  const { heading, rows } = parseTrainingCsv(renderCurveCsv(result));
  expect(heading.at(-1)).toBe(`validation ${result.config.fitting.metric}`);
  expect([...new Set(rows.map(([, fold]) => fold))]).toEqual(['1', '2', '3', 'all']);
  const own = rows.filter(([model, fold]) => model === 'linear' && fold === '2');
  const fold = linear?.folds[1];
  expect(own).toHaveLength(Math.max(fold?.curve.length ?? 0, fold?.validation.length ?? 0));
  expect(own[0]?.[3]).toBe('');
  expect(Number(own[1]?.[3])).toBe(fold?.curve[1]?.loss);
  expect(Number(own[1]?.[4])).toBe(fold?.validation[1]);
});

test('a row a family and metric', () => {
  const { rows } = parseTrainingCsv(renderImportanceCsv(result));
  expect(rows).toHaveLength(3 * (linear?.importance.length ?? 0));
  expect(Number(rows[1]?.[4])).toBe(linear?.importance[0]?.comparisons['ndcg@10']?.difference.mean);
});

test('a row a null control and metric, the share empty where nothing was gained or the baseline changes', () => {
  const controls = [
    buildHandmadeControl('time', 0.75, 0.625, 0.25),
    withBaseline(buildHandmadeControl('text', 0.75, 0.625, 0.25), -0.25, 0.25),
  ];
  const gained = { ...buildHandmadeModel(0.5, 0.75), controls };
  const lost = {
    ...buildHandmadeModel(0.5, 0.375),
    name: 'other',
    controls: [buildHandmadeControl('time', 0.375, 0.25)],
  };
  const difference = 'difference,difference low,difference high,p,corrected p,samples,unresolved,verdict';
  const baseline = difference.replaceAll(/(^|,)/g, '$1baseline ');
  expect(renderControlsCsv(buildHandmadeTraining(gained, lost))).toBe(
    [
      `model,part,signals,metric,mean,low,high,${difference},${baseline},baseline,share of gain`,
      'linear,time,time:a time:b,recall@10,0.625,0.5,0.75,-0.125,-0.1875,-0.0625,0.125,0.25,10000,false,undecided,0,-0.0625,0.0625,0.25,0.5,10000,false,undecided,unchanged,0.5',
      'linear,text,text:a text:b,recall@10,0.625,0.5,0.75,-0.125,-0.1875,-0.0625,0.125,0.25,10000,false,undecided,-0.25,-0.3125,-0.1875,0.125,0.25,10000,false,undecided,changed,',
      'other,time,time:a time:b,recall@10,0.25,0.125,0.375,-0.125,-0.1875,-0.0625,0.25,0.5,10000,false,undecided,0,-0.0625,0.0625,0.25,0.5,10000,false,undecided,unchanged,',
      '',
    ].join('\n'),
  );
  expect(parseTrainingCsv(renderControlsCsv(result)).rows).toHaveLength(4 * 3);
});

test('a number is called by its parameter too where there are several', () => {
  expect(formatNumberName({ parameter: 'weights', label: 'bm25' }, 1)).toBe('bm25');
  expect(formatNumberName({ parameter: 'coordinates', label: 'depth' }, 2)).toBe('coordinates: depth');
  expect(formatNumberName({ parameter: 'alpha', label: 'alpha' }, 2)).toBe('alpha');
});
