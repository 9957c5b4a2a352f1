import type { ArmResult } from '../../measure/result.ts';
import type { Markup } from '../page/markup.ts';
import { estimate, formatDecimal } from './format.ts';
import { renderPlainTable } from './plain-table.ts';

/** The arms that have a curve of evidence against tokens. */
export function listCurves(arms: readonly ArmResult[]) {
  return arms.flatMap(({ name, evidence }) => (evidence === undefined ? [] : [{ name, evidence }]));
}

/** Evidence by budget as texts: a row an arm, with the area and, last, the area under its ceiling. */
export function listEvidenceRows(arms: readonly ArmResult[]): string[][] {
  const curves = listCurves(arms);
  const rows = curves.map(({ name, evidence: { recall, area, ceilingArea } }) => [
    name,
    ...[...recall, area].map((one) => estimate(one, formatDecimal, 2)),
    formatDecimal(ceilingArea.mean, 3),
  ]);
  return [['evidence within', ...(curves[0]?.evidence.budgets ?? []).map(String), 'area', 'ceiling'], ...rows];
}

/** Evidence by budget, a row an arm and a further one for its ceiling. */
export function renderEvidenceTable(arms: readonly ArmResult[]): Markup {
  const curves = listCurves(arms);
  const rows = curves.flatMap(({ name, evidence: { recall, ceiling, area, ceilingArea } }) =>
    [
      { label: name, estimates: [...recall, area] },
      { label: `ceiling of ${name}`, estimates: [...ceiling, ceilingArea] },
    ].map(({ label, estimates }) => ({
      arm: name,
      cells: [{ text: label }, ...estimates.map((one) => ({ text: estimate(one, formatDecimal, 2), value: one.mean }))],
    })),
  );
  const budgets = (curves[0]?.evidence.budgets ?? []).map((budget) => `${budget} tokens`);
  const headings = [{ name: 'arm', numeric: false }, ...[...budgets, 'area'].map((name) => ({ name, numeric: true }))];
  return renderPlainTable({ label: 'evidence against tokens', headings, rows });
}
