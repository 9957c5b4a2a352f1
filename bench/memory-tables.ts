import type { BreadthFigures, IndexFigures } from './memory-index.ts';
import type { QueryFigures } from './memory-queries.ts';
import type { RecoveryFigures } from './memory-recovery.ts';
import type { WriteFigures } from './memory-writes.ts';
import { formatTextTable } from './text-table.ts';

const formatSeconds = (seconds: number | null) => seconds?.toFixed(2) ?? '';
const formatBreadth = ({ breadth }: BreadthFigures) => (breadth === null ? '' : `${breadth}`);
const formatSearch = ({ p50, p99, recall }: Omit<BreadthFigures, 'breadth'>) => [
  p50.toFixed(3),
  p99.toFixed(3),
  recall.toFixed(4),
];

export function formatIndexes(rows: readonly IndexFigures[], k: number): string {
  const header = ['index', 'records', 'load s', 'build s', 'CPU s', 'breadth', 'p50 ms', 'p99 ms', `recall@${k}`];
  return formatTextTable(
    [...header, 'resident B', 'disk B', 'open s'],
    rows.map((row) => [
      row.name,
      `${row.size}`,
      formatSeconds(row.loadSeconds),
      formatSeconds(row.buildSeconds),
      formatSeconds(row.buildProcessorSeconds),
      formatBreadth(row.search),
      ...formatSearch(row.search),
      row.residentBytes?.toFixed(0) ?? '',
      row.diskBytes.toFixed(0),
      formatSeconds(row.openSeconds),
    ]),
  );
}

/** How time and recall depend on the breadth of the search; empty without a curve. */
export function formatCurves(rows: readonly IndexFigures[], k: number): string {
  const lines = rows.flatMap(({ name, curve }) =>
    curve.map((point) => [name, formatBreadth(point), ...formatSearch(point)]),
  );
  return lines.length === 0 ? '' : formatTextTable(['index', 'breadth', 'p50 ms', 'p99 ms', `recall@${k}`], lines);
}

/** Searches with a filter; empty if none was measured. */
export function formatFiltered(rows: readonly IndexFigures[], k: number): string {
  const lines = rows.flatMap(({ name, filtered }) =>
    filtered.map((row) => [...[name, formatBreadth(row), `${row.percent}`, `${row.visible}`], ...formatSearch(row)]),
  );
  return lines.length === 0
    ? ''
    : formatTextTable(['index', 'breadth', 'visible %', 'records', 'p50 ms', 'p99 ms', `recall@${k}`], lines);
}

/** Questions to a memory, beside the search in its index alone. */
export function formatQueries(rows: readonly QueryFigures[]): string {
  return formatTextTable(
    ['memory of', 'records', 'add s', 'asked', 'p50 ms', 'p99 ms'],
    rows.flatMap(({ name, size, addSeconds, asked }) =>
      Object.entries(asked).map(([kind, { p50, p99 }]) => [
        ...[name, `${size}`, formatSeconds(addSeconds), kind],
        ...[p50.toFixed(3), p99.toFixed(3)],
      ]),
    ),
  );
}

/** Rates, and how many times that of the first number of writers. */
export function formatWrites(
  stores: readonly { readonly name: string; readonly rows: readonly WriteFigures[] }[],
): string {
  const lines = stores.flatMap(({ name, rows }) =>
    rows.map(({ writers, rate, p50, p99 }) => [
      name,
      `${writers}`,
      rate.toFixed(0),
      `${(rate / (rows[0]?.rate ?? rate)).toFixed(1)}x`,
      p50.toFixed(3),
      p99.toFixed(3),
    ]),
  );
  const header = ['store', 'writers', 'writes/s', `to ${stores[0]?.rows[0]?.writers ?? 1} writer`, 'p50 ms', 'p99 ms'];
  return formatTextTable(header, lines);
}

export function formatRecovery(rows: readonly RecoveryFigures[]): string {
  return formatTextTable(
    ['opened from', 'records', 'MB', 'seconds', 'MB/s', 'disk B a record', 'resident B a record', 'snapshot s'],
    rows.map(({ from, records, bytes, seconds, residentBytes, snapshotSeconds }) => [
      from,
      `${records}`,
      (bytes / 1e6).toFixed(1),
      formatSeconds(seconds),
      (bytes / 1e6 / seconds).toFixed(1),
      (bytes / records).toFixed(0),
      (residentBytes / records).toFixed(0),
      formatSeconds(snapshotSeconds),
    ]),
  );
}
