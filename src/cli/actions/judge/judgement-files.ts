import { existsSync } from 'node:fs';
import { ValidationError } from '../../../core/errors/errors.ts';
import { printError } from '../../../core/terminal/progress.ts';
import {
  assertIndependentJudge,
  readJudgementFile,
  type StatedJudgement,
} from '../../../lab/judging/judgement-file.ts';
import { describeSmallStratum, findSmallStrata } from '../../../lab/measure/warning.ts';
import { parseNamedFile } from '../../../lab/stored/system-files.ts';
import type { PairToJudge } from '../../../model/dataset.ts';

/** Prints a warning for each stratum with fewer than 50 queries. @param queries a stratum a query, by id. */
export function warnOfSmallStrata(queries: ReadonlyMap<string, string | null>): void {
  for (const small of findSmallStrata(queries.values()))
    printError(`ragpp: warning (small-stratum): ${describeSmallStratum(small)}\n`);
}

/** Grades that a person wrote into a file are not overwritten. @throws ValidationError if the file exists. */
export function assertNewFile(path: string): void {
  if (existsSync(path))
    throw new ValidationError(`file exists and may hold grades: ${path}; name another file, or remove it`, { path });
}

/** The judgements of a typed file, and the number of its lines without a grade. */
export interface TypedJudgements {
  readonly path: string;
  readonly judgements: readonly StatedJudgement[];
  readonly open: number;
}

/**
 * Reads `JUDGE=FILE`, or a file whose rows name their judges.
 *
 * @param pool states who wrote the queries, beside what the file itself states.
 * @throws ValidationError as {@link readJudgementFile} does, for a file without a grade, and for a judge who wrote a query that it judges.
 */
export function readTypedJudgements(typed: string, pool: readonly PairToJudge[] = []): TypedJudgements {
  const { name, path } = parseNamedFile(typed);
  const { judgements, open } = readJudgementFile(path, name);
  if (judgements.length === 0)
    throw new ValidationError(`file has no grade: ${path}; write grades from 0 to 3 in the place of null`, { path });
  const generators = new Map(pool.map(({ queryId, generator }) => [queryId, generator]));
  for (const { judge, queryId, generator } of judgements)
    assertIndependentJudge(
      judge,
      [generator, generators.get(queryId)].filter((one) => one !== null && one !== undefined),
    );
  return { path, judgements, open };
}

/** The one judge of a file. @throws ValidationError if there are several. */
export function findOnlyJudge({ path, judgements }: TypedJudgements): string {
  const judges = [...new Set(judgements.map(({ judge }) => judge))];
  if (judges.length > 1)
    throw new ValidationError(`file has several judges: ${path} (${judges.join(', ')}); write a file for each judge`, {
      path,
      judges,
    });
  return judges[0] as string;
}
