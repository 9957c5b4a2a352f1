import { expect, test } from 'vitest';
import { trajectorySignals } from '../learning/trajectory-inputs.ts';
import { signalBankOptions, signalNames } from '../signals/bank/options.ts';
import { signalParts } from '../signals/bank/signal-parts.ts';
import { exchangedParts } from './exchanged-parts.ts';

const signals = signalBankOptions.parse({ groups: ['text', 'time'] });
const table = [...signalNames(signals), ...trajectorySignals(5)];
const linear = { name: 'linear' as const, nonNegative: [], initial: null };

test('a mix has the parts of the bank that it reads, and all of them together', () => {
  const read = ['bm25', 'bm25:+1', 'age', 'decay-24h'];
  expect([...exchangedParts({ signals }, { ...linear, signals: read }, table)]).toEqual([
    ['neighbours', ['bm25:+1']],
    ['time', ['age', 'decay-24h']],
    ['all of these', ['bm25:+1', 'age', 'decay-24h']],
  ]);
  expect([...exchangedParts({ signals }, { ...linear, signals: ['bm25', 'age'] }, table).keys()]).toEqual(['time']);
  expect(exchangedParts({ signals }, { ...linear, signals: null }, table).get('neighbours')).toEqual(
    signalParts(signals).get('neighbours'),
  );
});

test('the trajectory model has parts of its own, which leave a candidate its relevance', () => {
  const parts = exchangedParts({ signals }, { name: 'trajectory', dimensions: 5 }, table);
  expect([...parts.keys()]).toEqual([
    ...['neighbours', 'time', 'coordinates'],
    ...['attention: likeness', 'attention: order', 'attention', 'all of these'],
  ]);
  expect(parts.get('coordinates')).toHaveLength(5 + 1);
  expect(parts.get('attention')).toEqual([
    ...(parts.get('attention: likeness') ?? []),
    ...(parts.get('attention: order') ?? []),
  ]);
  const left = trajectorySignals(5).filter((signal) => !parts.get('all of these')?.includes(signal));
  expect(left).toEqual(['relevance']);
});
