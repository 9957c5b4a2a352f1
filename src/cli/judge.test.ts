import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, EmbeddingService, type ReceivedRequest } from '../core/service/embedding-service.harness.ts';
import { readQrels } from '../eval/trec/trec-files.ts';
import { formatPool, type PoolLine, readPool } from '../lab/judging/judgement-file.ts';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-judge-'));
afterAll(() => rmSync(root, { recursive: true }));
const at = (name: string) => join(root, name);
const judge = (...words: string[]) => runRagpp('judge', ...words);

function write(name: string, content: string | readonly unknown[]): string {
  const text = typeof content === 'string' ? content : content.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeFileSync(at(name), text);
  return at(name);
}

const TURNS = write(
  'turns.jsonl',
  ['The kernel crashed.', 'Lentils boil quickly.', 'Bread needs time.', 'The secret is salt.'].map((text, i) => ({
    ...{ id: `t${i}`, conversationId: 'c', parentId: null, timestamp: i, text },
    ...(i === 3 ? { attributes: { sensitive: true } } : {}),
  })),
);
const QUERIES = write('queries.jsonl', [
  { id: 'q1', text: 'kernel crash', kind: 'exact', generator: 'gpt-4o', sources: ['t0'] },
  { id: 'q2', text: 'pulses cook fast?', kind: 'paraphrase', generator: 'gpt-4o', sources: ['t1'] },
]);
const WORDS = write('words.trec', 'q1 Q0 t0 1 9 words\nq1 Q0 t1 2 8 words\nq1 Q0 t2 3 7 words\nq2 Q0 t3 1 5 words\n');
const DENSE = write('dense.trec', 'q1 Q0 t3 1 9 dense\nq1 Q0 t0 2 8 dense\nq2 Q0 t1 1 5 dense\n');
const TEXTS = ['--queries', QUERIES, '--documents', TURNS];

const listPairs = (lines: readonly PoolLine[]) => lines.map(({ queryId, id }) => `${queryId} ${id}`);

/** Arms without an encoder. */
const LEXICAL = {
  evaluation: { baseline: 'newest', samples: 100, depth: 7, metrics: ['mrr@5'] },
  arms: { newest: [{ search: { newest: { k: 7 } } }], words: [{ search: { bm25: { k: 7 } } }] },
};

/** A pool of ten documents each of two strata, with grades of the judge if there is one. */
function writePool(name: string, grade: (place: number) => number | null, judgeName: string | null): string {
  const lines = Array.from(
    { length: 20 },
    (_, i): PoolLine => ({
      ...{ queryId: `q${i % 4}`, queryText: 'x', id: `d${i}`, text: 'y', generator: 'gpt-4o', sensitive: false },
      ...{ stratum: i % 4 < 2 ? 'exact' : 'multi-hop', grade: grade(i), judge: judgeName },
    }),
  );
  return write(name, formatPool(lines));
}

