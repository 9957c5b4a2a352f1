import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom } from '../src/core/numbers/random.ts';

export interface TrecSizes {
  readonly queries: number;
  /** Documents that the run ranks for each query. */
  readonly documents: number;
  readonly seed: number;
}

/** Documents that are judged of each query: of the ranking, and others. */
export const JUDGED = { ranked: 8, others: 4 } as const;
const COLLECTION = 1_000_000;

export const locateTrecFile = (folder: string, kind: 'run' | 'qrels') => join(folder, `${kind}.trec`);

/** Writes a run, best first, with scores of six decimals, and judgements. */
export function writeTrecWorkload(folder: string, { queries, documents, seed }: TrecSizes): void {
  const stream = createRandom(seed, 'trec workload');
  const run: string[] = [];
  const qrels: string[] = [];
  const drawId = () => `doc-${String(stream.integer(COLLECTION)).padStart(7, '0')}`;
  for (let query = 0; query < queries; query++) {
    const ids = new Set<string>();
    while (ids.size < documents + JUDGED.others) ids.add(drawId());
    const drawn = [...ids];
    const scores = Float64Array.from({ length: documents }, () => 20 * stream.uniform())
      .sort()
      .reverse();
    for (const [rank, score] of scores.entries())
      run.push(`q${query} Q0 ${drawn[rank]} ${rank + 1} ${score.toFixed(6)} sample\n`);
    const judged = stream.shuffle(drawn.slice(0, documents)).slice(0, JUDGED.ranked);
    for (const id of judged) qrels.push(`q${query} 0 ${id} ${stream.integer(4)}\n`);
    for (const id of drawn.slice(documents)) qrels.push(`q${query} 0 ${id} 1\n`);
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(locateTrecFile(folder, 'run'), run.join(''));
  writeFileSync(locateTrecFile(folder, 'qrels'), qrels.join(''));
}
