import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import { resolveConfig } from '../config/config.ts';
import { writeSampleJsonl } from './jsonl.fixture.ts';
import { type FinishedRun, runExperiment } from './run.ts';
import { runFiles } from './run-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-run-arm-'));
afterAll(() => rmSync(folder, { recursive: true }));
let backend: BackendName;

const bm25 = [{ search: { bm25: { k: 17 } } }];
const readRun = (file: string) => [{ search: { run: { file } } }];
const theirs = join(folder, 'theirs.trec');

function run(arms: object = {}): Promise<FinishedRun> {
  const config = {
    name: 'external',
    seed: 3,
    dataset: { name: 'jsonl', path: folder },
    embedding: { encoder: 'lsa', dimension: 13 },
    evaluation: { baseline: 'bm25', samples: 199, metrics: ['mrr@10', 'recall@5'], split: 'all', depth: 17 },
    arms: { bm25, ...arms },
  };
  return runExperiment(resolveConfig(config, 'test'), { backend, cacheFolder: join(folder, 'cache'), command: '' });
}

beforeAll(async () => {
  backend = await useBackend('wasm');
  writeSampleJsonl(folder);
  writeFileSync(theirs, runFiles(await run())['runs/bm25.trec'] as string);
});

describe('a run file as an arm', () => {
  test('has the figures, strata, attribution and inspected rankings of the arm that wrote it', async () => {
    const { result } = await run({ theirs: readRun(theirs) });
    const [ours, external] = result.arms;
    // Without the differences, which a baseline does not have.
    const dropDifferences = (strata: object) =>
      JSON.parse(JSON.stringify(strata), (key, value) =>
        ['difference', 'p', 'correctedP'].includes(key) ? null : value,
      );
    const pick = ({ metrics, perQuery, strata, attribution, losses, holes, rankings }: typeof ours & object) => ({
      ...{ metrics, perQuery, attribution, losses, holes },
      strata: dropDifferences(strata),
      rankings: rankings.map((ranking) => ranking.map(({ id, score }) => [id, score])),
    });
    expect(pick(external!)).toEqual(pick(ours!));
    expect(external?.comparisons?.['mrr@10']).toMatchObject({ wins: 0, losses: 0, p: 1 });
    expect(external?.componentNames).toContain('run');
    expect(result.strata.length).toBeGreaterThan(1);
  });

  test('is fused, decayed and blended as every arm', async () => {
    const fade = [{ decay: 24 }, { blend: { trajectory: {} } }];
    const { result } = await run({
      'theirs + decay': [...readRun(theirs), ...fade],
      'bm25 + decay': { from: 'bm25', then: fade },
      fused: [{ search: { run: { file: theirs, k: 11 }, newest: { k: 13 } } }, { fuse: 'rrf' }],
    });
    const [, theirsDecayed, oursDecayed, fused] = result.arms;
    expect(theirsDecayed?.perQuery).toEqual(oursDecayed?.perQuery);
    expect(fused?.rankings[0]?.length).toBeGreaterThan(0);
  });

  test('is computed again when the content of the file changes, and not when its name does', async () => {
    const copy = join(folder, 'copy.trec');
    const text = readFileSync(theirs, 'utf8');
    writeFileSync(copy, text);
    const count = ({ result }: FinishedRun) => result.stages['candidates-run']?.executed ?? 0;
    await run({ theirs: readRun(theirs) });
    expect(count(await run({ theirs: readRun(copy) }))).toBe(0);
    writeFileSync(copy, text.replace(/^(q\S+) Q0 \S+ 1 .*\n/m, ''));
    const changed = await run({ theirs: readRun(copy) });
    expect(count(changed)).toBe(1);
    expect(changed.result.arms[1]?.perQuery).not.toEqual(changed.result.arms[0]?.perQuery);
  });

  test('that lists a later turn fails and names the line, beside arms that do not', async () => {
    const ahead = join(folder, 'ahead.trec');
    writeFileSync(ahead, `${readFileSync(theirs, 'utf8')}q0-0 Q0 t22-0 99 0.001 bm25\n`);
    const { result } = await run({ ahead: readRun(ahead) });
    expect(result.arms.map(({ name }) => name)).toEqual(['bm25']);
    expect(result.failures[0]?.message).toMatch(
      /^turn at .*ahead\.trec:\d+ is not (earlier than|in the data that) query q0-0/,
    );
  });

  test('that lacks measured queries is warned of, and one that lacks none is not', async () => {
    const partial = join(folder, 'partial.trec');
    const lines = readFileSync(theirs, 'utf8').split('\n');
    writeFileSync(partial, lines.filter((line) => !/^(q1-0|q2-0|q21-1) /.test(line)).join('\n'));
    const { result } = await run({
      theirs: readRun(theirs),
      part: readRun(partial),
      'with newest': [{ search: { run: { file: partial, k: 11 }, newest: { k: 13 } } }, { fuse: { only: 'newest' } }],
    });
    const count = result.queries.length;
    // q21-1 has no relevant turn: it counts for no arm.
    expect(result.warnings?.map(({ code, message }) => [code, message])).toEqual([
      [
        'missing-queries',
        `part: 2 of ${count} judged queries have no ranking in ${partial} and count 0 (q1-0, q2-0); add their rankings`,
      ],
      [
        'missing-queries',
        `with newest: 2 of ${count} judged queries have no ranking in ${partial} and get no candidate from it (q1-0, q2-0); add their rankings`,
      ],
    ]);
    expect((await run({ theirs: readRun(theirs) })).result).not.toHaveProperty('warnings');
  });
});
