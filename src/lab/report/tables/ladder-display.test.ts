import { expect, test } from 'vitest';
import { readDisplay } from '../../../core/display/display.harness.ts';
import { inventResult } from '../page/invented-result.fixture.ts';
import { buildLadderTable } from './table.ts';

test('a ladder shows a row for each arm, with difference and p, and the legend below', async () => {
  const table = buildLadderTable(inventResult(3, { arms: 3, threads: 5, turnsAThread: 3, top: 2 }));
  const bundle = await readDisplay(table);
  const [head, ...lines] = bundle['text/plain'].split('\n');
  expect(head).toMatch(new RegExp(`^arm +${table.metrics[0]} +Δ +p `));
  for (const [at, { arm, isBaseline, cells }] of table.rows.entries()) {
    expect(lines[at]).toContain(isBaseline ? `${arm} (baseline)` : arm);
    expect(lines[at]).toContain(cells[0]?.comparison?.difference ?? '—');
  }
  for (const sentence of table.legend) expect(bundle['text/plain']).toContain(sentence);
  expect(bundle['text/html']?.match(/<tr>/g)).toHaveLength(1 + table.rows.length + table.absent.length);
  expect(Object.keys(table)).not.toContain('display');
  expect(JSON.parse(JSON.stringify(table))).toEqual(table);
});
