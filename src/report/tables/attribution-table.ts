import type { ArmResult } from '../../experiment/measure/result.ts';
import type { Markup } from '../page/markup.ts';
import { fateName } from './format.ts';
import { plainTable } from './plain-table.ts';

/** Relevant turns by their fate, one row per arm. */
export function attributionTable(arms: readonly ArmResult[], fates: readonly string[]): Markup {
  const rows = arms
    .filter(({ attribution }) => Object.keys(attribution).length > 0)
    .map(({ name, attribution }) => ({
      arm: name,
      cells: [
        { text: name },
        ...fates.map((fate) => ({ text: String(attribution[fate] ?? 0), value: attribution[fate] ?? 0 })),
      ],
    }));
  const headings = [{ name: 'arm', numeric: false }, ...fates.map((fate) => ({ name: fateName(fate), numeric: true }))];
  return plainTable({ label: 'fate of the relevant turns', headings, rows });
}
