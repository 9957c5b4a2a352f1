import { computeHash } from '../../core/hash/hash.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { RunLine } from '../../index/runs/run-lines.ts';
import type { Run } from '../../model/run.ts';
import { compareScored, type Scored } from '../../model/turns/tie-rule.ts';
import type { ProtocolWarning } from './result.ts';
import { describeWarning, joinExamples } from './warning.ts';

function groupByQuery(lines: readonly RunLine[]): RunLine[][] {
  const groups = new Map<string, RunLine[]>();
  for (const line of lines) getOrCompute(groups, line.queryId, () => [] as RunLine[]).push(line);
  return [...groups.values()];
}

function warnOfScores(system: string, lines: readonly RunLine[]): ProtocolWarning[] {
  const faulty = lines.filter(({ score }) => !Number.isFinite(score));
  if (faulty.length === 0) return [];
  const examples = joinExamples(faulty.map(({ at }) => at));
  return [
    describeWarning(
      'score-not-finite',
      system,
      `${faulty.length} lines without a finite score do not count (${examples}); write a number as score`,
    ),
  ];
}

function warnOfRepeats(system: string, queries: readonly (readonly RunLine[])[]): ProtocolWarning[] {
  const repeated = queries.flatMap((lines) => {
    const known = new Set<string>();
    return lines.filter(({ id }) => known.has(id) || !known.add(id));
  });
  if (repeated.length === 0) return [];
  const examples = joinExamples(repeated.map(({ at, id }) => `${id} at ${at}`));
  return [
    describeWarning(
      'repeated-document',
      system,
      `${repeated.length} lines repeat a document of their query, and only its first line counts (${examples}); list each document once`,
    ),
  ];
}

/** Lines in the order that the file means: by rank if every line has one, else as they are written. */
function orderAsMeant(lines: readonly RunLine[]): RunLine[] {
  const finite = lines.filter(({ score }) => Number.isFinite(score));
  if (finite.some(({ rank }) => rank === null)) return finite;
  return finite.toSorted((a, b) => (a.rank as number) - (b.rank as number));
}

/** How the meant order of a query's lines differs from the order of their scores. */
function compareOrders(lines: readonly RunLine[]): 'same' | 'ties' | 'ascending' | 'mixed' {
  const meant = orderAsMeant(lines);
  const pairs = meant.slice(1).map((line, i) => [meant[i] as RunLine, line] as const);
  if (pairs.every(([a, b]) => compareScored(a, b) <= 0)) return 'same';
  if (pairs.every(([a, b]) => a.score >= b.score)) return 'ties';
  if (pairs.every(([a, b]) => a.score <= b.score)) return 'ascending';
  return 'mixed';
}

const ORDER_WARNINGS = [
  {
    order: 'ascending',
    code: 'scores-ascend',
    text: 'have scores that rise with the rank, as distances do, and the highest score ranks first; negate the scores',
  },
  {
    order: 'mixed',
    code: 'rank-disagrees-with-score',
    text: 'have ranks or lines in another order than their scores, which alone count; write scores in the order of the ranks',
  },
  {
    order: 'ties',
    code: 'ties-out-of-order',
    text: 'order equal scores otherwise than trec_eval, which ranks the higher document id first; write distinct scores',
  },
] as const;

function warnOfOrder(system: string, queries: readonly (readonly RunLine[])[]): ProtocolWarning[] {
  const orders = queries.map((lines) => ({ queryId: (lines[0] as RunLine).queryId, order: compareOrders(lines) }));
  return ORDER_WARNINGS.flatMap(({ order, code, text }) => {
    const found = orders.filter((query) => query.order === order);
    if (found.length === 0) return [];
    const ids = joinExamples(found.map(({ queryId }) => queryId));
    return [describeWarning(code, system, `${found.length} of ${orders.length} queries ${text} (${ids})`)];
  });
}

function warnOfTags(system: string, lines: readonly RunLine[]): ProtocolWarning[] {
  const tags = new Set(lines.map(({ tag }) => tag));
  if (tags.size < 2) return [];
  const text = `the file holds ${tags.size} run tags (${joinExamples([...tags])}) and is read as one system; write a file for each system`;
  return [describeWarning('several-tags', system, text)];
}

/** What is wrong with the lines of one run file, whatever they are measured against. */
function findLineWarnings(system: string, lines: readonly RunLine[]): ProtocolWarning[] {
  const queries = groupByQuery(lines);
  return [
    ...warnOfScores(system, lines),
    ...warnOfRepeats(system, queries),
    ...warnOfOrder(system, queries),
    ...warnOfTags(system, lines),
  ];
}

/** The rankings of one system, made from the lines of its file. */
export interface System {
  /** The name of its arm. */
  readonly name: string;
  /** The file, as typed. */
  readonly source: string;
  readonly tags: readonly string[];
  readonly run: Run;
  /** Identity of the lines. */
  readonly hash: string;
  /** Warnings about the lines themselves. */
  readonly warnings: readonly ProtocolWarning[];
}

/** The lines that count: scores that are finite, and the first line of each document of a query. */
function buildRun(lines: readonly RunLine[]): Run {
  const table = new Map<string, Map<string, Scored>>();
  for (const { queryId, id, score } of lines) {
    const row = getOrCompute(table, queryId, () => new Map<string, Scored>());
    if (Number.isFinite(score) && !row.has(id)) row.set(id, { id, score });
  }
  return new Map(Array.from(table, ([queryId, row]) => [queryId, [...row.values()].sort(compareScored)]));
}

/**
 * A system from the lines of its run file. Lines without a finite score, and later lines of a document that a query has
 * already, do not count; both are among the warnings.
 */
export function buildSystem(name: string, source: string, lines: readonly RunLine[]): System {
  return {
    name,
    source,
    tags: [...new Set(lines.map(({ tag }) => tag))].filter((tag) => tag !== ''),
    run: buildRun(lines),
    hash: computeHash(lines.map(({ queryId, id, score }) => [queryId, id, String(score)])),
    warnings: findLineWarnings(name, lines),
  };
}
