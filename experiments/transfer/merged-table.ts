import type { FeatureTable } from '../../src/rank/learning/feature-table.ts';
import { findSignalPositions } from '../../src/rank/learning/feature-table.ts';

/** The rows of several tables, one after the other, with some of their signals; padded to the widest. */
export function mergeTables(tables: readonly FeatureTable[], signals: readonly string[]): FeatureTable {
  const width = Math.max(...tables.map((table) => table.width));
  const count = tables.reduce((sum, { queryIds }) => sum + queryIds.length, 0);
  const values = new Float32Array(count * width * signals.length);
  const mask = new Uint8Array(count * width);
  const grades = new Float32Array(count * width);
  let row = 0;
  for (const table of tables) {
    const columns = findSignalPositions(table, signals);
    // A relevant turn has grade 1 in the result, whatever it has in its table.
    for (let query = 0; query < table.queryIds.length; query++, row++)
      for (let slot = 0; slot < table.width; slot++) {
        const [from, to] = [query * table.width + slot, row * width + slot];
        mask[to] = table.mask[from]!;
        grades[to] = table.grades[from]! >= table.relevantGrade ? 1 : 0;
        for (const [f, column] of columns.entries())
          values[to * signals.length + f] = table.values[from * table.signals.length + column]!;
      }
  }
  const missed = tables.flatMap((table) => [...table.missed]);
  return {
    signals,
    queryIds: tables.flatMap(({ queryIds }) => queryIds),
    clusters: tables.flatMap(({ clusters }) => clusters),
    width,
    values,
    mask,
    grades,
    missed: Int32Array.from(missed),
    missedGrades: new Float32Array(missed.reduce((sum, number) => sum + number, 0)).fill(1),
    relevantGrade: 1,
  };
}
