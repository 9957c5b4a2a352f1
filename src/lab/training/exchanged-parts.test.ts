import { expect, test } from 'vitest';
import { listTrajectorySignals } from '../../rank/learning/trajectory-inputs.ts';
import { listSignalNames, signalBankOptions } from '../../rank/signals/bank/options.ts';
import { groupSignalParts } from '../../rank/signals/bank/signal-parts.ts';
import { listExchangedParts } from './exchanged-parts.ts';

const signals = signalBankOptions.parse({ groups: ['text', 'time'] });
const table = [...listSignalNames(signals), ...listTrajectorySignals(5)];
const linear = { name: 'linear' as const, nonNegative: [], initial: null };

test('a mix has the parts of the bank that it reads, and all of them together', () => {
  const read = ['bm25', 'bm25@next', 'age', 'decay.24h'];
  expect([...listExchangedParts({ signals }, { ...linear, signals: read }, table)]).toEqual([
    ['neighbours', ['bm25@next']],
    ['time', ['age', 'decay.24h']],
    ['all of these', ['bm25@next', 'age', 'decay.24h']],
  ]);
  expect([...listExchangedParts({ signals }, { ...linear, signals: ['bm25', 'age'] }, table).keys()]).toEqual(['time']);
  expect(listExchangedParts({ signals }, { ...linear, signals: null }, table).get('neighbours')).toEqual(
    groupSignalParts(signals).get('neighbours'),
  );
});

test('the trajectory model has parts of its own, which leave a candidate its relevance', () => {
  const parts = listExchangedParts({ signals }, { name: 'trajectory', dimensions: 5 }, table);
  expect([...parts.keys()]).toEqual([
    ...['neighbours', 'time', 'coordinates'],
    ...['attention: likeness', 'attention: order', 'attention', 'all of these'],
  ]);
  expect(parts.get('coordinates')).toHaveLength(5 + 1);
  expect(parts.get('attention')).toEqual([
    ...(parts.get('attention: likeness') ?? []),
    ...(parts.get('attention: order') ?? []),
  ]);
  const left = listTrajectorySignals(5).filter((signal) => !parts.get('all of these')?.includes(signal));
  expect(left).toEqual(['relevance']);
});
