import { writeAtomic } from '../../core/files/files.ts';
import { printOut } from '../../core/terminal/terminal.ts';
import { encodeQrels } from '../../eval/trec/trec-files.ts';
import { formatJudgements, readPool } from '../../lab/judging/judgement-file.ts';
import { buildQrels, mergeJudgements } from '../../lab/judging/merge.ts';
import { readTypedJudgements, warnOfSmallStrata } from './judge/judgement-files.ts';

interface CollectFlags {
  readonly pool: readonly string[];
  readonly into: string;
}

export function runJudgeCollect(files: readonly string[], { pool: pools, into }: CollectFlags): void {
  const pool = pools.flatMap(readPool);
  const read = files.map((typed) => readTypedJudgements(typed, pool));
  const { judgements, holes, repeated, differing } = mergeJudgements(
    read.map((file) => file.judgements),
    pool,
  );
  const isJson = into.endsWith('.jsonl');
  writeAtomic(into, isJson ? formatJudgements(judgements) : encodeQrels(buildQrels([judgements])));
  const judges = new Set(judgements.map(({ judge }) => judge));
  printOut(
    `${into}: ${judgements.length} judgements of ${new Set(judgements.map(({ queryId }) => queryId)).size} queries by ${[...judges].join(', ')}\n`,
  );
  const queries = new Set(holes.map(({ queryId }) => queryId)).size;
  printOut(`holes: ${holes.length} of ${pool.length} pooled pairs have no judgement (${queries} queries)\n`);
  if (repeated > 0)
    printOut(
      `several judges: ${repeated} pairs, of which ${differing} have different grades; the file named first counts\n`,
    );
  const judged = new Set(judgements.map(({ queryId }) => queryId));
  warnOfSmallStrata(
    new Map(pool.filter(({ queryId }) => judged.has(queryId)).map(({ queryId, stratum }) => [queryId, stratum])),
  );
}
