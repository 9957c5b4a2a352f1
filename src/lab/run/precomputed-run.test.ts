import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSafetensors } from '../../core/files/safetensors.ts';
import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { loadDataset } from '../../data/registry.ts';
import { createEncoder, encoderOptions } from '../../index/encoders/registry.ts';
import { resolveConfig } from '../config/config.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';
import { runExperiment } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-precomputed-'));
afterAll(() => rmSync(folder, { recursive: true }));
const lsa = encoderOptions.parse({ encoder: 'lsa', dimension: 13 });
let backend: BackendName;

function writeVectors(name: string, ids: readonly string[], vectors: Float32Array): string {
  const path = join(folder, `${name}.safetensors`);
  const shape = [ids.length, vectors.length / ids.length];
  writeSafetensors(path, { tensors: { vectors: { shape, data: vectors } }, metadata: { ids: JSON.stringify(ids) } });
  return path;
}

/** The vectors that the table of an experiment with lsa is made from. */
async function writeOwnVectors(): Promise<{ turns: string; queries: string }> {
  const { corpus, queries, devConversations } = await loadDataset(
    { name: 'jsonl', path: folder, onDirtyRow: 'error', relevantGrade: 1 },
    { cacheFolder: null },
  );
  const fitTexts = corpus.turns.flatMap((turn) => (devConversations.has(turn.conversationId) ? [turn.text] : []));
  const encoder = await createEncoder(lsa, { fitTexts, seed: 3 });
  const encodeAll = async (name: string, rows: readonly { id: string; text: string }[]) =>
    writeVectors(
      name,
      rows.map(({ id }) => id),
      await encoder.encode(rows.map(({ text }) => text)),
    );
  return { turns: await encodeAll('turns', corpus.turns), queries: await encodeAll('queries', queries) };
}

function run(embedding: object, progress: StartProgress = ignoreProgress) {
  const arms = {
    cosine: [{ search: { flat: { k: 19 } } }],
    hybrid: [
      { search: { bm25: { k: 17 }, hnsw: { k: 17 } } },
      { fuse: { convex: { hnsw: 0.8, bm25: 'rest' } } },
      { blend: { unified: {} } },
    ],
  };
  const config = { ...buildSampleConfig(folder), embedding, arms };
  const context = { backend, cacheFolder: join(folder, 'cache'), command: 'ragpp run', progress };
  return runExperiment(resolveConfig(config, 'sample'), context);
}

let files: { turns: string; queries: string };
beforeAll(async () => {
  backend = await useBackend('wasm');
  writeSampleJsonl(folder);
  files = await writeOwnVectors();
});

test('precomputed vectors give the rankings of the encoder that they came from', async () => {
  const lines: (readonly [string, string | undefined])[] = [];
  const own = await run({ encoder: 'precomputed', ...files }, (stage) => ({
    update() {},
    finish: (remark) => void lines.push([stage, remark]),
  }));
  const original = await run({ encoder: 'lsa', dimension: 13 });
  expect(original.runs.size).toBe(2);
  expect([...own.runs]).toEqual([...original.runs]);
  expect(own.result.arms.map(({ perQuery }) => perQuery)).toEqual(original.result.arms.map(({ perQuery }) => perQuery));
  expect(lines.find(([stage]) => stage === 'precomputed vectors')?.[1]).toMatch(/^\d+ vectors of \S+ and \S+$/);
  const kept = readdirSync(join(folder, 'cache', 'embeddings'));
  expect(kept.filter((name) => !name.startsWith('lsa-'))).toEqual([]);
});

test('other vectors under the same path give other rankings', async () => {
  const before = await run({ encoder: 'precomputed', ...files });
  const { corpus } = await loadDataset(
    { name: 'jsonl', path: folder, onDirtyRow: 'error', relevantGrade: 1 },
    { cacheFolder: null },
  );
  const reversed = corpus.turns.map(({ id }) => id).reverse();
  const encoder = await createEncoder(lsa, { fitTexts: corpus.turns.map(({ text }) => text), seed: 3 });
  writeVectors('turns', reversed, await encoder.encode(corpus.turns.map(({ text }) => text)));
  const after = await run({ encoder: 'precomputed', ...files });
  expect([...after.runs]).not.toEqual([...before.runs]);
});
