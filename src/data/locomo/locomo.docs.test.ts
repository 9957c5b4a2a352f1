import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Dataset } from '../../model/dataset.ts';
import { describeData } from '../prepared/data-folder.harness.ts';
import { LOCOMO_CATEGORIES } from '../prepared/datasets.ts';
import { datasetOptions, loadDataset } from '../registry.ts';
import { loadLocomo } from './locomo.ts';

const docs = readFileSync(new URL('../../../docs/datasets/locomo.md', import.meta.url), 'utf8');
const readCodeBlock = (language: string) =>
  new RegExp(`^\`\`\`${language}\n([^\`]+)\`\`\`$`, 'm').exec(docs)?.[1] as string;

/** The cells of a row of a section's table, by its first one. */
function readDocsRow(section: string, first: string): string[] {
  const lines = (docs.split(`## ${section}\n`)[1] as string).split('\n');
  const [, , ...cells] = (lines.find((line) => line.startsWith(`| ${first}|`)) as string).split('|').slice(0, -1);
  return cells.map((cell) => cell.trim().replace(',', ''));
}

test('the example takes the default categories', () => {
  const options = datasetOptions.parse((parse(readCodeBlock('yaml')) as { dataset: unknown }).dataset);
  const defaults = datasetOptions.parse({ name: 'locomo', path: 'locomo10.json' });
  expect(options).toEqual({ ...defaults, testConversations: ['conv-48'] });
});

test('the numbers of the categories are those of the file', () => {
  for (const [i, name] of LOCOMO_CATEGORIES.entries())
    expect(readDocsRow('Categories', `${i + 1} `)[0]).toBe(`\`${name}\``);
});

test('the error is what a faulty file gives', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'locomo-'));
  const path = join(folder, 'locomo10.json');
  const conversation = { session_3: [], session_3_date_time: '9 June' };
  writeFileSync(path, JSON.stringify([{ sample_id: 'conv-26', conversation }]));
  const loading = loadDataset(datasetOptions.parse({ name: 'locomo', path }), { cacheFolder: null });
  await expect(loading).rejects.toThrow(readCodeBlock('text').trim().replace('locomo10.json', path));
  rmSync(folder, { recursive: true });
});

describeData('the counts of the docs', 'locomo/locomo-dev.json', (path) => {
  const conversations = readDocsRow('Counts', 'what ').slice(0, 6);
  const listPerConversation = (values: (id: string) => number) => conversations.map((id) => String(values(id)));
  const load = () => loadLocomo({ path, categories: LOCOMO_CATEGORIES, testConversations: [] });
  const countAsked = ({ queries }: Dataset, kind: string) => queries.filter((query) => query.kind === kind);

  test('sessions and turns', async () => {
    const { corpus } = await load();
    const listSampleTurns = (id: string) => corpus.getConversation(id).turns;
    const sessions = listPerConversation((id) => new Set(listSampleTurns(id).map(({ channel }) => channel)).size);
    expect(readDocsRow('Counts', 'sessions ')).toEqual([...sessions, '157', '']);
    expect(readDocsRow('Counts', 'turns ')).toEqual([
      ...listPerConversation((id) => listSampleTurns(id).length),
      String(corpus.size),
      '',
    ]);
  });

  test.each(LOCOMO_CATEGORIES)('queries, %s', async (category) => {
    const dataset = await load();
    const queries = countAsked(dataset, category);
    const counts = listPerConversation((id) => queries.filter(({ conversationId }) => conversationId === id).length);
    const judged = queries.reduce((sum, { id }) => sum + (dataset.qrels.get(id)?.size ?? 0), 0);
    const mean = (judged / queries.length).toFixed(2);
    expect(readDocsRow('Counts', `queries, \`${category}\` `)).toEqual([...counts, String(queries.length), mean]);
  });
});
