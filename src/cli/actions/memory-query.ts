import type { Command } from 'commander';
import { shortenShown } from '../../core/display/display.ts';
import { RecordNotFoundError, ValidationError } from '../../core/errors/errors.ts';
import { ignoreProgress, printError, printOut } from '../../core/terminal/progress.ts';
import { formatMinute } from '../../core/text/format.ts';
import { parse } from '../../core/validation/validation.ts';
import { time } from '../../data/jsonl/jsonl-rows.ts';
import type { Memory } from '../../memory/engine/memory.ts';
import type { QueryBundle, QueryResponse } from '../../memory/engine/query-response.ts';
import { computeObservedMean, type OutcomePool } from '../../memory/outcomes/outcome-statistics.ts';
import type { PriorBundle } from '../../memory/outcomes/prior-bundle.ts';
import type { Filter, FilterVariables } from '../../model/filter/filter.ts';
import { readFilter } from '../../model/filter/filter-schema.ts';
import { showContext, showRecord } from '../../model/turns/conversation.ts';
import { type MemoryRecord, toTurn } from '../../model/turns/turn.ts';
import { alignColumns } from '../process/columns.ts';
import { hasArm, openFolderArm } from './memory/folder-arm.ts';
import { type MemorySettings, readMemoryFolder } from './memory/memory-folder.ts';
import { openEncoder } from './memory/open-encoder.ts';
import { runAtMoment, runWithAskedMemory } from './memory/open-folder.ts';
import { runWithRetrievals } from './memory/retrievals.ts';
import { readVector } from './vector-argument.ts';

interface QueryFlags {
  readonly text?: string;
  readonly sensitive?: boolean;
  readonly vector?: string;
  readonly id?: string;
  readonly k?: number;
  readonly filter?: string;
  readonly index: readonly string[];
  readonly weighted?: true;
  readonly pool: OutcomePool;
  readonly asOf?: string;
  readonly at?: string;
  readonly log?: true;
  readonly format: 'text' | 'json';
  readonly cache: string;
}

/** What is asked, as a vector; a record that asks has values for the filter, and is no answer to itself. */
interface Question {
  readonly embedding: Float32Array;
  readonly variables?: FilterVariables;
  readonly hidden?: Filter;
}

async function encodeText(
  text: string,
  folder: string,
  settings: MemorySettings,
  { cache, sensitive = false }: QueryFlags,
): Promise<Float32Array> {
  if (settings.encoder === null)
    throw new ValidationError(
      `the encoder of ${folder} is not known, so --text cannot be embedded; search by --vector or --id, or import with --encoder`,
      { folder },
    );
  const encoder = await openEncoder(settings.encoder, cache, ignoreProgress);
  try {
    return await encoder.encode([text], ignoreProgress, { owners: [{ kind: 'query', id: 'query', sensitive }] });
  } finally {
    encoder.dispose();
  }
}

function askByRecord(memory: Memory, folder: string, id: string): Question {
  const record = memory.get(id);
  if (record === null) throw new RecordNotFoundError(`memory ${folder}`, id);
  const { text: _, attributes, ...own } = toTurn(record);
  return {
    embedding: record.embedding,
    variables: { ...attributes, ...own },
    hidden: { op: '!=', field: 'id', value: id },
  };
}

/** The filter of the flags, without the record that asks. */
function joinFilters(written: string | undefined, hidden: Filter | undefined): Filter | undefined {
  if (written === undefined) return hidden;
  const filter = readFilter(written);
  return hidden === undefined ? filter : { op: 'and', of: [filter, hidden] };
}

function buildBundle({ embedding, variables, hidden }: Question, flags: QueryFlags): QueryBundle {
  const { k, index, weighted = false, pool, asOf } = flags;
  const filter = joinFilters(flags.filter, hidden);
  return {
    embedding,
    weighted,
    pool,
    ...(k === undefined ? {} : { k }),
    ...(filter === undefined ? {} : { filter }),
    ...(variables === undefined ? {} : { variables }),
    ...(index.length === 0 ? {} : { indexNames: [...index] }),
    ...(asOf === undefined ? {} : { asOf: parse(time, asOf, '--as-of') }),
  };
}

const formatFigure = (value: number | null) => (value === null ? '-' : String(Number(value.toPrecision(4))));
/** Characters of the text of a record. */
const SHOWN = 60;
/** The number of candidates of an arm without --k. */
const ARM_CANDIDATES = 10;

/** The outcome of a candidate is the mean of its observations that the prior pools. */
function formatCandidates(
  candidates: QueryResponse['candidates'],
  read: (id: string) => MemoryRecord,
  pool: OutcomePool,
): string {
  const rows = candidates.map(({ rank, recordId, score, distance }) => {
    const record = read(recordId);
    const outcome = computeObservedMean(record, pool);
    const figures = [score, distance, outcome].map(formatFigure);
    return [
      String(rank),
      recordId,
      ...figures,
      formatMinute(record.createdAt),
      shortenShown(showContext(record), SHOWN),
    ];
  });
  return alignColumns([['rank', 'record', 'score', 'distance', 'outcome', 'time (UTC)', 'context'], ...rows]);
}

