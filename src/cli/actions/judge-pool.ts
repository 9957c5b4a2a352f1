import { ValidationError } from '../../core/errors/errors.ts';
import { writeAtomic } from '../../core/files/files.ts';
import { printError, printOut } from '../../core/terminal/terminal.ts';
import { formatPool, type PoolLine } from '../../lab/judging/judgement-file.ts';
import { buildQrels } from '../../lab/judging/merge.ts';
import { type PooledPair, poolRuns } from '../../lab/judging/pool.ts';
import { readSystems } from '../../lab/stored/system-files.ts';
import { assertNewFile, readTypedJudgements, warnOfSmallStrata } from './judge/judgement-files.ts';
import { type JudgingTexts, readJudgingTexts, type TextFlags } from './judge/pool-texts.ts';

interface PoolFlags extends TextFlags {
  readonly into: string;
  readonly depth: number;
  readonly seed: number;
  readonly generator?: string;
  readonly judged: readonly string[];
}

/**
 * True if the text of the query may reveal a sensitive record: its own mark, or that of a record it was written from.
 */
function isSensitiveQuery({ queries, documents }: JudgingTexts, queryId: string): boolean {
  const query = queries.get(queryId);
  return query?.sensitive === true || query?.sources.some((id) => documents.get(id)?.sensitive === true) === true;
}

function buildLine({ queryId, id }: PooledPair, texts: JudgingTexts, given: string | undefined): PoolLine {
  const query = texts.queries.get(queryId);
  const document = texts.documents.get(id);
  if (query === undefined)
    throw new ValidationError(`query has no text: ${queryId}; name a file with it as --queries`, { queryId });
  if (document === undefined)
    throw new ValidationError(`document has no text: ${id}; name a file with it as --documents`, { id });
  const generator = query.generator ?? given;
  if (generator === undefined)
    throw new ValidationError(
      `query states no generator: ${queryId}; add "generator" to the file of queries, or name the person or model that wrote them as --generator`,
      { queryId },
    );
  const sensitive = document.sensitive || isSensitiveQuery(texts, queryId);
  const { text: queryText, stratum } = query;
  return { queryId, queryText, id, text: document.text, stratum, generator, sensitive, grade: null, judge: null };
}

export async function runJudgePool(runs: readonly string[], flags: PoolFlags): Promise<void> {
  const { into, depth, seed, generator, judged } = flags;
  assertNewFile(into);
  const systems = readSystems(runs);
  for (const { code, message } of systems.flatMap(({ warnings }) => warnings))
    printError(`ragpp: warning (${code}): ${message}\n`);
  const rankings = systems.map(({ run }) => run);
  const known = buildQrels(judged.map((typed) => readTypedJudgements(typed).judgements));
  const all = poolRuns(rankings, { depth, seed });
  const pairs = poolRuns(rankings, { depth, seed, judged: known });
  if (pairs.length === 0)
    throw new ValidationError(`no pair is left to judge of ${all.length}; raise --depth, or name other runs`);
  const texts = await readJudgingTexts(runs, flags);
  const lines = pairs.map((pair) => buildLine(pair, texts, generator));
  writeAtomic(into, formatPool(lines));
  const strata = new Map(all.map(({ queryId }) => [queryId, texts.queries.get(queryId)?.stratum ?? null]));
  printOut(
    `${into}: ${lines.length} pairs of ${new Set(lines.map(({ queryId }) => queryId)).size} queries, from the first ${depth} documents of ${systems.length} systems\n`,
  );
  if (all.length > lines.length) printOut(`left out: ${all.length - lines.length} pairs that are judged\n`);
  const sensitive = lines.filter((line) => line.sensitive).length;
  if (sensitive > 0) printOut(`sensitive: ${sensitive} pairs, which ragpp judge ask does not send\n`);
  warnOfSmallStrata(strata);
}
