import { printError, printOut } from '../../core/terminal/terminal.ts';
import { findQueryFaults } from '../../lab/judging/query-check.ts';
import { QUERY_STRATA } from '../../lab/judging/query-strata.ts';
import { FailedCheck } from '../process/failed-check.ts';
import { warnOfSmallStrata } from './judge/judgement-files.ts';
import { readJudgingTexts, type TextFlags } from './judge/pool-texts.ts';

export async function runJudgeCheckQueries(path: string, flags: Omit<TextFlags, 'queries'>): Promise<void> {
  const { queries, documents } = await readJudgingTexts([], { ...flags, queries: path });
  const asked = [...queries.values()];
  const faults = findQueryFaults(asked, documents);
  const counts = QUERY_STRATA.map((name) => `${name} ${asked.filter(({ stratum }) => stratum === name).length}`);
  printOut(`${path}: ${asked.length} queries (${counts.join(', ')})\n`);
  for (const { queryId, message } of faults) printError(`${queryId}: ${message}\n`);
  warnOfSmallStrata(new Map(asked.map(({ id, stratum }) => [id, stratum])));
  if (faults.length > 0) throw new FailedCheck(`faults of queries: ${faults.length}`);
  printOut('no fault was found\n');
}