function formatPrior({ count, records, mean, interval, confidence }: PriorBundle, candidates: number): string {
  const observed = count === (records ?? 0) ? 'the outcomes' : `${count} outcomes`;
  const heading = `prior over ${observed} of ${records ?? 0} of ${candidates} candidates`;
  if (mean === null) return `${heading}: not known, no candidate has an outcome`;
  const range = interval === null ? 'not known, outcomes do not differ' : interval.map(formatFigure).join(' to ');
  const rows = [
    ['  mean', formatFigure(mean)],
    ['  95 % interval', range],
    ['  confidence', formatFigure(confidence)],
  ];
  return `${heading}\n${alignColumns(rows)}`;
}

function printAnswer(answer: QueryResponse, memory: Memory, { format, pool }: QueryFlags): void {
  const read = (id: string) => memory.get(id) as MemoryRecord;
  if (format === 'text') {
    const prior = formatPrior(answer.prior, answer.candidates.length);
    printOut(`${prior}\n\n${formatCandidates(answer.candidates, read, pool)}\n`);
    return;
  }
  const candidates = answer.candidates.map((candidate) => {
    const { embedding: _, ...record } = read(candidate.recordId);
    const salience = memory.conservation.getSalience(record.id);
    return { ...candidate, salience, record: showRecord(record) };
  });
  printOut(`${JSON.stringify({ ...answer, candidates }, null, 2)}\n`);
}

/** Prints the ranking of the arm for a text. @returns the ids. */
async function printArmAnswer(memory: Memory, text: string, flags: QueryFlags): Promise<string[]> {
  const { k, weighted = false, pool, asOf, sensitive } = flags;
  const answer = await memory.ask({
    ...{ text, weighted, pool, k: k ?? ARM_CANDIDATES },
    ...(asOf !== undefined && { asOf: parse(time, asOf, '--as-of') }),
    ...(sensitive && { attributes: { sensitive } }),
  });
  const found = answer.ranking.map((ranked, i) => {
    const { embedding: _, ...record } = memory.get(ranked.id) as MemoryRecord;
    return { ...ranked, rank: i + 1, salience: memory.conservation.getSalience(ranked.id), record };
  });
  if (flags.format === 'json')
    printOut(
      `${JSON.stringify({ ...answer, ranking: found.map((one) => ({ ...one, record: showRecord(one.record) })) }, null, 2)}\n`,
    );
  else {
    const rows = found.map(({ id, rank, score, record }) => [
      ...[String(rank), id, formatFigure(score), formatFigure(computeObservedMean(record, pool))],
      ...[formatMinute(record.createdAt), shortenShown(showContext(record), SHOWN)],
    ]);
    const table = alignColumns([['rank', 'record', 'score', 'outcome', 'time (UTC)', 'context'], ...rows]);
    printOut(`${answer.arm}\n${formatPrior(answer.prior, found.length)}\n\n${table}\n`);
  }
  return found.map(({ id }) => id);
}

/** Asks the arm of a folder, which embeds the text. */
async function queryArm(folder: string, settings: MemorySettings, text: string, flags: QueryFlags): Promise<void> {
  const arm = await openFolderArm(folder, flags.cache, ignoreProgress);
  try {
    await runWithAskedMemory(
      folder,
      settings,
      (memory) =>
        runAtMoment(memory, flags.at, async (asked) => {
          const retrieved = await printArmAnswer(asked, text, flags);
          if (flags.log) await logAnswer(folder, retrieved, text);
        }),
      arm,
    );
  } finally {
    await arm?.dispose();
  }
}

/** The number of the event goes to the errors' stream, so that --format json stays JSON. */
async function logAnswer(folder: string, retrieved: readonly string[], query: string): Promise<void> {
  const event = await runWithRetrievals(folder, (log) =>
    log.record({ query, retrieved, strategy: 'ragpp memory query', time: Date.now() }),
  );
  printError(`event: ${event}\n`);
}

export async function runMemoryQuery(folder: string, flags: QueryFlags, command: Command): Promise<void> {
  const { text, vector, id } = flags;
  if ([text, vector, id].filter((given) => given !== undefined).length !== 1)
    command.error('error: give exactly one of --text, --vector and --id', { exitCode: 2 });
  if (flags.sensitive && text === undefined)
    command.error('error: --sensitive is about a text; give --text, or leave it out', { exitCode: 2 });
  const { settings } = readMemoryFolder(folder);
  if (text !== undefined && hasArm(folder)) {
    if (flags.filter !== undefined || flags.index.length > 0)
      command.error('error: an arm answers, whose steps filter and search; leave out --filter and --index', {
        exitCode: 2,
      });
    return queryArm(folder, settings, text, flags);
  }
  const given = vector === undefined ? null : await readVector(vector);
  const embedding = text === undefined ? given : await encodeText(text, folder, settings, flags);
  const ask = async (memory: Memory) => {
    const question = embedding === null ? askByRecord(memory, folder, id as string) : { embedding };
    const answer = await memory.query(buildBundle(question, flags));
    printAnswer(answer, memory, flags);
    if (!flags.log) return;
    const retrieved = answer.candidates.map(({ recordId }) => recordId);
    await logAnswer(folder, retrieved, (text ?? vector ?? id) as string);
  };
  await runWithAskedMemory(folder, settings, (memory) => runAtMoment(memory, flags.at, ask));
}
