import { armStages } from '../../retrieval/arm-signals.ts';
import { type RetrieverOptions, retrieverOptions } from '../../retrieval/retriever-options.ts';
import type { Plan } from '../../signals/plan.ts';
import type { Stage } from '../../signals/stage.ts';
import type { ExperimentConfig } from '../config/config.ts';
import { tuningVersion } from './code-version.ts';

/** Deep enough for the metric: 10 of `mrr@10`, everything for one without a cut-off. */
export function cutoffOf(metric: string, depth: number): number {
  const [, cutoff] = metric.split('@');
  return cutoff === undefined ? depth : Number(cutoff);
}

/** An arm's options without those that do not affect its rankings: its name, its description, its grid. */
function retrieverPart(arm: RetrieverOptions): RetrieverOptions {
  const own = Object.entries(arm).filter(([key]) => Object.hasOwn(retrieverOptions.shape, key));
  return Object.fromEntries(own) as unknown as RetrieverOptions;
}

/** The stage that says how good an arm is on the queries that arms are tuned on: a number, the mean of the tuning metric. */
export function tuningStage(
  plan: Plan,
  arm: RetrieverOptions,
  { tuning: { metric }, evaluation }: ExperimentConfig,
): Stage {
  const retriever = retrieverPart(arm);
  const depth = cutoffOf(metric, evaluation.depth);
  const options = { code: tuningVersion(), metric, depth, retriever };
  return plan.derived('tuning-value', options, armStages(plan, retriever));
}