describe('pool', () => {
  test('is the union of the first documents of all systems, with texts, and without what found them', async () => {
    const outcome = await judge('pool', WORDS, DENSE, '--depth', '2', ...TEXTS, '--into', at('pool.jsonl'));
    expect(outcome).toMatchObject({ code: 0 });
    expect(outcome.stdout).toMatch(
      /pool\.jsonl: 5 pairs of 2 queries, from the first 2 documents of 2 systems\nsensitive: 2/,
    );
    expect(outcome.stderr).toMatch(/warning \(small-stratum\): stratum exact has 1 queries, fewer than 50/);
    const lines = readPool(at('pool.jsonl'));
    expect(listPairs(lines).sort()).toEqual(['q1 t0', 'q1 t1', 'q1 t3', 'q2 t1', 'q2 t3']);
    expect(lines.find(({ queryId, id }) => queryId === 'q2' && id === 't3')).toEqual({
      ...{ queryId: 'q2', queryText: 'pulses cook fast?', id: 't3', text: 'The secret is salt.' },
      ...{ stratum: 'paraphrase', generator: 'gpt-4o', sensitive: true, grade: null, judge: null },
    });
    expect(readFileSync(at('pool.jsonl'), 'utf8')).not.toMatch(/words|dense|score|rank/);
    await judge('pool', DENSE, WORDS, '--depth', '2', ...TEXTS, '--into', at('swapped.jsonl'));
    expect(readFileSync(at('swapped.jsonl'), 'utf8')).toBe(readFileSync(at('pool.jsonl'), 'utf8'));
  });

  test('leaves out what is judged, and never overwrites a file', async () => {
    const judged = write('judged.trec', 'q1 0 t0 3\nq1 0 t1 0\n');
    const more = ['pool', WORDS, DENSE, ...TEXTS, '--judged', `ana=${judged}`, '--into', at('more.jsonl')];
    expect((await judge(...more)).stdout).toMatch(/4 pairs of 2 queries.*\nleft out: 2 pairs that are judged\n/);
    const before = readFileSync(at('more.jsonl'), 'utf8');
    expect(await judge(...more)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('file exists and may hold'),
    });
    expect(readFileSync(at('more.jsonl'), 'utf8')).toBe(before);
  });

  test.each([
    [['--queries', QUERIES], 2, '--documents: expected the texts of the documents'],
    [['--documents', TURNS], 2, '--queries: expected the texts of the queries'],
    [['--queries', at('one.jsonl'), '--documents', TURNS], 1, 'query has no text: q2'],
    [['--queries', QUERIES, '--documents', at('short.jsonl')], 1, 'document has no text: t3'],
    [
      ['--queries', at('orphans.jsonl'), '--documents', TURNS],
      1,
      'or name the person or model that wrote them as --generator',
    ],
  ])('%j ends with what to do', async (flags, code, message) => {
    write('one.jsonl', [{ id: 'q1', text: 'kernel', generator: 'ana' }]);
    write('short.jsonl', [
      { _id: 't0', text: 'x' },
      { _id: 't1', text: 'x' },
      { _id: 't2', text: 'x' },
    ]);
    write('orphans.jsonl', [
      { id: 'q1', text: 'kernel' },
      { id: 'q2', text: 'pulses' },
    ]);
    const outcome = await judge('pool', WORDS, DENSE, ...flags, '--into', at('none.jsonl'));
    expect(outcome).toMatchObject({ code, stderr: expect.stringContaining(message) });
    expect(existsSync(at('none.jsonl'))).toBe(false);
  });

  test('of a stored run holds every arm, with the texts of its dataset; its qrels score the run', async () => {
    const data = mkdtempSync(at('data-'));
    writeSampleJsonl(data);
    const queries = readFileSync(join(data, 'queries.jsonl'), 'utf8').trim().split('\n');
    const kinds = queries.map((line, i) => line.replace('{', `{"kind":"${i % 2 === 0 ? 'exact' : 'multi-hop'}",`));
    writeFileSync(join(data, 'queries.jsonl'), kinds.join('\n'));
    const config = write('sample.yaml', JSON.stringify({ ...buildSampleConfig(data), ...LEXICAL }));
    const folders = ['--cache', at('cache'), '--results', at('runs')];
    expect(await runRagpp('run', config, ...folders)).toMatchObject({ code: 0 });
    const run = join(at('runs'), readdirSync(at('runs'))[0] as string);
    const { warnings } = JSON.parse(readFileSync(join(run, 'metrics.json'), 'utf8'));
    expect(warnings).toMatchObject([
      { code: 'small-stratum', message: expect.stringMatching(/^stratum exact has \d+ queries, fewer than 50/) },
      { code: 'small-stratum', message: expect.stringMatching(/^stratum multi-hop /) },
    ]);
    const typed = [
      'pool',
      run,
      '--depth',
      '3',
      '--generator',
      'ana',
      '--cache',
      at('cache'),
      '--into',
      at('run.jsonl'),
    ];
    expect((await judge(...typed)).stdout).toContain('from the first 3 documents of 2 systems');
    const lines = readPool(at('run.jsonl'));
    const [newest, words] = ['newest', 'words'].map((arm) => readFileSync(join(run, 'runs', `${arm}.trec`), 'utf8'));
    const first = `${newest}${words}`.split('\n').filter((line) => / [123] \S+ \S+$/.test(line));
    const pairs = new Set(first.map((line) => line.split(' ')).map(([query, , id]) => `${query} ${id}`));
    expect(new Set(listPairs(lines))).toEqual(pairs);
    expect(lines.every(({ text, queryText }) => text.length > 10 && queryText.length > 10)).toBe(true);
    expect(new Set(lines.map(({ stratum }) => stratum))).toEqual(new Set(['exact', 'multi-hop']));

    const graded = lines.map((line, i) => ({ ...line, grade: i % 4 }));
    write('graded.jsonl', formatPool(graded));
    const collected = ['collect', `bea=${at('graded.jsonl')}`, '--pool', at('run.jsonl'), '--into', at('run.trec')];
    expect((await judge(...collected)).stdout).toMatch(/holes: 0 of/);
    const scored = await runRagpp('score', at('run.trec'), run, '--results', at('scores'), '--samples', '99');
    expect(scored).toMatchObject({ code: 0 });
    expect(scored.stdout).toMatch(/newest.*\n.*words/s);
    const wrong = await judge('pool', run, '--set', 'dataset.relevantGrade=2', ...typed.slice(2, -1), at('x.jsonl'));
    expect(wrong.stderr).toMatch(/dataset jsonl is not that of the run .*; name the data of the run with --set/);
  });
});

