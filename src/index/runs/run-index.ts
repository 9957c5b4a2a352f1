import { ValidationError } from '../../core/errors/errors.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../../model/candidates.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import type { CreateIndex } from '../candidates/index-definition.ts';
import { allocateCandidates, assertQueries, isListed, listVisibleTurns } from '../candidates/query-batch.ts';
import { type RunLine, readRunLines } from './run-lines.ts';
import { hashRunFile, type RunIndexOptions } from './run-options.ts';

/** The lines of a run by query. */
type RunTable = ReadonlyMap<string, readonly RunLine[]>;

/** @throws StorageError, and ValidationError for a file with another content than the options state, or that is no run. */
function readRunTable({ path, hash }: RunIndexOptions): RunTable {
  if (hash !== undefined && hashRunFile({ path }) !== hash)
    throw new ValidationError(`run file has changed since the config was read: ${path}; run the config again`, {
      path,
    });
  const table = new Map<string, RunLine[]>();
  readRunLines(path, (line) => getOrCompute(table, line.queryId, () => [] as RunLine[]).push(line));
  return table;
}

/** A line of a query, with the position of its turn. Scores are as candidates hold them, of 32 bits. */
interface Found {
  readonly id: string;
  readonly score: number;
  readonly position: number;
}

/**
 * The rankings of another system. A line must name a turn that the query can see: an unknown turn, and one that is not strictly earlier than the query, are
 * errors that name the line, so that a run cannot look ahead. A line of a turn outside the query's list of visible turns is left out. A query that the run does
 * not list has no candidates.
 */
export class RunIndex implements CandidateIndex {
  readonly name = 'run';
  readonly #table: RunTable;
  readonly #corpus: Corpus;

  constructor(table: RunTable, corpus: Corpus) {
    this.#table = table;
    this.#corpus = corpus;
  }

  /** @throws ValidationError naming the line that the query cannot have. */
  #findTurns(queryId: string, cutoff: number): Found[] {
    const seen = new Set<string>();
    return (this.#table.get(queryId) ?? []).map(({ at, id, score }) => {
      if (!Number.isFinite(score))
        throw new ValidationError(`score of turn ${id} at ${at} is not finite: ${score}; write a number`, { at, id });
      if (seen.has(id))
        throw new ValidationError(`query ${queryId} repeats a turn at ${at}: ${id}; list it once`, { at, id });
      seen.add(id);
      if (!this.#corpus.has(id))
        throw new ValidationError(
          `turn at ${at} is not in the data that query ${queryId} asks: ${id}; use ids of its turns, or remove the line`,
          { at, id, queryId },
        );
      const position = this.#corpus.getPosition(id);
      if (position >= cutoff)
        throw new ValidationError(
          `turn at ${at} is not earlier than query ${queryId}: ${id}; remove the line, since a query sees earlier turns only`,
          { at, id, queryId },
        );
      return { id, score: Math.fround(score), position };
    });
  }

  /** @throws ValidationError for queries without ids, and for a line that a query cannot have, naming the line. */
  async search(queries: QueryBatch, k: number): Promise<Candidates> {
    assertQueries(queries, this.#corpus.size, k);
    const { ids, cutoffs } = queries;
    if (ids === undefined)
      throw new ValidationError(`index ${this.name} needs the ids of ${cutoffs.length} queries; pass ids`);
    const candidates = allocateCandidates(cutoffs.length, k);
    for (const [query, cutoff] of cutoffs.entries()) {
      const visible = listVisibleTurns(queries, query);
      const found = this.#findTurns(ids[query] as string, cutoff)
        .filter(({ position }) => visible === null || isListed(visible, position))
        .sort(compareScored)
        .slice(0, k);
      for (const [rank, { position, score }] of found.entries()) {
        candidates.positions[query * k + rank] = position;
        candidates.scores[query * k + rank] = score;
      }
    }
    return candidates;
  }

  dispose(): void {}
}

/** One file serves every subcorpus: it is read once for the options that name it. */
const tables = new WeakMap<RunIndexOptions, RunTable>();

export const createRunIndex: CreateIndex<RunIndexOptions> = (options, { corpus }) => {
  const table = tables.get(options) ?? readRunTable(options);
  tables.set(options, table);
  return new RunIndex(table, corpus);
};
