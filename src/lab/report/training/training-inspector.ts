import type { ArmResult, ExperimentResult } from '../../measure/result.ts';
import type { TrainingResult } from '../../training/training-result.ts';
import { buildPayload, type Payload } from '../page/payload.ts';

/** What the inspector of a training's page shows: each shown method as an arm. Null for a training without rankings. */
export function buildInspectionPayload(result: TrainingResult): Payload | null {
  const { inspection, models, dataset, metrics, level, strata, config, environment } = result;
  if (inspection === undefined) return null;
  const arms = inspection.methods.flatMap(({ model, method, perQuery, contributionNames, rankings }): ArmResult[] => {
    const found = models.find(({ name }) => name === model)?.methods.find(({ name }) => name === method);
    if (found === undefined) return []; // a page of some of the models
    const { metrics: means, comparisons, strata: values, holes } = found;
    const arm: ArmResult = {
      name: `${model}, ${method}`,
      description: '',
      options: {},
      levels: null,
      control: null,
      structure: null,
      tuned: {},
      metrics: means,
      comparisons,
      perQuery,
      componentNames: [],
      contributionNames,
      rankings,
      holes,
      strata: values,
      attribution: {},
      losses: inspection.queries.map(() => ({})),
      latency: null,
    };
    return [arm];
  });
  const [first] = models;
  const run: ExperimentResult = {
    name: result.name,
    hash: result.hash,
    description: result.description,
    environment,
    config: { ...config },
    dataset: { ...dataset, turns: inspection.turns },
    queries: inspection.queries,
    unanswerable: [],
    metrics,
    statistics: { test: 'permutation', correction: 'holm', samples: config.evaluation.samples, level },
    baseline: `${first?.name}, ${first?.baseline}`,
    arms,
    failures: [],
    stopped: [],
    passports: {},
    strata,
    sweep: null,
    stages: {},
    remarks: [],
    armsAtOnce: 1,
    timings: [],
  };
  return buildPayload(run);
}
