import { existsSync } from 'node:fs';
import { ValidationError } from '../../core/errors/errors.ts';
import { writeAtomic } from '../../core/files/files.ts';
import { createTerminalProgress, printError, printOut } from '../../core/terminal/progress.ts';
import { parse } from '../../core/validation/validation.ts';
import { encodeQrels } from '../../eval/trec/trec-files.ts';
import { applyOverrides } from '../../lab/composition/config-file.ts';
import { compareJudges, type JudgeAgreement, passesGate } from '../../lab/judging/agreement.ts';
import { endpointJudgeOptions, judgePairs } from '../../lab/judging/endpoint-judge.ts';
import {
  formatJudgements,
  formatPool,
  isSameAuthor,
  type PoolLine,
  readPool,
} from '../../lab/judging/judgement-file.ts';
import { buildQrels, mergeJudgements, type PooledPair, poolRuns, sampleByStratum } from '../../lab/judging/pool.ts';
import { findQueryFaults } from '../../lab/judging/query-check.ts';
import { QUERY_STRATA } from '../../lab/judging/query-file.ts';
import { readSystems } from '../../lab/stored/system-files.ts';
import { GRADES, type Judgement, type PairToJudge } from '../../model/dataset.ts';
import { alignColumns } from '../process/columns.ts';
import { FailedCheck } from '../process/supervision.ts';
import {
  assertNewFile,
  findOnlyJudge,
  readTypedJudgements,
  type TypedJudgements,
  warnOfSmallStrata,
} from './judge/judgement-files.ts';
import { type JudgingTexts, readJudgingTexts, type TextFlags } from './judge/pool-texts.ts';

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

interface AskFlags {
  readonly baseUrl: string;
  readonly model: string;
  readonly into: string;
  readonly set: readonly string[];
}

const formatKey = ({ queryId, id }: { readonly queryId: string; readonly id: string }) => JSON.stringify([queryId, id]);

/**
 * The lines of a pool, with the grades that an interrupted call left.
 *
 * @throws ValidationError for a file of another pool or judge.
 */
function readBegun(pool: string, into: string, model: string): PoolLine[] {
  const lines = readPool(pool).map((line) => ({ ...line, grade: null, judge: null }));
  if (!existsSync(into)) return lines;
  const begun = readPool(into);
  const keys = lines.map(formatKey).join();
  if (begun.map(formatKey).join() !== keys)
    throw new ValidationError(`file is not of this pool: ${into}; name another file, or the pool that it is of`, {
      into,
      pool,
    });
  const other = begun.find(({ grade, judge }) => grade !== null && judge !== model);
  if (other !== undefined)
    throw new ValidationError(`file has grades of ${other.judge ?? 'no judge'}: ${into}; name another file`, { into });
  return begun;
}

export async function runJudgeAsk(pool: string, flags: AskFlags): Promise<void> {
  const { baseUrl, model, into, set } = flags;
  const options = parse(endpointJudgeOptions, applyOverrides({ baseUrl, model }, set), 'the options of the judge');
  const lines = new Map(readBegun(pool, into, model).map((line) => [formatKey(line), line]));
  const save = (judgements: readonly Judgement[]) => {
    for (const judged of judgements) {
      const { grade, judge } = judged;
      const key = formatKey(judged);
      lines.set(key, { ...(lines.get(key) as PoolLine), grade, judge });
    }
    writeAtomic(into, formatPool([...lines.values()]));
  };
  const open = [...lines.values()].filter(({ grade }) => grade === null);
  const { withheld, use } = await judgePairs(open, options, { progress: createTerminalProgress(), onJudged: save });
  const graded = [...lines.values()].filter(({ grade }) => grade !== null).length;
  save([]);
  printOut(`${into}: ${graded} of ${lines.size} pairs graded by ${model}\n`);
  if (withheld.length > 0)
    printOut(
      `withheld: ${withheld.length} sensitive pairs, which were not sent; a person on this machine judges them\n`,
    );
  printOut(`${use}\n`);
}

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

interface SampleFlags {
  readonly into: string;
  readonly share: number;
  readonly seed: number;
}

const NO_STRATUM = 'none';

function countByStratum(lines: readonly PoolLine[]): string {
  const counts = new Map<string, number>();
  for (const { stratum } of lines) counts.set(stratum ?? NO_STRATUM, (counts.get(stratum ?? NO_STRATUM) ?? 0) + 1);
  return Array.from(counts, ([stratum, count]) => `${stratum} ${count}`)
    .sort()
    .join(', ');
}

export function runJudgeSample(pool: string, { into, share, seed }: SampleFlags): void {
  assertNewFile(into);
  const lines = readPool(pool);
  const drawn = sampleByStratum(lines, {
    share,
    seed,
    getStratum: ({ stratum, grade }) => JSON.stringify([stratum, grade]),
    getKey: ({ queryId, id }) => [queryId, id],
  });
  // the person who checks a judge does not see its grades
  writeAtomic(into, formatPool(drawn.map((line) => ({ ...line, grade: null, judge: null }))));
  printOut(`${into}: ${drawn.length} of ${lines.length} pairs (${countByStratum(drawn)})\n`);
}

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
