import { expect, test } from 'vitest';
import { formatPipeTable } from '../text-table.ts';
import type { DriftResult, PolicyResult } from './experiment.ts';
import { driftSettings } from './settings.ts';
import { buildDriftTable, buildOperationTable } from './tables.ts';

const policy: PolicyResult = {
  name: 'ten days',
  description: '',
  samples: [],
  tally: { added: 17, removed: 11, addedFell: 3, removedFell: 7, violations: 2 },
  drifts: [
    { figure: 'energy', initial: 0.25, final: 0.2, drift: -0.2, largest: 1.0949, withinOnePercent: 0.5 },
    { figure: 'information', initial: 2, final: 2, drift: -0.0001, largest: null, withinOnePercent: null },
  ],
};
const result = { policies: [policy], settings: driftSettings.parse({ retentionDays: 10 }) } as unknown as DriftResult;

test('drifts are percent with a sign, shares without one', () => {
  expect(buildDriftTable(result)).toEqual({
    head: ['policy: metric', 'initial', 'final', 'drift', 'largest drift in 10 days', 'of 10 days within 1 %'],
    rows: [
      ['ten days: energy', '.250', '.200', '−20.0 %', '+109.5 %', '50.0 %'],
      ['ten days: information, nats', '2.000', '2.000', '0.0 %', '—', '—'],
    ],
  });
});

test('operations are in the order of the heading', () => {
  expect(buildOperationTable(result).rows).toEqual([['ten days', '17', '3', '11', '7', '2']]);
});

test('a table in Markdown is padded', () => {
  expect(formatPipeTable({ head: ['a', 'size'], rows: [['long', '7']] })).toBe(
    ['| a    | size |', '| ---- | ---: |', '| long |    7 |'].join('\n'),
  );
});