describe('ask', () => {
  let service: EmbeddingService;
  beforeAll(async () => {
    service = await EmbeddingService.start();
  });
  afterAll(() => service.stop());
  const readPassages = ({ body }: ReceivedRequest): { text: string }[] =>
    JSON.parse(body.messages?.[1]?.content ?? '').passages;
  const answer = (request: ReceivedRequest): Answer => {
    const content = JSON.stringify({ grades: readPassages(request).map(({ text }) => text.length % 4) });
    return { status: 200, body: { choices: [{ message: { content } }] } };
  };
  const ask = (pool: string, into: string, model = 'judge-7b') => {
    const flags = ['--base-url', service.baseUrl, '--model', model, '--set', 'maxAttempts=1', '--set', 'batchSize=2'];
    return judge('ask', pool, ...flags, '--into', at(into));
  };

  test('grades the pool but for sensitive pairs, and continues where it was interrupted', async () => {
    await judge('pool', WORDS, DENSE, ...TEXTS, '--into', at('to-ask.jsonl'));
    service.answer = (request, count) => (count === 1 ? answer(request) : { status: 401, body: 'no' });
    const failed = await ask(at('to-ask.jsonl'), 'asked.jsonl');
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('status 401') });
    const begun = readPool(at('asked.jsonl')).filter(({ grade }) => grade !== null);
    expect(begun).toHaveLength(
      service.received.length === 2 ? readPassages(service.received[0] as ReceivedRequest).length : -1,
    );
    service.reset();
    service.answer = answer;
    const done = await ask(at('to-ask.jsonl'), 'asked.jsonl');
    expect(done).toMatchObject({ code: 0 });
    expect(done.stdout).toMatch(/asked\.jsonl: 4 of 6 pairs graded by judge-7b\nwithheld: 2 sensitive pairs/);
    expect(service.received.flatMap(readPassages)).toHaveLength(4 - begun.length);
    expect(JSON.stringify(service.received)).not.toContain('salt');
    const lines = readPool(at('asked.jsonl'));
    expect(listPairs(lines)).toEqual(listPairs(readPool(at('to-ask.jsonl'))));
    for (const { text, grade, judge: by, sensitive } of lines)
      expect([grade, by]).toEqual(sensitive ? [null, null] : [text.length % 4, 'judge-7b']);
  });

  test('refuses a model that wrote the queries, and a file of another pool or judge', async () => {
    service.reset();
    expect((await ask(at('to-ask.jsonl'), 'none.jsonl', 'gpt-4o-2024-08-06')).stderr).toContain(
      'wrote queries that it',
    );
    expect((await ask(at('to-ask.jsonl'), 'asked.jsonl', 'other')).stderr).toContain('has grades of judge-7b');
    expect(
      (
        await ask(
          writePool('x.jsonl', () => null, null),
          'asked.jsonl',
        )
      ).stderr,
    ).toContain('is not of this pool');
    expect(service.received).toEqual([]);
    expect(
      (await judge('ask', at('to-ask.jsonl'), '--base-url', 'ftp://x', '--model', 'm', '--into', at('y'))).code,
    ).toBe(2);
  });
});

