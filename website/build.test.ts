import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { buildProgram } from '../src/cli/program.ts';
import { METRICS } from '../src/eval/metrics/metric.ts';
import { bankSignals, signalBankOptions } from '../src/rank/signals/bank/options.ts';
import { SIGNALS } from '../src/rank/signals/registry.cases.ts';
import { listBrokenLinks } from './broken-links.ts';
import { buildSite } from './build.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'ragpp-site-'));
const site = join(folder, 'site');
afterAll(() => rmSync(folder, { recursive: true }));

const pages = buildSite(root, site);
const read = (file: string) => readFileSync(join(site, file), 'utf8');

test('no link of the site is broken', () => {
  expect(listBrokenLinks(site)).toEqual([]);
  expect(pages).toBeGreaterThan(50);
});

test('a link to no file stops the build; links to no heading are listed', () => {
  const project = join(folder, 'project');
  mkdirSync(join(project, 'docs'), { recursive: true });
  cpSync(join(root, 'docs/config.md'), join(project, 'docs/config.md'));
  const write = (text: string) => writeFileSync(join(project, 'docs/README.md'), text);
  write('# Pages\n\n[gone](gone.md)\n');
  expect(() => buildSite(project, join(folder, 'other'))).toThrow('docs/README.md: broken link: gone.md; correct the');
  const other = join(folder, 'linked');
  mkdirSync(other);
  writeFileSync(join(other, 'a.html'), '<h1 id="here">A</h1><a href="b.html#x">b</a><a href="#here">here</a>');
  writeFileSync(
    join(other, 'b.html'),
    '<a href="a.html#there">a</a><img src="c.png"><a href="https://example.org/#x">',
  );
  expect(listBrokenLinks(other)).toEqual(['a.html: b.html#x', 'b.html: a.html#there', 'b.html: c.png']);
});

test('the reference has every signal, metric and command, and every option of a command', async () => {
  const codes = (file: string) => [...read(file).matchAll(/<code>([^<]+)<\/code>/g)].map(([, code]) => code as string);
  const signals = codes('reference/signals.html');
  for (const { definition } of SIGNALS) expect(signals).toContain(definition.name);
  for (const { name } of bankSignals(signalBankOptions.parse({}))) expect(signals).toContain(name);
  const metrics = codes('reference/metrics.html').map((form) => form.split(/[@(]/)[0]);
  for (const name of METRICS.names) expect(metrics).toContain(name);
  const commands = codes('reference/commands.html');
  for (const command of (await buildProgram()).commands.filter((one) => one.name() !== 'arm')) {
    expect(commands).toContain(`ragpp ${command.name()}`);
    for (const { long } of command.options)
      expect(commands.filter((code) => code.includes(long as string)).length).toBeGreaterThan(0);
  }
  expect(commands).not.toContain('ragpp arm');
});

test('the reference of the config has a type and a meaning for every key', () => {
  const rows = [...read('reference/config.html').matchAll(/<tr>\n((?:<td>.*<\/td>\n)+)<\/tr>/g)].map(([, cells]) =>
    [...(cells as string).matchAll(/<td>(.*)<\/td>/g)].map(([, cell]) => cell as string),
  );
  expect(rows.length).toBeGreaterThan(100);
  const [halfLife] = rows.filter(([key]) => key === '<code>arms{}.decay.halfLifeHours</code>');
  expect(halfLife).toEqual([expect.anything(), 'number &gt; 0', expect.anything(), expect.stringMatching(/\w+/)]);
  expect(rows.filter(([, type]) => type === '')).toEqual([]);
});

test('anchors are those of GitHub, tables scroll and the page is marked in the navigation', () => {
  const html = read('docs/statistics.html');
  expect(html).toContain('<h3 id="the-smallest-p">');
  expect(html.split('<table>').length).toBe(html.split('<div class="wide"').length);
  expect(html).toContain('<a href="statistics.html" aria-current="page">Statistics</a>');
  expect(read('index.html')).toContain('<img src="docs/images/report.png"');
  expect(read('files/examples/rank.ts.html')).toContain('finished.run(&#39;words&#39;)');
});
