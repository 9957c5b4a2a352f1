import { expect, test } from 'vitest';
import { PROPAGATION_PRESETS } from '../../src/ops/attention/options.ts';
import { findingsSettings } from './settings.ts';
import {
  buildBandTable,
  buildEnergyTable,
  buildFallsTable,
  buildFarTable,
  buildPropagationTable,
  buildReversalTable,
} from './tables.ts';

test('cells are below their headings', () => {
  const buildGap = (greatest: number) => ({ greatest, mean: greatest / 2 });
  const group = { self: 'exclude', lengths: '3–4', threads: 1009, messages: 7 } as const;
  const reversal = buildReversalTable([{ ...group, literal: buildGap(0), directed: buildGap(0.25) }]);
  expect(reversal.rows).toEqual([['left out: 3–4', '1,009', '7', '0', '.250', '.125']]);

  const settings = findingsSettings.parse({ windows: [2, 5] });
  const mass = { conversation: 'x', self: 'include', multiplicative: [0.5, null], additive: [1e-7, 0.25] } as const;
  const far = buildFarTable([mass], settings);
  expect(far.head).toEqual([
    'the message itself: conversation',
    'multiplicative: beyond 2',
    'multiplicative: beyond 5',
    'additive: beyond 2',
    'additive: beyond 5',
  ]);
  expect(far.rows).toEqual([['kept: x', '.5000', '—', '1.0e−7', '.2500']]);

  const band = { tolerance: 0.01, width: 1009, bound: 0.005 };
  const bands = buildBandTable(
    [
      { attention: 'a', band, observed: 1e-5 },
      { attention: 'a', band: null, observed: 0 },
    ],
    17,
    101,
  );
  expect(bands.rows).toEqual([
    ['a', '.01000', '1,009', '.00500', '1.0e−5'],
    ['a', 'none: dense', '—', '—', '0'],
  ]);
  expect(bands.note).toContain('distance of 17 rows');
});

test('propagation, energy and falls', () => {
  const cosines = { ownWeight: 0.25, unchanged: 0.5, mostChanged: -0.75, parentBefore: 0.125, parentAfter: 1 };
  const propagation = buildPropagationTable([{ settings: 's', options: PROPAGATION_PRESETS.published, ...cosines }]);
  expect(propagation.rows).toEqual([['s', '.2500', '.500000', '−.750000', '1.000']]);
  expect(propagation.note).toContain('a cosine of .125 before');

  const figures = { coherence: 0.6, information: 0.5, logCount: 0.75, excess: -0.25 };
  const energy = buildEnergyTable(
    [{ lengths: '2', conversations: 3, energy: [0, 0.1, 0.2, 0.3, 0.4], ...figures }],
    'even',
  );
  expect(energy.rows).toEqual([['2', '3', '.000', '.100', '.200', '.300', '.400', '.600', '.500', '.750', '−.250']]);
  expect(energy.head).toHaveLength(11);

  const falls = buildFallsTable([{ salience: 'even', memory: 'm', additions: 2000, falls: 130, greatest: 0.25 }]);
  expect(falls.rows).toEqual([['even: m', '2,000', '130', '6.5 %', '.250']]);
});
