import { buildQueryRecord, listInspectedTurns } from '../experiment/measure/inspection.ts';
import type { RankedTurn } from '../experiment/measure/result.ts';
import type { LearningTask } from './learning-task.ts';
import { BASELINE } from './measured-methods.ts';
import type { TrainedModel } from './model-run.ts';
import type { InspectedMethod, TrainingInspection } from './training-result.ts';

/** Methods whose rankings the page of a training shows. */
const SHOWN_METHODS: readonly string[] = [BASELINE, 'learned'];

/** Places of each ranking that the page shows. */
const SHOWN_PLACES = 10;

/** The first places of the rankings by weights that have not seen them, with what an inspector shows of them. */
export function inspectModels(
  { dataset }: LearningTask,
  models: readonly Pick<TrainedModel, 'result' | 'runs' | 'measurement'>[],
): TrainingInspection {
  const queries = models[0]?.measurement.queries ?? [];
  const methods = models.flatMap(({ result, runs, measurement }) =>
    [...runs].flatMap(([method, run], m): InspectedMethod[] => {
      if (!SHOWN_METHODS.includes(method)) return [];
      const rankings = queries.map(({ id }): RankedTurn[] =>
        (run.get(id) ?? []).slice(0, SHOWN_PLACES).map((turn) => ({ ...turn, components: [] })),
      );
      return [{ model: result.name, method, perQuery: measurement.arms[m]?.perQuery ?? {}, rankings }];
    }),
  );
  return {
    queries: queries.map((query) => buildQueryRecord(dataset, query)),
    turns: listInspectedTurns(
      dataset,
      queries,
      methods.flatMap(({ rankings }) => rankings),
    ),
    methods,
  };
}
