import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom } from '../../../src/core/numbers/random.ts';
import { readRun } from '../../../src/eval/trec/trec-files.ts';
import type { Scored } from '../../../src/model/turns/tie-rule.ts';
import { type FusionOptions, fuseLists, parseFusion } from '../../../src/ops/fusion/registry.ts';
import { compareRankings, type PeerSize, type Result, readSettings, type WorkGroup } from '../work.ts';

const QUERIES: Readonly<Record<PeerSize, number>> = { small: 50, published: 1_000 };
const RUNS = ['a', 'b', 'c', 'd'] as const;
/** Documents of each ranking, and those that the rankings of a query are drawn from. */
const [DOCUMENTS, DRAWN] = [100, 200];
const COLLECTION = 1_000_000;
/** The most documents of a fused ranking. */
const WIDTH = RUNS.length * DOCUMENTS;
const WORKS = { combmnz: parseFusion('mnz', 'the bench'), rrf: parseFusion('rrf', 'the bench') };
const TOLERANCE = 1e-12;

const locate = (folder: string, run: string) => join(folder, `${run}.trec`);

/** Runs of the same queries whose rankings share about half of their documents. No two scores of a ranking are equal. */
function writeRuns(folder: string, queries: number, seed: number): void {
  const stream = createRandom(seed, 'fusion workload');
  const lines = RUNS.map((): string[] => []);
  for (let query = 0; query < queries; query++) {
    const ids = new Set<string>();
    while (ids.size < DRAWN) ids.add(`doc-${String(stream.integer(COLLECTION)).padStart(7, '0')}`);
    for (const list of lines)
      for (const [rank, id] of stream
        .shuffle([...ids])
        .slice(0, DOCUMENTS)
        .entries()) {
        const score = DOCUMENTS - rank - 0.9 * stream.uniform();
        list.push(`q${query} Q0 ${id} ${rank + 1} ${score.toFixed(6)} sample\n`);
      }
  }
  for (const [i, run] of RUNS.entries()) writeFileSync(locate(folder, run), lines[i]!.join(''));
}

/** Document and score of each rank of each query; -1 and 0 behind the last document. */
function listRanks(rankings: readonly (readonly Scored[])[]): Result {
  const result = new Float64Array(2 * WIDTH * rankings.length);
  for (const [query, ranking] of rankings.entries())
    for (let rank = 0; rank < WIDTH; rank++) {
      const { id, score } = ranking[rank] ?? { id: 'doc--1', score: 0 };
      result.set([Number(id.slice(4)), score], 2 * (query * WIDTH + rank));
    }
  return result;
}

/** Fusing the rankings of several runs that were read. */
export const fusion: WorkGroup = {
  listWorks: () => Object.keys(WORKS),
  peers: [{ name: 'ranx', requirements: 'fusion-requirements.txt' }],
  describe: (size) =>
    `${RUNS.length} runs of ${QUERIES[size].toLocaleString('en')} queries with ${DOCUMENTS} documents each, min-max scores for CombMNZ, k 60 for RRF`,
  prepare: (folder, size, seed) => writeRuns(folder, QUERIES[size], seed),
  open: async (folder) => {
    const { size } = readSettings<{ readonly size: PeerSize }>(folder);
    const runs = RUNS.map((name) => [name, readRun(locate(folder, name))] as const);
    const queryIds = Array.from({ length: QUERIES[size] }, (_, query) => `q${query}`);
    const fuse = (options: FusionOptions) => {
      const rankings = queryIds.map((queryId) =>
        fuseLists(Object.fromEntries(runs.map(([name, run]) => [name, run.get(queryId)!])), options),
      );
      return () => listRanks(rankings);
    };
    return Object.fromEntries(Object.entries(WORKS).map(([work, options]) => [work, () => fuse(options)]));
  },
  compare: (_work, ours, theirs) => compareRankings(ours, theirs, WIDTH, TOLERANCE),
};
