import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom } from '../../../src/core/numbers/random.ts';
import { type EvaluationOptions, evaluate } from '../../../src/eval/metrics/evaluate.ts';
import { readQrels, readRun } from '../../../src/eval/trec/trec-files.ts';
import type { Qrels, Run } from '../../../src/model/run.ts';
import { compareNumbers, type PeerSize, type Result, type WorkGroup } from '../work.ts';

const QUERIES: Readonly<Record<PeerSize, number>> = { small: 500, published: 10_000 };
/** Documents of a query: ranked by the run, judged among these, and judged besides. */
const [DOCUMENTS, JUDGED, JUDGED_BESIDES] = [100, 8, 4];
const COLLECTION = 1_000_000;
const METRICS = ['ndcg@10', 'recall@10', 'rr', 'map', 'p@10'];
const EVALUATION: EvaluationOptions = { relevantGrade: 1, unanswerable: 'count', holeDepth: 10 };
const TOLERANCE = 1e-9;

const locate = (folder: string, kind: 'run' | 'qrels') => join(folder, `${kind}.trec`);

/** A run, best first, with scores of six decimals, and judgements. */
function writeTrecFiles(folder: string, queries: number, seed: number): void {
  const stream = createRandom(seed, 'trec workload');
  const run: string[] = [];
  const qrels: string[] = [];
  const drawId = () => `doc-${String(stream.integer(COLLECTION)).padStart(7, '0')}`;
  for (let query = 0; query < queries; query++) {
    const ids = new Set<string>();
    while (ids.size < DOCUMENTS + JUDGED_BESIDES) ids.add(drawId());
    const drawn = [...ids];
    const scores = Float64Array.from({ length: DOCUMENTS }, () => 20 * stream.uniform())
      .sort()
      .reverse();
    for (const [rank, score] of scores.entries())
      run.push(`q${query} Q0 ${drawn[rank]} ${rank + 1} ${score.toFixed(6)} sample\n`);
    const judged = stream.shuffle(drawn.slice(0, DOCUMENTS)).slice(0, JUDGED);
    for (const id of judged) qrels.push(`q${query} 0 ${id} ${stream.integer(4)}\n`);
    for (const id of drawn.slice(DOCUMENTS)) qrels.push(`q${query} 0 ${id} 1\n`);
  }
  writeFileSync(locate(folder, 'run'), run.join(''));
  writeFileSync(locate(folder, 'qrels'), qrels.join(''));
}

type Row = readonly [query: number, document: number, value: number];

/** Query, document and value of each row, by query and document. */
function listRows(rows: Iterable<readonly [query: string, id: string, value: number]>): Result {
  const numbers: Row[] = Array.from(rows, ([query, id, value]) => [Number(query.slice(1)), Number(id.slice(4)), value]);
  numbers.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return Float64Array.from(numbers.flat());
}

function* iterateRun(run: Run) {
  for (const [query, ranking] of run) for (const { id, score } of ranking) yield [query, id, score] as const;
}

function* iterateQrels(qrels: Qrels) {
  for (const [query, grades] of qrels) for (const [id, grade] of grades) yield [query, id, grade] as const;
}

function listValues({ queryIds, values }: ReturnType<typeof evaluate>): Result {
  const numbers = queryIds.map((id) => Number(id.slice(1)));
  const order = [...numbers.keys()].sort((a, b) => numbers[a]! - numbers[b]!);
  return Float64Array.from(order.flatMap((i) => METRICS.map((metric) => values[metric]![i]!)));
}

/** Reading a run and judgements, and evaluating the run by five metrics. */
export const trec: WorkGroup = {
  listWorks: () => ['read-run', 'read-qrels', 'evaluate'],
  peers: [{ name: 'pytrec_eval', requirements: 'trec-requirements.txt' }],
  describe: (size) => `a run of ${QUERIES[size].toLocaleString('en')} queries with ${DOCUMENTS} documents each`,
  prepare: (folder, size, seed) => writeTrecFiles(folder, QUERIES[size], seed),
  open: async (folder) => {
    let run: Run = new Map();
    let qrels: Qrels = new Map();
    return {
      'read-run': () => {
        run = new Map();
        run = readRun(locate(folder, 'run'));
        return () => listRows(iterateRun(run));
      },
      'read-qrels': () => {
        qrels = readQrels(locate(folder, 'qrels'));
        return () => listRows(iterateQrels(qrels));
      },
      evaluate: () => {
        const evaluation = evaluate(run, qrels, METRICS, EVALUATION);
        return () => listValues(evaluation);
      },
    };
  },
  compare: (_work, ours, theirs) => compareNumbers(ours, theirs, TOLERANCE),
};
