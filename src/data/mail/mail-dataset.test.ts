import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ChecksumMismatchError } from '../../core/errors/errors.ts';
import { bindFilter } from '../../model/filter/compile-filter.ts';
import { parseFilter } from '../../model/filter/parse-filter.ts';
import type { Prepared } from '../prepared/prepared.ts';
import { readPrepared, writePrepared } from './mail-dataset.ts';

const folder = mkdtempSync(join(tmpdir(), 'prepared-'));
afterAll(() => rmSync(folder, { recursive: true }));

const common = { timestamp: 7, author: 'person-001', channel: null };
const ATTRIBUTES = { outcome: 0.1 + 0.2, turn: 2 ** 53 - 1, phase: 'é', sensitive: false, entities: ['soup', 'é'] };
const PREPARED: Prepared = {
  turns: [
    { ...common, id: 'm1', conversationId: 't', parentId: null, text: 'eggs\n"milk" é' },
    { ...common, id: 'm2', conversationId: 't', parentId: 'm1', text: 'flour', attributes: ATTRIBUTES },
  ],
  queries: [
    { ...common, id: 'q', text: 'flour', anchorTurnId: null, split: 'dev', cluster: 't', attributes: { phase: 'é' } },
  ],
  devConversations: ['t'],
  facts: { messages: 2 },
};

describe('the cache of prepared rows', () => {
  const path = join(folder, 'deep', 'cache.jsonl');

  it('gives back what was written', () => {
    writePrepared(path, PREPARED);
    expect(readPrepared(path)).toEqual(PREPARED);
  });

  it('keeps attributes: a filter accepts the turns that it accepted before', () => {
    writePrepared(path, PREPARED);
    const { turns, queries } = readPrepared(path) as Prepared;
    const accepts = bindFilter(
      parseFilter(
        'outcome = 0.30000000000000004 and turn = 9007199254740991 and entities contains $query.phase and not sensitive = true',
      ),
      queries[0]!.attributes,
    );
    expect(turns.map(accepts)).toEqual([false, true]);
  });

  it('has nothing where there is no file', () => {
    expect(readPrepared(join(folder, 'none.jsonl'))).toBeNull();
  });

  it.each([
    ['cut within a line', (content: string) => content.slice(0, -31)],
    ['cut at a line', (content: string) => content.slice(0, content.lastIndexOf('\n', content.length - 2) + 1)],
    ['emptied', () => ''],
    ['altered', (content: string) => content.replace('milk', 'silk')],
    ['appended to', (content: string) => `${content}["turns",{}]\n`],
  ])('refuses a file that was %s', (_, damage) => {
    writePrepared(path, PREPARED);
    writeFileSync(path, damage(readFileSync(path, 'utf8')));
    expect(() => readPrepared(path)).toThrow(ChecksumMismatchError);
    expect(() => readPrepared(path)).toThrow(/; delete the file and run again to prepare the data$/);
  });
});
