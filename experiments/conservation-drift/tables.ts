import { formatDecimal } from '../../src/lab/report/tables/format.ts';
import type { TextTable } from '../text-table.ts';
import type { Drift, Figure } from './drift.ts';
import type { DriftResult } from './experiment.ts';

const NAMES: Readonly<Record<Figure, string>> = {
  magnitude: 'magnitude',
  energy: 'energy',
  coherence: 'coherence',
  information: 'information, nats',
  informationBits: 'information, bits',
};

/** `+41.5 %`, `−0.1 %`, `0.0 %`; a dash without a value. */
function formatChangePercent(share: number | null, plus = ''): string {
  if (share === null) return '—';
  const digits = Math.abs(100 * share).toFixed(1);
  const sign = digits === '0.0' ? '' : share < 0 ? '−' : plus;
  return `${sign}${digits} %`;
}

function formatDriftRow(policy: string, { figure, initial, final, drift, largest, withinOnePercent }: Drift): string[] {
  return [
    `${policy}: ${NAMES[figure]}`,
    formatDecimal(initial, 3),
    formatDecimal(final, 3),
    formatChangePercent(drift, '+'),
    formatChangePercent(largest, '+'),
    formatChangePercent(withinOnePercent),
  ];
}

/** Initial, final and drift of each figure under each policy, as section 6.6 of diomande2026ragpp has them. */
export function buildDriftTable({ policies, settings }: DriftResult): TextTable {
  const apart = `${settings.retentionDays} days`;
  return {
    head: ['policy: metric', 'initial', 'final', 'drift', `largest drift in ${apart}`, `of ${apart} within 1 %`],
    rows: policies.flatMap(({ name, drifts }) => drifts.map((drift) => formatDriftRow(name, drift))),
  };
}

/** The operations of each policy and the checks of the laws. */
export function buildOperationTable({ policies }: DriftResult): TextTable {
  return {
    head: [
      'policy',
      'added',
      'of them lowered information',
      'removed',
      'of them lowered information',
      'magnitude law broken',
    ],
    rows: policies.map(({ name, tally }) => [
      name,
      ...[tally.added, tally.addedFell, tally.removed, tally.removedFell, tally.violations].map(String),
    ]),
  };
}
