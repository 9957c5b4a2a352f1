import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import { describeDataset } from '../dataset-contract.harness.ts';
import { describeData } from '../prepared/data-folder.harness.ts';
import { Counts, chooseSplitByHash, countUnknownTurns } from '../prepared/prepared.ts';
import { DOCUMENTS, MORE_DOCUMENTS, QRELS, TOPICS } from './trec-collection.fixture.ts';
import { loadTrecCollection, readTrecDocuments, type TrecCollectionOptions } from './trec-collection.ts';

const path = mkdtempSync(join(tmpdir(), 'trec-'));
afterAll(() => rmSync(path, { recursive: true }));
const write = (name: string, content: string | Uint8Array) => writeFileSync(join(path, name), content);
write('docs.trec', DOCUMENTS);
write('topics.trec', TOPICS);
write('qrels', QRELS);

const OPTIONS: TrecCollectionOptions = {
  path,
  documents: ['docs.trec'],
  topics: 'topics.trec',
  qrels: 'qrels',
  topicFields: ['title'],
  relevantGrade: 1,
};
const load = (options: Partial<TrecCollectionOptions> = {}) => loadTrecCollection({ ...OPTIONS, ...options });

describeDataset('trec-collection', () => load(), {
  reassigned: (answers) => {
    write('reassigned', [...answers].map(([queryId, id]) => `${queryId} 0 ${id} 1\n`).join(''));
    return load({ qrels: 'reassigned' });
  },
});

describe('a collection', () => {
  it('is documents of one turn, with title and text', async () => {
    const { corpus, declaration } = await load();
    const turns = corpus.turns.map(({ id, conversationId, timestamp, text, attributes }) => [
      [id, conversationId, timestamp],
      text,
      attributes,
    ]);
    expect(turns).toEqual([
      [
        ['W-1', 'W-1', 0],
        'Waves in\nguides\nThe field of a wave guide.',
        { source: 'documents', title: 'Waves in guides' },
      ],
      [['W-2', 'W-2', 0], 'valves & noise', { source: 'documents' }],
      [['W-3', 'W-3', 0], 'Noise\nnoise of valves where a < b', { source: 'documents', title: 'Noise' }],
    ]);
    expect([declaration.times, declaration.threads]).toEqual(['none', 'none']);
  });

  it('has topics with a relevant document, that see every document', async () => {
    const { corpus, queries, qrels, facts } = await load();
    expect(queries.map(({ id, text, split }) => [id, text, split])).toEqual([
      ['1', 'WAVE GUIDES', chooseSplitByHash('1')],
      ['2', 'NOISE OF VALVES', chooseSplitByHash('2')],
    ]);
    expect(queries.map(({ timestamp }) => corpus.countEarlierTurns(timestamp))).toEqual([3, 3]);
    expect(Object.fromEntries(qrels.get('2') ?? [])).toEqual({ 'W-2': 1, 'W-3': 2 });
    expect(facts).toMatchObject({
      'skipped: documents without a text': 1,
      'skipped: judgements of unknown documents': 1,
      'skipped: judgements of unknown topics': 1,
      'skipped: questions without a relevant document': 1,
      documents: 3,
      queries: 2,
      judgements: 4,
    });
    expect(countUnknownTurns(facts)).toBe(1);
  });

  it('may ask other fields, and call other grades relevant', async () => {
    const { queries, relevantGrade } = await load({ topicFields: ['title', 'description'], relevantGrade: 2 });
    expect(queries.map(({ text }) => text)).toEqual(['NOISE OF VALVES\nnoise of valves']);
    expect(relevantGrade).toBe(2);
  });

  it('may be several files, folders and compressed files', async () => {
    mkdirSync(join(path, 'parts', 'inner'), { recursive: true });
    write('parts/a.trec.gz', gzipSync(DOCUMENTS));
    write('parts/inner/b.trec', MORE_DOCUMENTS);
    const { corpus } = await load({ documents: ['parts'] });
    expect(corpus.turns.map(({ id }) => id)).toEqual(['W-1', 'W-2', 'W-3', 'W-5']);
    expect((await load({ documents: ['docs.trec', join(path, 'parts/inner/b.trec')] })).hash).toBe(
      (await load({ documents: ['parts'] })).hash,
    );
  });

  it('is read in chunks: a character and a tag may lie across two of them', async () => {
    const documents = Array.from(
      { length: 997 },
      (_, i) => `<DOC>\n<DOCNO>D${i}</DOCNO>\n${'é—ü '.repeat(i % 67)}w${i}\n</DOC>\n`,
    );
    write('long.trec', documents.join('')); // some 240 kB, where a chunk has 64
    const read = await readTrecDocuments(join(path, 'long.trec'), new Counts());
    expect(read.map(({ id }) => id)).toEqual(documents.map((_, i) => `D${i}`));
    for (const [i, { text }] of read.entries()) expect(text).toBe(`${'é—ü '.repeat(i % 67)}w${i}`);
  });
});

describe('what cannot be read is named', () => {
  it.each([
    ['no-number.trec', '<DOC>text</DOC>', 'expected <DOCNO> with an id without spaces in '],
    ['spaces.trec', '<DOC><DOCNO>a b</DOCNO>text</DOC>', 'got "a b"; correct the document'],
    ['twice.trec', `${DOCUMENTS}${DOCUMENTS}`, 'duplicate turn id: W-1'],
    ['open.trec', '<DOC><DOCNO>a</DOCNO>', '<DOC> number 1 has no </DOC> in: '],
    ['none.trec', 'no documents', 'no <DOC> with a text in: '],
  ])('%s', async (name, content, message) => {
    write(name, content);
    const error = await load({ documents: [name] }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as Error).message).toContain(message);
  });

  it('judgements of another form, and of no topic', async () => {
    write('three', '1 W-1 1\n');
    await expect(load({ qrels: 'three' })).rejects.toThrow(
      'correct and run again, or name another file of judgements:\n',
    );
    write('other', '9 0 W-1 1\n');
    await expect(load({ qrels: 'other' })).rejects.toThrow('no question has a relevant document in: ');
  });

  it.each([{ documents: ['missing'] }, { topics: 'missing' }, { qrels: 'missing' }])('%j', async (options) => {
    await expect(load(options)).rejects.toThrow(StorageError);
  });

  it('a file that is cut short', async () => {
    write('cut.trec.gz', gzipSync(DOCUMENTS).subarray(0, 200));
    await expect(load({ documents: ['cut.trec.gz'] })).rejects.toThrow(StorageError);
  });
});

describeData('Vaswani', 'vaswani', (folder) => {
  it('has the counts that the docs tell', async () => {
    const dataset = await load({ path: folder, documents: ['doc-text.trec'], topics: 'query-text.trec' });
    expect(dataset.facts).toEqual({
      'skipped: documents without a text': 0,
      'skipped: judgements of unknown topics': 0,
      'skipped: judgements of unknown documents': 0,
      'skipped: questions without a relevant document': 0,
      'texts with undecodable characters': 0,
      documents: 11429,
      queries: 93,
      'queries, dev': 52,
      'queries, test': 41,
      judgements: 2083,
    });
  });
});
