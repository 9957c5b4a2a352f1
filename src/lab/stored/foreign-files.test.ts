import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readJudgements, readSystems } from './system-files.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-foreign-files-'));
afterAll(() => rmSync(root, { recursive: true }));

function write(name: string, content: unknown): string {
  const path = join(root, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return path;
}

function rank(path: string): object {
  const [system] = readSystems([path]);
  return Object.fromEntries(Array.from(system!.run, ([query, ranking]) => [query, ranking.map(({ id }) => id)]));
}

/** A search result of memorybench, checkpoint schema 4. */
const result = (rankOf: number, session: string | undefined, id = `m${rankOf}`) => ({
  ...{ id, rank: rankOf, text: 'She adopted a dog.', score: 0.5, provider: 'mem0', resultType: 'memory' },
  ...(session === undefined ? {} : { sessionId: session, documentDate: '2023-05-08' }),
});

/** `results/<question>.json`, without the parts that are not read. */
const question = (questionId: string, results: object[]) => ({
  ...{ benchmark: 'locomo', questionId, question: 'Which pet?', questionType: 'single-hop', groundTruth: 'a dog' },
  ...{ buildId: 'b1', containerTag: 'c1', retrievalPlan: { requestedTopK: 10, query: 'Which pet?' } },
  ...{
    requestedCount: 10,
    returnedCount: results.length,
    timestamp: '2026-01-01T00:00:00.000Z',
    durationMs: 3,
    results,
  },
});

/** An entry of `evaluations` in `report.json`. */
const evaluation = (questionId: string, searchResults: object[], retrievalMetrics?: object) => ({
  ...{ questionId, questionType: 'single-hop', question: 'Which pet?', score: 1, label: 'correct', explanation: '' },
  ...{ hypothesis: 'a dog', groundTruth: 'a dog', searchResults, searchDurationMs: 3, answerDurationMs: 3 },
  ...(retrievalMetrics === undefined ? {} : { retrievalMetrics }),
});

const report = (evaluations: object[]) => ({
  ...{ provider: 'mem0', benchmark: 'locomo', runId: 'r1', judge: 'gpt-4o', answeringModel: 'gpt-4o' },
  ...{ summary: { totalQuestions: evaluations.length, correctCount: 1, accuracy: 0.5 }, evaluations },
});

describe('results of memorybench', () => {
  test('are a folder, a file a question; memories of one session are one hit', () => {
    const folder = join(root, 'results');
    mkdirSync(folder);
    // Ranks count, not the order of the file.
    write('results/conv-26-q0.json', question('conv-26-q0', [result(3, 's9'), result(1, 's3'), result(2, 's3')]));
    write('results/conv-26-q1.json', question('conv-26-q1', []));
    write('results/conv-26-q2.json', question('conv-26-q2', [result(1, undefined, 'a'), result(2, 's3', 'b')]));
    expect(rank(folder)).toEqual({ 'conv-26-q0': ['s3', 's9'], 'conv-26-q2': ['a', 'b'] });
    expect(readSystems([folder])[0]).toMatchObject({ name: 'mem0', warnings: [] });
  });

  test('are a report, also with results of the provider of earlier versions', () => {
    const old = { content: 'She adopted a dog.', metadata: { sessionId: 's3' }, similarity: 0.7 };
    const path = write('report.json', report([evaluation('q1', [old, { ...old, metadata: { sessionId: 's1' } }])]));
    expect(rank(path)).toEqual({ q1: ['s3', 's1'] });
  });

  test('that report a hit rate as recall have a warning', () => {
    const metrics = (hitAtK: number, recallAtK: number) => ({ hitAtK, recallAtK, precisionAtK: 0.1, mrr: 1, k: 10 });
    const build = (...recalls: number[]) =>
      report(recalls.map((recall, i) => evaluation(`q${i}`, [result(1, 's3')], metrics(1, recall))));
    const codes = (path: string) => readSystems([path])[0]?.warnings.map(({ code }) => code);
    expect(codes(write('hits.json', build(1, 1, 1)))).toEqual(['reported-recall-is-hit-rate']);
    expect(codes(write('recalls.json', build(1, 0.5, 1)))).toEqual([]);
  });

  test.each([
    [
      'nameless.json',
      report([evaluation('q1', [{ text: 'She adopted a dog.' }])]),
      /search result 1 of question q1 at .* has neither sessionId nor id/,
    ],
    ['other.json', { hello: 1 }, /no line of a run at .*other\.json:1/],
  ])('%s is refused', (file, content, message) => {
    expect(() => readSystems([write(file, content)])).toThrow(message);
  });

  test('a folder of something else is refused', () => {
    mkdirSync(join(root, 'none'));
    expect(() => readSystems([join(root, 'none')])).toThrow(/^folder has no \.json file: .*none; name a run file/);
    write('none/a.json', { hello: 1 });
    expect(() => readSystems([join(root, 'none')])).toThrow(/^no result of memorybench: .*a\.json; name its folder/);
  });
});

describe('predictions of LMEB', () => {
  const meta = { mteb_model_meta: { model_name: 'KaLM-Embedding/mini', revision: 'abc' } };
  const single = { test: { q1: { d1: 0.1, d2: 0.9, d3: 0.1 }, q2: { d2: 1 } } };

  test('are the rankings of a subset, by score', () => {
    const path = write('LoCoMo_predictions.json', { ...meta, single_hop: single });
    // Equal scores by id, descending.
    expect(rank(path)).toEqual({ q1: ['d2', 'd3', 'd1'], q2: ['d2'] });
    expect(readSystems([path])[0]).toMatchObject({ name: 'KaLM-Embedding/mini', warnings: [] });
  });

  test('of several subsets need one of them', () => {
    const path = write('both.json', { ...meta, single_hop: single, temporal: { test: { q7: { d1: 1 } } } });
    expect(rank(`${path}#temporal`)).toEqual({ q7: ['d1'] });
    expect(() => readSystems([path])).toThrow(
      `${path} holds 2 subsets; choose one: ${path}#single_hop, ${path}#temporal`,
    );
    expect(() => readSystems([`${path}#tempo`])).toThrow(`${path} has no subset tempo; choose one: `);
  });

  test('a file of means says where rankings are', () => {
    const path = write('LoCoMo.json', { task_name: 'LoCoMo', scores: { test: [{ hf_subset: 'x', main_score: 0.5 }] } });
    expect(() => readSystems([path])).toThrow(/^file holds means, no rankings: .*; run LMEB with --run_kwargs/);
  });

  test('judgements of LMEB are three columns', () => {
    const qrels = readJudgements(write('qrels.tsv', 'q1\td2\t1\nq1\td3\t1\n'));
    expect(qrels).toEqual(
      new Map([
        [
          'q1',
          new Map([
            ['d2', 1],
            ['d3', 1],
          ]),
        ],
      ]),
    ); // prettier-ignore
  });
});
