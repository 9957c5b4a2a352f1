import { ignoreProgress } from '../../core/terminal/progress.ts';
import { formatRun } from '../../eval/trec/trec-files.ts';
import type { AddedRecord, Memory } from '../../memory/engine/memory.ts';
import { openMemory } from '../../memory/engine/open-memory.ts';
import type { ArmQuestion, RankedRecords } from '../../memory/engine/query-response.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Run } from '../../model/run.ts';
import { type Turn, toMemoryRecord } from '../../model/turns/turn.ts';
import { buildRun } from '../../rank/retrieval/retriever.ts';
import { formatFileName } from '../composition/arms.ts';
import type { ExperimentConfig } from '../config/config.ts';
import { openArmRunner, openDataset, type RunnerInputs } from './arm-runner.ts';
import { openConfigSlices } from './run-slices.ts';
import { openServedArm } from './served-arm.ts';
import { selectEvaluatedQueries } from './workspaces.ts';

/** The answers of a memory that took the turns of a dataset in, beside the run of the arm. */
export interface ArmReplay {
  readonly arm: string;
  readonly queries: number;
  /** The turns that the memory took in: those before the last query. */
  readonly turns: number;
  /** The run file of the arm. */
  readonly batch: string;
  /** The run file of the memory's answers. */
  readonly live: string;
  /** The first query with another line, and both lines; null where the files are equal, byte for byte. */
  readonly difference: { readonly batch: string | null; readonly live: string | null } | null;
}

/** The record of a turn, which the memory embeds. */
function toAddedRecord(turn: Turn) {
  const { embedding: _, ...record } = toMemoryRecord(turn, { embedding: new Float32Array() });
  return record;
}

/** The part of a memory that a replay uses. */
export interface ReplayedMemory {
  addBatch(records: readonly AddedRecord[]): Promise<unknown>;
  ask(question: ArmQuestion): Promise<Pick<RankedRecords, 'ranking'>>;
  close(): Promise<void>;
}

/** Adds each turn at its time and asks each query at its moment. @returns the answers, in the order of the queries. */
async function replay(
  dataset: Dataset,
  queries: readonly Query[],
  memory: ReplayedMemory,
  progress: NonNullable<RunnerInputs['progress']>,
): Promise<{ readonly run: Run; readonly turns: number }> {
  const { corpus } = dataset;
  const answers = new Map<string, Run extends ReadonlyMap<string, infer R> ? R : never>();
  const stage = progress('queries to the memory', queries.length);
  let size = 0;
  try {
    for (const query of [...queries].sort((a, b) => a.timestamp - b.timestamp)) {
      const turns = corpus.turns.slice(size, corpus.countEarlierTurns(query.timestamp));
      if (turns.length > 0) await memory.addBatch(turns.map(toAddedRecord));
      size += turns.length;
      const { id, text, author, channel, anchorTurnId, conversationId, attributes } = query;
      const { ranking } = await memory.ask({
        ...{ id, text, author, channel, anchorTurnId, asOf: query.timestamp },
        ...(conversationId !== undefined && { conversationId }),
        ...(attributes && { attributes }),
      });
      answers.set(
        id,
        ranking.map(({ id: turn, score }) => ({ id: turn, score })),
      );
      stage.update(answers.size);
    }
    stage.finish(`${size} turns, ${answers.size} queries`);
    return { run: new Map(queries.map(({ id }) => [id, answers.get(id) ?? []])), turns: size };
  } finally {
    await memory.close();
  }
}

/** The first line that two run files do not share. */
export function findDifference(batch: string, live: string): ArmReplay['difference'] {
  if (batch === live) return null;
  const [a, b] = [batch.split('\n'), live.split('\n')];
  const at = a.findIndex((text, i) => text !== b[i]);
  return { batch: a[at] ?? null, live: b[at] ?? null };
}

/** Inputs of {@link replayArm} besides the config. */
export interface ReplayInputs extends Omit<RunnerInputs, 'queries' | 'givenVectors' | 'slices'> {
  /** The most queries, spread over those of the config; absent: all. */
  readonly limit?: number;
  /** Another way to the memory, such as a service; by default the memory itself. */
  readonly reach?: (memory: Memory) => Promise<ReplayedMemory>;
}

/** Some queries, evenly spread. */
function spread(queries: readonly Query[], limit = queries.length): readonly Query[] {
  if (queries.length <= limit) return queries;
  return Array.from({ length: limit }, (_, i) => queries[Math.floor((i * queries.length) / limit)] as Query);
}

/**
 * Runs an arm of an experiment, and asks a memory that takes the same turns in, one after the other, the same queries
 * at their moments by the same arm.
 *
 * @throws ValidationError for an arm that the config lacks; what the arm throws.
 */
export async function replayArm(
  config: ExperimentConfig,
  name: string,
  { limit, reach = async (memory) => memory, progress = ignoreProgress, ...inputs }: ReplayInputs,
): Promise<ArmReplay> {
  const dataset = await openDataset(config, { ...inputs, progress });
  const queries = spread(selectEvaluatedQueries(dataset, config), limit);
  const slices = await openConfigSlices(config, inputs);
  const runner = await openArmRunner(config, { ...inputs, dataset, queries, progress, ...(slices && { slices }) });
  try {
    const { ranked } = await runner.rank(name, 0);
    const batch = buildRun(dataset.corpus, queries, ranked);
    const arm = await openServedArm(runner, name);
    try {
      const memory = await openMemory({ arm, cache: { enabled: false }, outcomeRange: 'none' });
      const { run, turns } = await replay(dataset, queries, await reach(memory), progress);
      const tag = formatFileName(name);
      const files = { batch: formatRun(batch, tag), live: formatRun(run, tag) };
      return {
        arm: name,
        queries: queries.length,
        turns,
        ...files,
        difference: findDifference(files.batch, files.live),
      };
    } finally {
      await arm.dispose();
    }
  } finally {
    await runner.dispose();
    await slices?.close();
  }
}
