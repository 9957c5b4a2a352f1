import type { ArmResult, ExperimentResult } from '../../measure/result.ts';
import type { Markup } from '../page/markup.ts';
import { formatDecimal, formatSignificant } from './format.ts';
import { renderPlainTable } from './plain-table.ts';

/** A note on the times; null if nothing was timed, or no other arm ran at the same time. */
export function describeLatency({ arms, armsAtOnce }: Pick<ExperimentResult, 'arms' | 'armsAtOnce'>): string | null {
  if (armsAtOnce === 1 || arms.every(({ latency }) => latency === null)) return null;
  return `Up to ${armsAtOnce} arms were timed beside each other, so these are not the times of an arm alone.`;
}

/** Milliseconds a query as texts: a row a component, a column an arm that was timed, `p50 / p95 / p99`; a dash for a component that an arm lacks. */
export function listLatencyRows(arms: readonly ArmResult[]): string[][] {
  const timed = arms.flatMap(({ name, latency }) => (latency === null ? [] : [{ name, latency }]));
  // The final components of every arm come last, also if the first arm lacks them.
  const last = Object.keys(timed[0]?.latency ?? {}).slice(-2);
  const steps = new Set(timed.flatMap(({ latency }) => Object.keys(latency)).filter((name) => !last.includes(name)));
  const rows = [...steps, ...last].map((component) => [
    component,
    ...timed.map(({ latency }) => {
      const found = latency[component];
      if (found === undefined) return '—';
      return [found.p50, found.p95, found.p99].map((milliseconds) => formatDecimal(milliseconds, 2)).join(' / ');
    }),
  ]);
  return [['p50 / p95 / p99 ms', ...timed.map(({ name }) => name)], ...rows];
}

/** Milliseconds a query of every arm that was timed, a row an arm and component. */
export function renderLatencyTable(arms: readonly ArmResult[]): Markup {
  const rows = arms.flatMap(({ name, latency }) =>
    Object.entries(latency ?? {}).map(([component, { p50, p95, p99 }]) => ({
      arm: name,
      cells: [
        { text: name },
        { text: component },
        ...[p50, p95, p99].map((milliseconds) => ({ text: formatSignificant(milliseconds), value: milliseconds })),
      ],
    })),
  );
  const words = ['arm', 'component'].map((name) => ({ name, numeric: false }));
  const numbers = ['p50 ms', 'p95 ms', 'p99 ms'].map((name) => ({ name, numeric: true }));
  return renderPlainTable({ label: 'latency', headings: [...words, ...numbers], rows });
}
