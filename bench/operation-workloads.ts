import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '../src/core/numbers/random.ts';
import { buildUnchangingRows, FlatIndex } from '../src/index/vectors/flat.ts';
import { BM25_DEFAULTS, Bm25Index } from '../src/index/words/bm25.ts';
import { drawRecords, INDEXES, QUERY } from '../src/memory/engine/memory.fixture.ts';
import { openMemory } from '../src/memory/engine/open-memory.ts';
import { SAMPLE_ARMS, type SampleArm } from '../src/rank/retrieval/arms.fixture.ts';
import { retrieve } from '../src/rank/retrieval/retriever.ts';
import { createSampleWorkspace, drawSampleWorld } from '../src/rank/signals/corpus.fixture.ts';
import { drawClusteredVectors } from './clustered-vectors.ts';
import { trec } from './peers/works/trec.ts';

/** Runs `measured` around the work alone, after everything that the work needs is there. */
export type OperationWorkload = (measured: (work: () => Promise<unknown> | unknown) => Promise<void>) => Promise<void>;

const QUERIES = 24;

/** Words by a power law, as texts have them. */
function createTexts(count: number, seed: number, words: number): string[] {
  const stream = createRandom(seed, 'operation texts');
  const drawWord = () => `w${Math.floor(2000 * stream.uniform() ** 3)}`;
  return Array.from({ length: count }, () => Array.from({ length: words }, drawWord).join(' '));
}

/** BM25 over some turns: from 10,000 on it leaves out postings that cannot matter. */
const searchWords =
  (turns: number): OperationWorkload =>
  async (measured) => {
    const ids = Array.from({ length: turns }, (_, i) => `t${i}`);
    const index = new Bm25Index(ids, createTexts(turns, 3, 12), BM25_DEFAULTS);
    const cutoffs = new Int32Array(QUERIES).fill(turns);
    await measured(() =>
      index.search({ texts: createTexts(QUERIES, 5, 6), vectors: new Float32Array(0), cutoffs }, 10),
    );
  };

/** The best of all vectors for some queries at once. */
const searchVectors =
  (turns: number, dimension: number): OperationWorkload =>
  async (measured) => {
    const draw = (rows: number, name: string) => drawClusteredVectors(rows, dimension, 7, name);
    const ids = Array.from({ length: turns }, (_, i) => `t${i}`);
    const index = new FlatIndex(ids, buildUnchangingRows(draw(turns, 'turns'), dimension));
    const queries = { texts: Array<string>(QUERIES).fill(''), vectors: draw(QUERIES, 'queries') };
    await measured(() => index.search({ ...queries, cutoffs: new Int32Array(QUERIES).fill(turns) }, 10));
    index.dispose();
  };

const rankArm =
  (arm: SampleArm): OperationWorkload =>
  async (measured) => {
    const workspace = createSampleWorkspace(drawSampleWorld(11, 397, 30, 40));
    await measured(() => retrieve(workspace, SAMPLE_ARMS[arm]));
    workspace.dispose();
  };

const queryMemory =
  (records: number): OperationWorkload =>
  async (measured) => {
    const memory = await openMemory({ dimension: QUERY.length, indexes: { exact: INDEXES.exact } });
    await memory.addBatch(drawRecords(records));
    await measured(() => memory.query({ embedding: QUERY, k: 10 }));
    await memory.close();
  };

/** A work of the bench of peers, after those before it. */
const workOnRuns =
  (work: string): OperationWorkload =>
  async (measured) => {
    const folder = mkdtempSync(join(tmpdir(), 'ragpp-operations-'));
    await trec.prepare(folder, 'small', 7);
    const works = await trec.open(folder, 'wasm');
    for (const earlier of trec.listWorks('small')) {
      if (earlier === work) break;
      await works[earlier]!();
    }
    await measured(works[work]!);
    rmSync(folder, { recursive: true });
  };

/** The workloads by name. */
export const OPERATION_WORKLOADS: Readonly<Record<string, OperationWorkload>> = {
  'bm25, 3,000 turns': searchWords(3000),
  'bm25, 12,000 turns': searchWords(12_000),
  'flat, 3,000 turns': searchVectors(3000, 32),
  'arm hybrid': rankArm('hybrid'),
  'arm trajectory': rankArm('trajectory, 5'),
  'arm rcp': rankArm('rcp'),
  'arm ircp': rankArm('ircp, directed'),
  'arm unified': rankArm('unified'),
  'memory, 600 records': queryMemory(600),
  'read a run': workOnRuns('read-run'),
  'read judgements': workOnRuns('read-qrels'),
  'evaluate a run': workOnRuns('evaluate'),
};
