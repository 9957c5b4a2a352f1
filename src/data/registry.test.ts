import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../core/errors/errors.ts';
import { check } from '../core/validation/validation.ts';
import { DATASETS, type DatasetOptions, datasetOptions, loadDataset } from './registry.ts';

describe('the registry of datasets', () => {
  it('says of every dataset what it is, under which licence and where it comes from', () => {
    expect(DATASETS.names).toEqual(datasetOptions.options.map((option) => option.shape.name.value));
    for (const { description, licence, source } of DATASETS.members)
      for (const text of [description, licence, source]) expect(text).toMatch(/^\S.*\S$/);
  });

  it('has a page of docs for every dataset, and no other', () => {
    const pages = readdirSync(new URL('../../docs/datasets', import.meta.url));
    expect(pages.sort()).toEqual(DATASETS.names.map((name) => `${name}.md`).sort());
  });

  it('fills in defaults', () => {
    expect(datasetOptions.parse({ name: 'jsonl', path: 'x' })).toEqual({
      name: 'jsonl',
      path: 'x',
      onDirtyRow: 'error',
      relevantGrade: 1,
    });
    expect(datasetOptions.parse({ name: 'locomo', path: 'x' })).toEqual({
      name: 'locomo',
      path: 'x',
      categories: ['multi-hop', 'temporal', 'open-domain', 'single-hop'],
      testConversations: [],
    });
    expect(datasetOptions.parse({ name: 'mail-threads', path: 'x' })).toEqual({
      name: 'mail-threads',
      path: 'x',
      split: 'time',
    });
    expect(datasetOptions.parse({ name: 'spamassassin-threads' })).toEqual({ name: 'spamassassin-threads' });
  });

  it.each([
    [{ name: 'spamassasin-threads' }, 'name', 'spamassassin-threads'],
    [{ name: 'jsonl', path: 'x', onDirtyRows: 'skip' }, 'onDirtyRows', 'onDirtyRow'],
    [{ name: 'spamassassin-threads', path: 'x' }, 'path', undefined],
    [{ name: 'jsonl' }, 'path', undefined],
    [{ name: 'jsonl', path: 'x', relevantGrade: 0 }, 'relevantGrade', undefined],
    [{ name: 'locomo', path: 'x', categories: ['multihop'] }, 'categories[0]', 'multi-hop'],
    [{ name: 'locomo', path: 'x', categories: [] }, 'categories', undefined],
    [{ name: 'locomo', path: 'x', testConversation: ['conv-26'] }, 'testConversation', 'testConversations'],
    [{ name: 'mail-threads', path: 'x', split: 'tests' }, 'split', 'test'],
    [{ name: 'irc', path: '' }, 'path', undefined],
    [{ name: 'oasst' }, 'path', undefined],
  ])('refuses %j', (options, path, nearest) => {
    const result = check(datasetOptions, options);
    expect('faults' in result && result.faults.map((fault) => [fault.path, fault.nearest])).toEqual([[path, nearest]]);
  });

  it.each([{ name: 'enron' }, { name: 'jsonl' }, null])('refuses what no compiler has checked: %j', async (options) => {
    const loading = loadDataset(options as unknown as DatasetOptions, { cacheFolder: null });
    await expect(loading).rejects.toThrow(ConfigurationError);
  });

  it('loads what the options name', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'registry-'));
    const row = { id: 'a', conversationId: 'c', parentId: null, timestamp: 1, text: 'eggs' };
    writeFileSync(join(folder, 'turns.jsonl'), JSON.stringify(row));
    writeFileSync(join(folder, 'queries.jsonl'), JSON.stringify({ id: 'q', timestamp: 2, text: 'eggs' }));
    writeFileSync(join(folder, 'qrels.txt'), 'q 0 a 1');
    const options = datasetOptions.parse({ name: 'jsonl', path: folder });
    const dataset = await loadDataset(options, { cacheFolder: null });
    rmSync(folder, { recursive: true });
    expect([dataset.name, dataset.corpus.size, dataset.relevantGrade]).toEqual(['jsonl', 1, 1]);
  });
});
