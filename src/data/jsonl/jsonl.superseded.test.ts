import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { formatSuperseded } from '../../eval/trec/trec-files.ts';
import { loadJsonl } from './jsonl.ts';

const folder = mkdtempSync(join(tmpdir(), 'jsonl-superseded-'));
afterAll(() => rmSync(folder, { recursive: true }));

const turns = ['old', 'older', 'new', 'late'].map((id, at) =>
  JSON.stringify({ id, conversationId: 'c', parentId: null, timestamp: at < 3 ? at : 100, text: id }),
);
const queries = ['q', 'r'].map((id) => JSON.stringify({ id, text: 'now', timestamp: 50, split: 'test' }));

function load(superseded: string | null, onDirtyRow: 'error' | 'skip' = 'error') {
  writeFileSync(join(folder, 'turns.jsonl'), turns.join('\n'));
  writeFileSync(join(folder, 'queries.jsonl'), queries.join('\n'));
  writeFileSync(join(folder, 'qrels.txt'), 'q 0 new 1\nr 0 old 1\n');
  const path = join(folder, 'superseded.tsv');
  if (superseded === null) rmSync(path, { force: true });
  else writeFileSync(path, superseded);
  return loadJsonl({ path: folder, onDirtyRow, relevantGrade: 1 });
}

it('reads superseded turns back as they were written, and they change the hash', async () => {
  const written = new Map([
    [
      'q',
      new Map([
        ['old', 'new'],
        ['older', 'new'],
      ]),
    ],
  ]);
  const dataset = await load(formatSuperseded(written));
  expect(dataset.superseded).toEqual(written);
  expect(dataset.facts['superseded turns of queries']).toBe(2);
  const [without, empty] = [await load(null), await load('')];
  expect(without.superseded).toBeUndefined();
  expect(without.facts).not.toHaveProperty('superseded turns of queries');
  expect(empty.superseded).toEqual(new Map()); // known, and none
  expect(new Set([dataset, without, empty].map(({ hash }) => hash)).size).toBe(3);
});

it('names each row that cannot be', async () => {
  const rows = ['q old', 'q old new', 'q old older', 'x old new', 'q none new', 'q older late', 'q new new'];
  await expect(load(rows.join('\n'))).rejects.toThrow(
    [
      '  superseded.tsv:1: malformed row: expected query turn replacement, got q old',
      '  superseded.tsv:3: superseded twice: q old',
      '  superseded.tsv:4: unknown query: x',
      '  superseded.tsv:5: unknown turn: none',
      '  superseded.tsv:6: turn is not earlier than its query: late',
      '  superseded.tsv:7: replaces itself: new',
    ].join('\n'),
  );
  const { superseded, facts } = await load(rows.join('\n'), 'skip');
  expect(superseded).toEqual(new Map([['q', new Map([['old', 'new']])]]));
  expect(facts['skipped in superseded.tsv: unknown turn']).toBe(1);
});
