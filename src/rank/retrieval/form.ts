import type { Plan } from '../signals/plan.ts';
import { ADDED_SIGNALS } from '../signals/signal.ts';
import type { Stage } from '../signals/stage.ts';
import { readStrategyOptions } from '../signals/strategy-options.ts';
import { type Arm, createArm, listStagesOfArm } from './arm.ts';
import { SAME_CHANNEL } from './query-filter.ts';
import { listSignalIndexes, type RelevanceSignal } from './relevance.ts';
import type { RankOptions, RetrieverOptions } from './retriever-options.ts';

export type { RankOptions };

import { blendWithAttention, blendWithTrajectory } from './steps/blend.ts';
import { boost, curate, decay } from './steps/change.ts';
import {
  createCosineColumn,
  createPluginColumn,
  createRecencyColumn,
  createStrategyColumn,
  findSourceColumn,
} from './steps/columns.ts';
import { fuse } from './steps/fuse.ts';
import { mix } from './steps/mix.ts';
import { type SearchOptions, search } from './steps/search.ts';
import { select } from './steps/select.ts';
import { defineStep, type Outline, type ScoreColumn, type Source, type Step } from './steps/step.ts';
import { filter, propagate, slice } from './steps/visible.ts';
import { createSteps, type WrittenSteps } from './written-steps.ts';

/** The name of a source: its index, with its place among several of one kind. */
function nameSources(candidates: RetrieverOptions['candidates']): SearchOptions {
  const named: Record<string, RetrieverOptions['candidates'][number]> = {};
  for (const source of candidates) {
    const earlier = Object.values(named).filter(({ index }) => index === source.index).length;
    named[earlier === 0 ? source.index : `${source.index}-${earlier + 1}`] = source;
  }
  return named;
}

function createSignalColumn(
  name: RelevanceSignal,
  given: Readonly<Record<string, unknown>>,
  { sources, view }: Outline,
): ScoreColumn {
  const added = ADDED_SIGNALS.find(name);
  if (added !== undefined) return createPluginColumn(added, given, sources, view);
  if (name === 'strategy') return createStrategyColumn(readStrategyOptions({ strategy: given }));
  const own = sources.filter(({ index }) => listSignalIndexes(name).includes(index.index));
  const lists = own.map((source) => source.name);
  if (name === 'cosine') return createCosineColumn(view.propagation, lists);
  if (name === 'recency') return createRecencyColumn(lists);
  // The schema of the options asks for one source of this index.
  return findSourceColumn(own[0] as Source, view) as ScoreColumn;
}

/** The columns of an arm by the names of its signals of relevance. */
const nameColumns = defineStep<RetrieverOptions['relevance']>({
  name: 'relevance signals',
  summary: 'the columns of an arm by the names of its signals of relevance',
  takes: ['pool'],
  outline: ({ signals, options = {} }, before) => ({
    ...before,
    columns: new Map(signals.map((name) => [name, createSignalColumn(name, options[name] ?? {}, before)])),
  }),
});

/** The steps that the keys of an arm stand for, in their order. */
function* listSteps(options: RetrieverOptions): Iterable<Step> {
  const { candidates, relevance, sameChannel, filter: filtered, slice: sliced, propagation, selection } = options;
  const { scoring, boosts, curation, decay: decayed, trajectory, attention } = options;
  if (filtered?.apply === 'before') yield filter(filtered);
  if (sliced) yield slice(sliced);
  if (propagation !== null) yield propagate(propagation);
  yield search(nameSources(candidates));
  if (sameChannel) yield filter({ where: SAME_CHANNEL });
  if (filtered?.apply === 'after') yield filter(filtered);
  if (scoring !== null) yield mix(scoring);
  else {
    yield nameColumns(relevance);
    const { signals, fusion } = relevance;
    yield fuse({ columns: signals, fusion: signals.length === 1 ? null : fusion });
  }
  if (boosts) yield boost(boosts);
  if (curation) yield curate(curation);
  if (decayed !== null) yield decay(decayed);
  if (trajectory !== null) yield blendWithTrajectory(trajectory);
  if (attention !== null) yield blendWithAttention({ component: 'attention', attention, coordinates: trajectory });
  if (selection !== null) yield select(selection);
}

/** The steps of an arm that is written as steps; null for one that is a form. */
export const readWrittenSteps = (options: RankOptions): WrittenSteps | null =>
  options?.steps === undefined ? null : (options as unknown as WrittenSteps);

const ARMS = new WeakMap<RankOptions, Arm>();

/** The arm that checked options describe. */
export function readArm(options: RankOptions): Arm {
  const known = ARMS.get(options);
  if (known !== undefined) return known;
  const written = readWrittenSteps(options);
  const steps = written === null ? [...listSteps(options)] : createSteps(written);
  const arm = createArm(steps, options.control);
  ARMS.set(options, arm);
  return arm;
}

/** The stages that the ranking of an arm is put together from. */
export function listArmStages(plan: Plan, options: RankOptions): Stage[] {
  return listStagesOfArm(plan, readArm(options));
}
