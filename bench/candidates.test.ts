import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../src/core/tensors/backend.ts';
import { HNSWLIB } from '../src/index/vectors/hnsw.ts';
import { HNSW_DEFAULTS } from '../src/index/vectors/vector-kind.ts';
import { timeFlat, timeHnsw } from './candidate-timing.ts';
import { formatTable } from './candidates.ts';
import { drawClusteredVectors } from './clustered-vectors.ts';
import { runBenchCommand } from './command.harness.ts';
import { detectVectorInstructions } from './hnswlib-build.ts';

describe('bench command', () => {
  test('an unknown name ends with 2 and the names that are known', async () => {
    expect(await runBenchCommand('candidate')).toMatchObject({
      status: 2,
      errors: expect.stringMatching(/^unknown bench: candidate\n(?:.*\n)+ {2}candidates /),
    });
  });

  test.each([
    [['--sizes', '7'], /--sizes/],
    [['--graph', '7,9'], /^--graph has not three numbers: 7,9; give M, efConstruction and efSearch\n$/],
    [['--size', 'seven'], /^--size is not an integer: seven; give one from 1\n$/],
  ])('a wrong option ends with 2: %j', async (args, message) => {
    const errors: unknown = expect.stringMatching(message);
    expect(await runBenchCommand('candidates', ...args)).toMatchObject({ status: 2, errors });
  });

  test('measures the installed build beside the exact index', async () => {
    const { status, output } = await runBenchCommand(
      'candidates',
      '--size',
      '101',
      '--dimension',
      '13',
      '--queries',
      '7',
      '--backend',
      'wasm',
    );
    expect(status).toBe(0);
    expect(output).toMatch(/^machine: .* backend wasm\ndata: 101 x 13 .* seed 7\n/);
    expect(output).toMatch(/\nflat \(exact\) .* 1\.00x .* 1\.0000\nhnsw, installed build \(.*\) .* 1\.0000\n/);
  });
});

describe('candidate timing', () => {
  const settings = { size: 211, dimension: 17, queries: 13, seed: 5, graph: HNSW_DEFAULTS };
  beforeAll(async () => void (await useBackend('wasm')));

  test('has a time for everything, and the recall against the exact search', async () => {
    for (const timing of [await timeFlat(settings), await timeHnsw(settings, HNSWLIB)]) {
      expect(timing.buildSeconds).toBeGreaterThan(0);
      expect(timing.singleMilliseconds).toBeGreaterThan(0);
      expect(timing.batchMilliseconds).toBeGreaterThan(0);
      expect(timing.recall).toBe(1); // efSearch is more than half of the corpus
    }
  });

  test('ratios are against the first row', () => {
    const list = (build: number, processor: number, single: number, batch: number, each: number, recall: number) => ({
      buildSeconds: build,
      buildProcessorSeconds: processor,
      singleMilliseconds: single,
      batchMilliseconds: batch,
      batchProcessorMilliseconds: each,
      recall,
    });
    const flat = list(0.1, 0.2, 4, 1, 1.5, 1);
    const hnsw = list(7.006, 6, 1, 2.5, 2, 0.98765);
    expect(
      formatTable([
        { name: 'flat', timing: flat },
        { name: 'hnsw', timing: hnsw },
      ]),
    ).toBe(
      [
        'index  build s  of cpu  single ms  vs flat  batch ms/query  of cpu  vs flat  recall@10',
        '-----  -------  ------  ---------  -------  --------------  ------  -------  ---------',
        'flat      0.10    0.20      4.000    1.00x           1.000   1.500    1.00x     1.0000',
        'hnsw      7.01    6.00      1.000    0.25x           2.500   2.000    2.50x     0.9877',
      ].join('\n'),
    );
  });
});

test('clustered vectors have length 1, and depend on the seed', () => {
  const [count, dimension] = [1009, 97];
  const vectors = drawClusteredVectors(count, dimension, 3, 'turns');
  const cosine = (i: number, j: number) => {
    let sum = 0;
    for (let d = 0; d < dimension; d++) sum += vectors[i * dimension + d]! * vectors[j * dimension + d]!;
    return sum;
  };
  for (let i = 0; i < count; i += 100) expect(cosine(i, i)).toBeCloseTo(1, 5);
  expect(drawClusteredVectors(count, dimension, 3, 'turns')).toEqual(vectors);
  expect(drawClusteredVectors(count, dimension, 4, 'turns')).not.toEqual(vectors);
});

test('the vector instructions of a build are read from its symbols', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hnswlib-symbols-'));
  mkdirSync(join(folder, 'build', 'Release'), { recursive: true });
  const read = (content: string) => {
    writeFileSync(join(folder, 'build', 'Release', 'addon.node'), content);
    return detectVectorInstructions(folder);
  };
  expect(read('…L2SqrSIMD16ExtAVX…InnerProductSIMD16ExtSSE…')).toBe('SSE');
  expect(read('…InnerProductSIMD16ExtSSE…InnerProductSIMD16ExtAVXEPKv…')).toBe('AVX');
  expect(read('…InnerProductSIMD16ExtAVX512EPKv…InnerProductSIMD16ExtAVX…')).toBe('AVX512');
  expect(read('…')).toBe('unknown, the symbols are stripped');
  rmSync(folder, { recursive: true });
});
