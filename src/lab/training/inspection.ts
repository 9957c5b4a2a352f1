import { buildQueryRecord, listInspectedTurns } from '../measure/inspection.ts';
import type { RankedTurn } from '../measure/result.ts';
import { type RankingParts, SHOWN_METHODS, SHOWN_PLACES } from './held-out-contributions.ts';
import type { LearningTask } from './learning-task.ts';
import type { TrainedModel } from './model-run.ts';
import type { InspectedMethod, TrainingInspection } from './training-result.ts';

/** The first places of the rankings by weights that have not seen them, with what an inspector shows of them. */
export function inspectModels(
  { dataset }: LearningTask,
  models: readonly Pick<TrainedModel, 'result' | 'runs' | 'measurement' | 'parts'>[],
): TrainingInspection {
  const queries = models[0]?.measurement.queries ?? [];
  const methods = models.flatMap(({ result, runs, measurement, parts }) =>
    [...runs].flatMap(([method, run], m): InspectedMethod[] => {
      if (!SHOWN_METHODS.some((shown) => shown === method)) return [];
      const { names, byQuery } = parts.get(method) ?? { names: [], byQuery: new Map() as RankingParts['byQuery'] };
      const rankings = queries.map(({ id }): RankedTurn[] =>
        (run.get(id) ?? []).slice(0, SHOWN_PLACES).map((turn, rankIndex) => ({
          ...turn,
          components: [],
          contributions: byQuery.get(id)?.slice(rankIndex * names.length, (rankIndex + 1) * names.length) ?? [],
        })),
      );
      return [
        {
          model: result.name,
          method,
          perQuery: measurement.arms[m]?.perQuery ?? {},
          contributionNames: names,
          rankings,
        },
      ];
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
