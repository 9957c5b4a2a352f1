import { expect, test } from 'vitest';
import { withFailedBaseline } from '../tables/failed-baseline.fixture.ts';
import { buildLadderTable } from '../tables/table.ts';
import { renderHtml } from './html.ts';
import { inventResult } from './invented-result.fixture.ts';
import { inventSweep, type SweepSize } from './invented-sweep.fixture.ts';
import { buildPayload } from './payload.ts';

const hostile = '</script><img src=x onerror=alert(1)>';
const sample = inventResult(13, { arms: 4, threads: 61, turnsAThread: 7, top: 5 });
const result = {
  ...sample,
  description: hostile,
  remarks: [hostile],
  config: { ...sample.config, note: hostile },
  arms: sample.arms.map((arm, at) => (at === 3 ? { ...arm, name: hostile, tuned: { [hostile]: hostile } } : arm)),
};
const page = renderHtml(result);

/** The page without its scripts, as before anything runs. */
const still = page.replace(/<script[\s>][\s\S]*?<\/script>/g, '');

test('no text of the data becomes markup', () => {
  expect(page).toContain('&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;');
  expect(page).not.toContain('<img');
  expect(page.match(/<script[\s>]/g)).toHaveLength(3);
  expect(page.match(/<\/script>/g)).toHaveLength(3);
});

test('the data in the page are those of the run', () => {
  const json = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1] ?? '';
  expect(JSON.parse(json)).toEqual(buildPayload(result));
});

test('nothing is loaded from anywhere, and the policy says so', () => {
  expect(still).not.toMatch(/\b(?:src|href)="(?!#)|url\(|@import|<link/);
  expect(still).toContain("default-src 'none'");
});

test('the table is in the page without a script, marks by the verdict', () => {
  const table = buildLadderTable(result);
  for (const row of table.rows)
    for (const cell of row.cells)
      expect(still).toContain(`<span class="value">${cell.value}</span><span>${cell.interval}</span>`);
  const marks = table.rows.flatMap((row) => row.cells.filter((cell) => cell.mark !== ''));
  expect(still.match(/aria-label="(?:better|worse) than bm25"/g)).toHaveLength(marks.length);
  expect(marks.length).toBeGreaterThan(0);
  expect(still.match(/class="badge baseline"/g)).toHaveLength(1);
});

test('what is decided stands above the first figure, and nothing where the baseline failed', () => {
  const { decision } = buildLadderTable(sample);
  expect(decision.length).toBeGreaterThan(0);
  const [above = ''] = renderHtml(sample).split('class="figure"');
  expect(above).toContain(`<p class="lead decision">${decision.join(' ').replaceAll('"', '&quot;')}</p>`);
  expect(renderHtml(withFailedBaseline(sample))).not.toContain('class="lead decision"');
});

test('header, parameters and config are there', () => {
  const { environment, dataset } = result;
  for (const text of [
    environment.commit,
    environment.backend,
    environment.command,
    environment.machine.cpu,
    dataset.task,
    dataset.licence,
  ])
    expect(still).toContain(text);
  expect(still).toContain('halfLifeHours <code>48</code>');
  expect(still).toContain('name: sample');
  expect(still).toContain('12.3 s');
});

/** Bytes of a page without what grows with its run: the data of the script, the tables and the resolved config. */
function countFixedBytes(whole: string): number {
  const fixed = whole.replace(
    /<script type="application\/json"[\s\S]*?<\/script>|<table[\s\S]*?<\/table>|<pre[\s\S]*?<\/pre>/g,
    '',
  );
  return Buffer.byteLength(fixed);
}

test('without its data a page has at most 2 MB, whatever its number of arms', () => {
  const size = { threads: 5, turnsAThread: 3, top: 2 };
  const render = (...levels: SweepSize['levels']) => renderHtml(inventSweep(19, { ...size, levels }));
  const [few, many] = [render(2, 2, 2), render(20, 10, 2)];
  expect(many.match(/<tr data-arm/g)?.length ?? 0).toBeGreaterThan(400);
  expect(Buffer.byteLength(many)).toBeGreaterThan(Buffer.byteLength(few) + 1e6);
  expect(countFixedBytes(many)).toBeLessThan(2e6);
  expect(Math.abs(countFixedBytes(many) - countFixedBytes(few))).toBeLessThan(5e3);
});

test('the same run gives the same page', () => {
  expect(renderHtml(result) === page).toBe(true);
});