describe('sample', () => {
  test('is a share of every stratum and grade, drawn by the seed, without grades and judge', async () => {
    const pool = writePool('llm.jsonl', (i) => (i < 10 ? 3 : 0), 'llm');
    const outcome = await judge('sample', pool, '--into', at('sample.jsonl'));
    expect(outcome.stdout).toMatch(/sample\.jsonl: 6 of 20 pairs \(exact 3, multi-hop 3\)\n/);
    const drawn = readPool(at('sample.jsonl'));
    expect(drawn.every(({ grade, judge: by }) => grade === null && by === null)).toBe(true);
    expect(drawn.filter(({ id }) => Number(id.slice(1)) < 10)).toHaveLength(3);
    await judge('sample', pool, '--into', at('again.jsonl'));
    expect(readFileSync(at('again.jsonl'), 'utf8')).toBe(readFileSync(at('sample.jsonl'), 'utf8'));
    await judge('sample', pool, '--seed', '2', '--into', at('other.jsonl'));
    expect(readFileSync(at('other.jsonl'), 'utf8')).not.toBe(readFileSync(at('sample.jsonl'), 'utf8'));
    expect((await judge('sample', pool, '--into', at('sample.jsonl'))).code).toBe(1);
    expect((await judge('sample', pool, '--share', '1.2', '--into', at('none.jsonl'))).code).toBe(2);
  });
});

describe('agreement', () => {
  const person = () => writePool('person.jsonl', (i) => i % 4, null);

  test('passes at a kappa of .6, and prints the confusion and each stratum', async () => {
    const close = writePool('close.jsonl', (i) => (i < 5 ? (i + 1) % 4 : i % 4), 'llm');
    const outcome = await judge('agreement', `ana=${person()}`, close);
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(outcome.stdout).toMatch(/^20 pairs judged by both; 0 by ana alone, 0 by llm alone\n/);
    expect(outcome.stdout).toMatch(/^ana 0 +3 +2 +0 +0$/m);
    expect(outcome.stdout).toMatch(/^all +20 +0\.750 +0\.66\d +/m);
    expect(outcome.stdout).toMatch(/^multi-hop +10 /m);
    const { stdout } = await judge('agreement', `ana=${person()}`, close, '--format', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ judges: ['ana', 'llm'], gate: 0.6, passed: true, pairs: 20 });
  });

  test('fails below the gate, with what to do', async () => {
    const far = writePool('far.jsonl', (i) => (i < 10 ? (i + 1) % 4 : i % 4), 'llm');
    const outcome = await judge('agreement', `ana=${person()}`, far);
    expect(outcome).toMatchObject({ code: 1, stdout: expect.stringContaining('kappa') });
    expect(outcome.stderr).toMatch(
      /^ragpp: kappa of ana and llm is 0\.3\d\d, below the gate of 0\.6; do not use these/,
    );
    expect((await judge('agreement', `ana=${person()}`, far, '--gate', '0.3')).code).toBe(0);
    const trec = write('llm.trec', 'q0 0 d0 1\nq1 0 d1 1\n');
    const constant = write('ana.trec', 'q0 0 d0 1\nq1 0 d1 1\nq1 0 d5 1\n');
    const undefinedKappa = await judge('agreement', `ana=${constant}`, `llm=${trec}`, '--gate', '-1');
    expect(undefinedKappa).toMatchObject({ code: 1, stderr: expect.stringContaining('is undefined, below') });
  });

  test('takes strata and generators of TREC files from the pool', async () => {
    const [ana, bea] = [write('a.trec', 'q0 0 d0 1\nq2 0 d2 3\n'), write('b.trec', 'q0 0 d0 1\nq2 0 d2 3\n')];
    const pool = ['--pool', person()];
    expect((await judge('agreement', `ana=${ana}`, `bea=${bea}`)).stdout).not.toContain('multi-hop');
    expect((await judge('agreement', `ana=${ana}`, `bea=${bea}`, ...pool)).stdout).toMatch(
      /^multi-hop +1 +1\.000 +undef/m,
    );
    expect((await judge('agreement', `ana=${ana}`, `gpt-4o=${bea}`, ...pool)).stderr).toContain('wrote queries');
  });

  test('is of two judges, and of a file each', async () => {
    const [ana, other] = [person(), writePool('both.jsonl', () => 1, null)];
    expect((await judge('agreement', `ana=${ana}`, `Ana=${other}`)).stderr).toContain('both files are of one judge');
    expect((await judge('agreement', `ana=${ana}`, other)).stderr).toMatch(/no judge: name the judge, as in NAME=/);
    const mixed = write('mixed.jsonl', [
      { query: 'q0', id: 'd0', grade: 1, judge: 'bea' },
      { query: 'q0', id: 'd4', grade: 1, judge: 'cem' },
    ]);
    expect((await judge('agreement', `ana=${ana}`, mixed)).stderr).toContain('several judges');
    expect((await judge('agreement', `gpt-4o=${ana}`, `bea=${other}`)).stderr).toContain(
      'judge gpt-4o wrote queries that it judges',
    );
    expect((await judge('agreement', `ana=${ana}`, `bea=${other}`, '--gate', 'high')).code).toBe(2);
  });
});

