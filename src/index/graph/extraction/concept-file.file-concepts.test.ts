import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { StorageError, ValidationError } from '../../../core/errors/errors.ts';
import { hashFileContent } from '../../encoders/precomputed/content-hash.ts';
import { ConceptFileReader, hashTurnTexts, readFileConcepts } from './concept-file.ts';
import { identifyConceptSource } from './concept-source.ts';
import { describeStatement } from './extraction-service.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-file-concepts-'));
afterAll(() => rmSync(root, { recursive: true }));

const SENSITIVE = { attributes: { sensitive: true, title: 'Old Maps' } };
const TURNS = [
  describeStatement(0, 'Ann works for Initech.'),
  describeStatement(1, 'The old map of Rome', SENSITIVE),
  describeStatement(2, 'The old map of Rome'),
];
const HEADER = { format: 'ragpp-concepts', version: 1, model: 'm', prompts: 'p', corpus: hashTurnTexts(TURNS) };
const LINE = {
  id: 't0',
  concepts: ['ann', 'initech'],
  triples: [{ subject: 'ann', relation: 'works for', object: 'initech' }],
};
function write(name: string, ...rows: unknown[]): string {
  const path = join(root, name);
  writeFileSync(path, rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''));
  return path;
}

test('a turn has the concepts and pairs of its line, and one that stays on this machine its phrases', () => {
  const file = write('good.jsonl', HEADER, LINE);
  expect(readFileConcepts(TURNS, { file })).toEqual({
    concepts: [
      ['ann', 'initech'],
      ['old maps', 'old map', 'rome'],
      ['old map', 'rome'],
    ],
    relations: [['ann', 'initech'], [], []],
    remark: null,
  });
  expect(readFileConcepts([...TURNS].reverse(), { file }).remark).toBeNull();
  const { remark } = readFileConcepts([{ ...TURNS[0]!, text: 'Other.' }], { file });
  expect(remark).toBe(`warning: ${file} was extracted from other turns or texts than these`);
});

test('turns without a line are refused with their number and the first', () => {
  const file = write('short.jsonl', HEADER, LINE);
  const more = [...TURNS, describeStatement(3, 'Bread.'), describeStatement(4, 'Yeast.')];
  expect(() => readFileConcepts(more, { file })).toThrow(ValidationError);
  expect(() => readFileConcepts(more, { file })).toThrow(
    /^2 of 5 turns have no concepts in .*short\.jsonl, the first is t3; continue with ragpp graph extract$/,
  );
});

test('later turns have what they have among all, and are refused as among all', () => {
  const file = write('later.jsonl', HEADER, LINE);
  const reader = new ConceptFileReader({ file });
  const all = readFileConcepts(TURNS, { file });
  for (let count = 0, first = 0; count <= 3; first = count, count += count === 1 ? 2 : 1) {
    const { concepts, relations } = reader.read(TURNS.slice(0, count), first);
    expect([concepts, relations]).toEqual([all.concepts.slice(first, count), all.relations.slice(first, count)]);
  }
  const more = [...TURNS, describeStatement(3, 'The old map of Rome'), describeStatement(4, 'Bread.')];
  expect(() => reader.read(more, 3)).toThrow(/^1 of 5 turns have no concepts in .*, the first is t4; /);
  writeFileSync(file, '');
  expect(reader.read(more.slice(0, 4), 3).concepts).toEqual([['old map', 'rome']]);
});

test('a source is identified by the content of the file, and another content than it states is refused', () => {
  const [file, copy] = [write('one.jsonl', HEADER, LINE), write('two.jsonl', HEADER, LINE)];
  const hash = hashFileContent(file);
  expect(identifyConceptSource({ file })).toEqual({ content: hash });
  expect(identifyConceptSource({ file: copy })).toEqual({ content: hash });
  expect(identifyConceptSource({ file: 'anywhere', hash })).toEqual({ content: hash });
  expect(identifyConceptSource('names')).toBe('names');
  expect(readFileConcepts(TURNS, { file, hash }).concepts).toHaveLength(3);
  expect(() => readFileConcepts(TURNS, { file, hash: 'other' })).toThrow(
    /^file of concepts has changed since .*one\.jsonl; /,
  );
  expect(() => readFileConcepts(TURNS, { file: join(root, 'none.jsonl') })).toThrow(StorageError);
});

test.each([
  ['no header', [LINE], /does not begin with the header of a file of concepts: /],
  ['another version', [{ ...HEADER, version: 2 }, LINE], /does not begin with the header/],
  ['a line that is no JSON', [HEADER, '{"id": "t0", "conc'], /malformed\.jsonl:2: it is not JSON/],
  ['a line without triples', [HEADER, { id: 't0', concepts: [] }], /malformed\.jsonl:2: triples: expected/],
  ['a repeated turn', [HEADER, LINE, LINE], /malformed\.jsonl:3: id is repeated: t0/],
  ['an end that is no concept', [HEADER, { ...LINE, concepts: ['ann'] }], /no concept of the turn: initech/],
])('%s is refused', (_, rows, message) => {
  const file = write('malformed.jsonl', ...rows);
  expect(() => readFileConcepts(TURNS, { file })).toThrow(ValidationError);
  expect(() => readFileConcepts(TURNS, { file })).toThrow(message);
});
