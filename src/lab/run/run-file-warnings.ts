import { RagPlusPlusError } from '../../core/errors/errors.ts';
import type { RunIndexOptions } from '../../index/runs/run-options.ts';
import type { Query } from '../../model/dataset.ts';
import { candidatesFrom } from '../../rank/retrieval/candidate-sources.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import type { ProtocolWarning } from '../measure/result.ts';
import { describeWarning, joinExamples } from '../measure/warning.ts';
import type { ArmRecord } from './arm-record.ts';
import type { ArmEncoding } from './workspaces.ts';

/** What is wrong with a run file for the measured queries, null for nothing. The rankings that are looked at are cached by the arm. */
async function describeMissing(
  workspace: Workspace,
  source: RunIndexOptions,
  measured: ReadonlySet<string>,
  effect: string,
): Promise<string | null> {
  try {
    const { positions, width } = await workspace.get(candidatesFrom(source, null));
    const missing = workspace.queries.flatMap(({ id }, q) =>
      measured.has(id) && (positions[q * width] as number) < 0 ? [id] : [],
    );
    if (missing.length === 0) return null;
    return `${missing.length} of ${measured.size} judged queries have no ranking in ${source.path} and ${effect} (${joinExamples(missing)}); add their rankings`;
  } catch (error) {
    if (!(error instanceof RagPlusPlusError)) throw error;
    // The arms are done: a damaged file of the cache does not end their run.
    return `queries that ${source.path} lacks were not counted, ${error.code}: ${error.message}`;
  }
}

/** A warning for each arm and each of its run files that lacks a measured query. */
export async function findRunFileWarnings(
  runner: { openArmWorkspace(arm: ArmEncoding): Promise<Workspace> },
  records: readonly ArmRecord[],
  queries: readonly Query[],
): Promise<ProtocolWarning[]> {
  const measured = new Set(queries.map(({ id }) => id));
  const warnings: ProtocolWarning[] = [];
  for (const { name, options } of records) {
    const { sources } = readArm(options).outline;
    const effect = sources.length === 1 ? 'count 0' : 'get no candidate from it';
    for (const { index: source } of sources) {
      if (source.index !== 'run') continue;
      const text = await describeMissing(await runner.openArmWorkspace(options), source, measured, effect);
      if (text !== null) warnings.push(describeWarning('missing-queries', name, text));
    }
  }
  return warnings;
}