describe('collect', () => {
  const pool = () => writePool('to-judge.jsonl', () => null, null);
  const model = () => writePool('model.jsonl', (i) => (i < 15 ? 2 : null), 'llm');
  const manual = () => write('manual.trec', 'q0 0 d0 2\nq1 0 d1 0\n');

  test('writes qrels: the file named first counts, holes and small strata are reported', async () => {
    const typed = ['collect', `ana=${manual()}`, model(), '--pool', pool()];
    const outcome = await judge(...typed, '--into', at('qrels.trec'));
    expect(outcome.stdout.replace(root, '')).toBe(
      '/qrels.trec: 15 judgements of 4 queries by ana, llm\nholes: 5 of 20 pooled pairs have no judgement (4 queries)\nseveral judges: 2 pairs, of which 1 have different grades; the file named first counts\n',
    );
    expect(outcome.stderr).toMatch(/stratum exact has 2 queries.*\n.*stratum multi-hop has 2 queries/);
    expect(readQrels(at('qrels.trec')).get('q1')?.get('d1')).toBe(0);
    expect(readQrels(at('qrels.trec')).get('q0')?.get('d4')).toBe(2);
    await judge(...typed, '--into', at('all.jsonl'));
    expect(readFileSync(at('all.jsonl'), 'utf8').split('\n')[0]).toBe(
      '{"query":"q0","id":"d0","grade":2,"judge":"ana"}',
    );
  });

  test('refuses the generator as judge, strange pairs and files without a grade', async () => {
    const collect = (file: string) => judge('collect', file, '--pool', pool(), '--into', at('none.trec'));
    expect((await collect(`openai/gpt-4o=${manual()}`)).code).toBe(1); // a slash is part of a path
    expect((await collect(`GPT-4o=${manual()}`)).stderr).toContain('judge GPT-4o wrote queries that it judges');
    expect((await collect(`ana=${write('strange.trec', 'q0 0 d1 2\n')}`)).stderr).toContain('the pool does not hold');
    expect((await collect(`ana=${pool()}`)).stderr).toContain('file has no grade');
    expect((await collect(`ana=${write('high.trec', 'q0 0 d0 4\n')}`)).stderr).toContain('expected a grade of 0, 1');
    expect(existsSync(at('none.trec'))).toBe(false);
  });
});

describe('check-queries', () => {
  test('passes queries that fit their strata, and warns of few', async () => {
    const outcome = await judge('check-queries', QUERIES, '--documents', TURNS);
    expect(outcome).toMatchObject({ code: 0, stderr: expect.stringContaining('warning (small-stratum)') });
    expect(outcome.stdout).toMatch(/: 2 queries \(exact 1, paraphrase 1, multi-hop 0\)\nno fault was found\n$/);
  });

  test('names a paraphrase with a word of its source and a query without generator', async () => {
    const queries = write('faulty.jsonl', [
      { id: 'q1', text: 'boiling pulses', kind: 'paraphrase', generator: 'gpt-4o', sources: ['t1'] },
      { id: 'q2', text: 'kernel', kind: 'exact' },
    ]);
    const outcome = await judge('check-queries', queries, '--documents', TURNS);
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(/^q1: paraphrase shares content words boil with its source t1; use other words$/m);
    expect(outcome.stderr).toMatch(/^q2: query states no generator; add "generator"/m);
  });
});
