import { ListHash } from '../../core/hash/hash.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { RunColumns } from '../../eval/trec/run-columns.ts';
import type { RunLine, VisitLine } from '../../index/runs/run-lines.ts';
import type { Run } from '../../model/run.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import type { ProtocolWarning } from './result.ts';
import { describeWarning, joinExamples, type WarningCode } from './warning.ts';

/** Lines in the order that the file means: by rank if every line has one, else as they are written. */
function orderAsMeant(lines: readonly RunLine[]): readonly RunLine[] {
  if (lines.some(({ rank }) => rank === null)) return lines;
  return lines.toSorted((a, b) => (a.rank as number) - (b.rank as number));
}

type Order = 'same' | 'ties' | 'ascending' | 'mixed';

/** The difference of the meant order of a query's lines, whose scores are finite, from the order of their scores. */
function compareOrders(lines: readonly RunLine[]): Order {
  const meant = orderAsMeant(lines);
  const holds = (isOrdered: (a: RunLine, b: RunLine) => boolean) =>
    meant.every((line, i) => i === 0 || isOrdered(meant[i - 1] as RunLine, line));
  if (holds((a, b) => compareScored(a, b) <= 0)) return 'same';
  if (holds((a, b) => a.score >= b.score)) return 'ties';
  if (holds((a, b) => a.score <= b.score)) return 'ascending';
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

/** The rankings of a run file, and what is wrong with its lines, whatever they are measured against. */
class LineCollector {
  readonly #run = new RunColumns();
  readonly #notFinite: string[] = [];
  readonly #repeated: string[] = [];
  readonly #ofOrder: Record<Order, string[]> = { same: [], ties: [], ascending: [], mixed: [] };

  /** Adds all lines of a query. Those without a finite score, and later ones of a document, do not count. */
  add(lines: readonly RunLine[]): void {
    const queryId = (lines[0] as RunLine).queryId;
    this.#run.begin(queryId);
    const known = new Set<string>();
    for (const { at, id, score } of lines) {
      if (!Number.isFinite(score)) this.#notFinite.push(at);
      else this.#run.addText(id, score); // the first one alone
      if (known.has(id)) this.#repeated.push(`${id} at ${at}`);
      known.add(id);
    }
    const order = compareOrders(lines.filter(({ score }) => Number.isFinite(score)));
    this.#ofOrder[order].push(queryId);
  }

  finish(): Run {
    return this.#run.finish();
  }

  /** @param tags of the lines */
  describeFaults(system: string, tags: readonly string[]): ProtocolWarning[] {
    const warn = (code: WarningCode, faulty: readonly string[], describe: (examples: string) => string) =>
      faulty.length === 0 ? [] : [describeWarning(code, system, describe(joinExamples(faulty)))];
    const [lines, repeats, orders] = [this.#notFinite, this.#repeated, this.#ofOrder];
    const queries = Object.values(orders).reduce((sum, { length }) => sum + length, 0);
    return [
      ...warn(
        'score-not-finite',
        lines,
        (of) => `${lines.length} lines without a finite score do not count (${of}); write a number as score`,
      ),
      ...warn(
        'repeated-document',
        repeats,
        (of) =>
          `${repeats.length} lines repeat a document of their query, and only its first line counts (${of}); list each document once`,
      ),
      ...ORDER_WARNINGS.flatMap(({ order, code, text }) =>
        warn(code, orders[order], (of) => `${orders[order].length} of ${queries} queries ${text} (${of})`),
      ),
      ...warn(
        'several-tags',
        tags.length < 2 ? [] : tags,
        (of) =>
          `the file holds ${tags.length} run tags (${of}) and is read as one system; write a file for each system`,
      ),
    ];
  }
}

/** Calls a function with each line of a run file, in their order; more than once where it is called again. */
type VisitLines = (visit: VisitLine) => void;

/**
 * Collects the lines of each query.
 *
 * @param add takes all lines of a query, in the order of the queries' first lines.
 * @returns false as soon as a query has lines after those of another one: what was added is incomplete then.
 */
function divideByQuery(visitLines: VisitLines, add: (lines: readonly RunLine[]) => void): boolean {
  const known = new Set<string>();
  let lines: RunLine[] = [];
  let isDivided = true;
  visitLines((line) => {
    if (line.queryId !== lines[0]?.queryId) {
      if (lines.length > 0 && isDivided) add(lines);
      lines = [];
      isDivided &&= !known.has(line.queryId);
      known.add(line.queryId);
    }
    lines.push(line);
  });
  if (lines.length > 0 && isDivided) add(lines);
  return isDivided;
}

/** The content of the lines of one run file. */
export interface CollectedLines {
  /** The distinct tags, empty ones too. */
  readonly tags: readonly string[];
  readonly run: Run;
  /** Identity of the lines. */
  readonly hash: string;
  describeFaults(system: string): ProtocolWarning[];
}

/** Collects the lines of a run file in memory for its rankings and the lines of one query. */
export function collectLines(visitLines: VisitLines): CollectedLines {
  const hash = new ListHash();
  const found = new Set<string>();
  const visitOnce: VisitLines = (visit) =>
    visitLines((line) => {
      hash.add([line.queryId, line.id, String(line.score)]);
      found.add(line.tag);
      visit(line);
    });
  let collector = new LineCollector();
  if (!divideByQuery(visitOnce, (lines) => collector.add(lines))) {
    const queries = new Map<string, RunLine[]>();
    visitLines((line) => getOrCompute(queries, line.queryId, () => [] as RunLine[]).push(line));
    collector = new LineCollector();
    for (const lines of queries.values()) collector.add(lines);
  }
  const tags = [...found];
  return {
    ...{ tags, run: collector.finish(), hash: hash.read() },
    describeFaults: (system) => collector.describeFaults(system, tags),
  };
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

/**
 * A system from the lines of its run file. Lines without a finite score, and later lines of a document that a query has
 * already, do not count; both are among the warnings.
 */
export function buildSystem(name: string, source: string, lines: CollectedLines): System {
  const { tags, run, hash } = lines;
  return {
    ...{ name, source, run, hash },
    tags: tags.filter((tag) => tag !== ''),
    warnings: lines.describeFaults(name),
  };
}
