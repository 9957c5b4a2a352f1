import type { ExperimentResult } from '../../measure/result.ts';
import { parseSystem } from '../../measure/system.fixture.ts';
import { buildJudgedDataset, scoreSystems } from '../../stored/score.ts';
import { inventResult } from './invented-result.fixture.ts';

const QUERIES = 7;
const DOCUMENTS = 13;

/** Two invented systems, scored without a dataset: 13 documents each for seven queries with a relevant one. */
export function inventScoredResult(): ExperimentResult {
  const queries = Array.from({ length: QUERIES }, (_, q) => q);
  const rankDocuments = (name: string, step: number) =>
    parseSystem(
      name,
      `${name}.trec`,
      queries.flatMap((q) =>
        Array.from(
          { length: DOCUMENTS },
          (_, rank) => `q${q} Q0 d${(q + step * rank) % DOCUMENTS} ${rank + 1} ${1 / (1 + rank)} ${name}`,
        ),
      ),
    );
  const qrels = new Map(queries.map((q) => [`q${q}`, new Map([[`d${(5 * q) % DOCUMENTS}`, 1]])]));
  const options = {
    name: 'scored',
    metrics: ['mrr@10'],
    baseline: 'first',
    test: 'permutation',
    correction: 'holm',
    samples: 100,
    level: 0.95,
    seed: 1,
  } as const;
  const { environment } = inventResult(3, { arms: 2, threads: 3, turnsAThread: 5, top: 2 });
  const judged = buildJudgedDataset({
    qrels,
    relevantGrade: 1,
    superseded: null,
    documents: null,
    clusters: null,
    strata: new Map(),
  });
  const systems = [rankDocuments('first', 1), rankDocuments('second', 3)];
  return scoreSystems(systems, judged, options, environment).result;
}
