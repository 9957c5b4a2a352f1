import { ValidationError } from '../../core/errors/errors.ts';
import { printError, printOut } from '../../core/terminal/terminal.ts';
import { compareJudges, type JudgeAgreement, passesGate } from '../../lab/judging/agreement.ts';
import { isSameAuthor, readPool } from '../../lab/judging/judgement-file.ts';
import { buildQrels } from '../../lab/judging/merge.ts';
import { GRADES, type PairToJudge } from '../../model/dataset.ts';
import { alignColumns } from '../process/columns.ts';
import { FailedCheck } from '../process/failed-check.ts';
import { findOnlyJudge, readTypedJudgements, type TypedJudgements } from './judge/judgement-files.ts';

interface AgreementFlags {
  readonly pool: readonly string[];
  readonly gate: number;
  readonly format: 'text' | 'json';
}

const show = (value: number | null) => (value === null ? 'undefined' : value.toFixed(3));

function formatConfusion({ confusion }: JudgeAgreement, [first, second]: readonly [string, string]): string {
  const rows = confusion.map((row, grade) => [`${first} ${grade}`, ...row.map(String)]);
  return alignColumns([['', ...GRADES.map((grade) => `${second} ${grade}`)], ...rows]);
}

function formatFigures(name: string, { pairs, observed, ...rest }: JudgeAgreement): string[] {
  return [name, String(pairs), ...[observed, rest.kappa, rest.linearKappa, rest.quadraticKappa].map(show)];
}

function formatText(
  agreement: JudgeAgreement,
  strata: Readonly<Record<string, JudgeAgreement>>,
  judges: readonly [string, string],
): string {
  const { pairs, onlyFirst, onlySecond, means } = agreement;
  const [first, second] = judges;
  const heading = `${pairs} pairs judged by both; ${onlyFirst} by ${first} alone, ${onlySecond} by ${second} alone\n`;
  if (means === null) return heading;
  const table = [
    ['', 'pairs', 'equal', 'kappa', 'linear', 'quadratic'],
    formatFigures('all', agreement),
    ...Object.entries(strata).map(([name, one]) => formatFigures(name, one)),
  ];
  const lenient = `mean grade: ${first} ${show(means[0])}, ${second} ${show(means[1])}\n`;
  return `${heading}\n${formatConfusion(agreement, judges)}\n\n${alignColumns(table)}\n\n${lenient}`;
}

/** The agreement within each stratum that the pool or a file states, by name. */
function compareByStratum(
  files: readonly [TypedJudgements, TypedJudgements],
  pool: readonly PairToJudge[],
): Record<string, JudgeAgreement> {
  const stated = [...files.flatMap(({ judgements }) => judgements), ...pool];
  const strata = new Map(
    stated.flatMap(({ queryId, stratum }) => (stratum === null ? [] : [[queryId, stratum] as const])),
  );
  const names = [...new Set(strata.values())].sort();
  const select = ({ judgements }: TypedJudgements, name: string) =>
    buildQrels([judgements.filter(({ queryId }) => strata.get(queryId) === name)]);
  return Object.fromEntries(names.map((name) => [name, compareJudges(select(files[0], name), select(files[1], name))]));
}

export function runJudgeAgreement(a: string, b: string, { pool: pools, gate, format }: AgreementFlags): void {
  const pool = pools.flatMap(readPool);
  const files = [readTypedJudgements(a, pool), readTypedJudgements(b, pool)] as const;
  const judges = [findOnlyJudge(files[0]), findOnlyJudge(files[1])] as const;
  if (isSameAuthor(...judges))
    throw new ValidationError(`both files are of one judge: ${judges[0]}; name the files of two judges`, { judges });
  const agreement = compareJudges(buildQrels([files[0].judgements]), buildQrels([files[1].judgements]));
  const strata = compareByStratum(files, pool);
  const passed = passesGate(agreement, gate);
  if (format === 'json') printOut(`${JSON.stringify({ judges, gate, passed, ...agreement, strata }, null, 2)}\n`);
  else printOut(formatText(agreement, strata, judges));
  if (passed) return;
  printError(
    `ragpp: kappa of ${judges.join(' and ')} is ${show(agreement.kappa)}, below the gate of ${gate}; do not use these grades: correct the instructions or change the judge, and judge again\n`,
  );
  throw new FailedCheck('kappa below the gate');
}
