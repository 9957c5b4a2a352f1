import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { EmbeddingService } from '../core/service/embedding-service.harness.ts';
import { answerAsAsked, readAsked } from '../index/graph/extraction/extraction-service.harness.ts';
import { runRagpp, type StoredMetrics } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-graph-'));
const at = (...names: string[]) => join(root, ...names);
const service = await EmbeddingService.start();
afterEach(() => service.reset());
afterAll(async () => {
  await service.stop();
  rmSync(root, { recursive: true });
});

const formatRows = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const START = Date.UTC(2024, 0, 1);
const TEXTS = [
  'Ann Davis | works for | Initech',
  'Initech | is in | Springfield',
  'Bob | is employed by | Initech; Bob | lives in | Shelbyville',
  'the pin | is | 4711',
  'Springfield | is near | Shelbyville',
];
mkdirSync(at('data'));
writeFileSync(
  at('data', 'turns.jsonl'),
  formatRows(
    TEXTS.map((text, i) => ({
      ...{ id: `t${i}`, conversationId: `c${i}`, parentId: null, timestamp: START + i, text },
      ...(i === 3 ? { attributes: { sensitive: true } } : {}),
    })),
  ),
);
writeFileSync(
  at('data', 'queries.jsonl'),
  formatRows(
    ['dev', 'test'].map((split) => ({
      id: split,
      text: 'Who is Ann Davis?',
      timestamp: START + 9,
      split,
      cluster: split,
    })),
  ),
);
writeFileSync(at('data', 'qrels.txt'), 'dev 0 t0 1\ntest 0 t1 1\n');

/** Its arms name a file that extraction is to write. */
const CONFIG = at('chats.json');
const walkAlong = (relation: number) => {
  const edges = { mentions: 1, reply: 0, next: 0, names: 0, namedBy: 0, relation };
  return [{ search: { graph: { concepts: { file: 'concepts.jsonl' }, scoring: 'degree', maxHops: 2, edges } } }];
};
writeFileSync(
  CONFIG,
  JSON.stringify({
    ...{ name: 'chats', seed: 3, backend: 'wasm', dataset: { name: 'jsonl', path: 'data' } },
    ...{ embedding: { encoder: 'lsa', dimension: 2 } },
    evaluation: { baseline: 'newest', samples: 100, split: 'all', depth: 5, metrics: ['recall@5'] },
    arms: { newest: [{ search: { newest: { k: 1 } } }], mentions: walkAlong(0), triples: walkAlong(1) },
  }),
);

const extract = (out: string, ...more: string[]) =>
  runRagpp(
    ...['graph', 'extract', CONFIG, '--base-url', service.baseUrl, '--model', 'm-7b', '--batch-size', '2'],
    ...['--service', 'pauseSeconds=0', '--service', 'maxAttempts=2', '--cache', at('cache'), '--out', out, ...more],
  );

describe('extract', () => {
  test('writes a line a turn but for sensitive ones, and goes on where it was interrupted', async () => {
    service.answer = answerAsAsked;
    const whole = await extract(at('whole.jsonl'));
    expect(whole).toMatchObject({ code: 0 });
    expect(whole.stdout).toBe(
      `${at('whole.jsonl')}: 4 of 5 turns with 5 triples by m-7b\nwithheld: 1 sensitive turns, which were not sent\n4 requests, 28 tokens\n`,
    );
    const content = readFileSync(at('whole.jsonl'), 'utf8');
    const [header, ...lines] = content
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(header).toMatchObject({ format: 'ragpp-concepts', version: 1, model: 'm-7b' });
    expect(lines.map(({ id }: { id: string }) => id)).toEqual(['t0', 't1', 't2', 't4']);
    expect(JSON.stringify(service.received)).not.toContain('4711');

    const part = at('part.jsonl');
    expect((await extract(part, '--limit-turns', '2')).stdout).toContain('open: 2 turns; continue with');
    appendFileSync(part, '{"id": "t2", "conc'); // of a process that was killed
    service.answer = (request) =>
      readAsked(request).new === undefined ? answerAsAsked(request) : { status: 401, body: '' };
    expect(await extract(part)).toMatchObject({ code: 1, stderr: expect.stringContaining('status 401') });
    service.reset();
    service.answer = answerAsAsked;
    expect(await extract(part)).toMatchObject({ code: 0 });
    expect(readFileSync(part, 'utf8')).toBe(content);
    expect(readAsked(service.received[0]!).turns?.map(({ text }) => text)).toEqual([TEXTS[2], TEXTS[4]]);
  });

  test('refuses to go on with a file of another model, of other turns, or of something else', async () => {
    service.answer = answerAsAsked;
    const out = at('other.jsonl');
    await extract(out, '--limit-turns', '2');
    expect((await extract(out, '--model', 'm-8b')).stderr).toMatch(
      /file was extracted by another model: .*other\.jsonl; name/,
    );
    const renamed = readFileSync(out, 'utf8').replace(/"corpus":"\w+/, '"corpus":"x');
    writeFileSync(out, renamed);
    expect((await extract(out)).stderr).toContain('file was extracted from other turns');
    writeFileSync(out, 'my\nnotes');
    expect(await extract(out)).toMatchObject({ code: 1, stderr: expect.stringContaining('file is none of concepts') });
    expect(readFileSync(out, 'utf8')).toBe('my\nnotes');
    expect(await extract(out, '--batch-size', '0')).toMatchObject({ code: 2 });
    expect(await extract(out, '--service', 'tries=2')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('tries'),
    });
  });

  test('an arm walks along the triples of the file, and a turn without a line is an error', async () => {
    service.answer = answerAsAsked;
    await extract(at('concepts.jsonl'), '--limit-turns', '3');
    const run = (out: string) => runRagpp('run', CONFIG, '--cache', at('cache'), '--results', at(out));
    expect((await run('first')).stderr).toMatch(
      /1 of 5 turns have no concepts in .*concepts\.jsonl, the first is t4; continue/,
    );
    await extract(at('concepts.jsonl'));
    expect(await run('second')).toMatchObject({ code: 0 });
    const [folder] = readdirSync(at('second'));
    const { arms } = JSON.parse(readFileSync(at('second', folder as string, 'metrics.json'), 'utf8')) as StoredMetrics;
    expect(arms.map(({ name, metrics }) => [name, metrics['recall@5']?.mean])).toEqual([
      ['newest', 0],
      ['mentions', 0.5],
      ['triples', 1],
    ]);
  });
});
