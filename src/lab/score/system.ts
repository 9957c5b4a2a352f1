import { computeHash } from '../../core/hash/hash.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { RunLine } from '../../index/runs/run-lines.ts';
import type { Run } from '../../model/run.ts';
import { compareScored, type Scored } from '../../model/turns/tie-rule.ts';
import type { ProtocolWarning } from '../measure/result.ts';
import { findLineWarnings } from './line-warnings.ts';

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
  /** What is wrong with the lines themselves. */
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
 * A system from the lines of its run file. Lines without a finite score, and later lines of a document that a query has already, do not count; both are
 * among the warnings.
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
