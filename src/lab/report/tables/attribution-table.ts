import type { ArmResult } from '../../measure/result.ts';
import type { Markup } from '../page/markup.ts';
import { formatFate } from './format.ts';
import { renderPlainTable } from './plain-table.ts';

/** Relevant turns by their fate, one row per arm. */
export function renderAttributionTable(arms: readonly ArmResult[], fates: readonly string[]): Markup {
  const rows = arms
    .filter(({ attribution }) => Object.keys(attribution).length > 0)
    .map(({ name, attribution }) => ({
      arm: name,
      cells: [
        { text: name },
        ...fates.map((fate) => ({ text: String(attribution[fate] ?? 0), value: attribution[fate] ?? 0 })),
      ],
    }));
  const headings = [
    { name: 'arm', numeric: false },
    ...fates.map((fate) => ({ name: formatFate(fate), numeric: true })),
  ];
  return renderPlainTable({ label: 'fate of the relevant turns', headings, rows });
}
