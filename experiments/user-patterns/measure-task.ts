import { ValidationError } from '../../src/core/errors/errors.ts';
import type { EncoderInput } from '../../src/index/encoders/registry.ts';
import type { Corpus } from '../../src/model/turns/corpus.ts';
import type { Turn } from '../../src/model/turns/turn.ts';
import { embedTurns } from '../embed-turns.ts';
import type { StudyContext } from '../study.ts';
import { type EntranceOptions, findEntrances } from './entrances.ts';
import { computeFeatures, type EntranceFeatures } from './features.ts';
import { type Fold, measureArms } from './measure.ts';

/** Entrances of one corpus, and how arms are chosen and measured on them. */
export interface Task extends Pick<EntranceOptions, 'days' | 'openingsAlone' | 'controls'> {
  readonly name: string;
  readonly corpus: Corpus;
  readonly embedding: EncoderInput;
  /** What the encoder is fitted on. */
  readonly fitTexts: readonly string[];
  /** For each fold, whether a turn may be used to choose; the entrances of the other turns are measured. */
  readonly folds: readonly ((turn: Turn) => boolean)[];
  /** True if newer candidates may score higher. */
  readonly hasNewness: boolean;
  /** What is resampled, by the author of an entrance. */
  readonly clusterOf: (author: string) => string;
}

interface TaskOptions extends Pick<EntranceOptions, 'seed' | 'leastHistory' | 'mostHistory'> {
  readonly samples: number;
  readonly level: number;
}

/** The arms of a task. @throws ValidationError for a fold without a dev or test entrance. */
export async function measureTask(task: Task, options: TaskOptions, context: StudyContext) {
  const { name, corpus, hasNewness, clusterOf } = task;
  const { seed, samples, level } = options;
  const { turns } = corpus;
  const { entrances, left } = findEntrances(corpus, { ...options, ...task });
  const texts = turns.map(({ text }) => text);
  const embedded = await embedTurns(texts, task.fitTexts, { embedding: task.embedding, seed }, context);
  const features = entrances.map((entrance) => computeFeatures(entrance, corpus, embedded));
  const folds = task.folds.map((mayChoose): Fold => {
    const isDev = ({ entrance }: EntranceFeatures) => mayChoose(turns[entrance.position] as Turn);
    const [dev, test] = [features.filter(isDev), features.filter((one) => !isDev(one))];
    if (dev.length === 0 || test.length === 0)
      throw new ValidationError(
        `${name} has ${dev.length} dev and ${test.length} test entrances; lower leastHistory, or take other data`,
      );
    return { dev, test };
  });
  const test = folds.flatMap((fold) => fold.test);
  return {
    name,
    arms: measureArms(folds, {
      ...{ seed, samples, level, hasNewness },
      clusterOf: ({ entrance }) => clusterOf(entrance.author),
    }),
    entrances: entrances.length,
    test: test.length,
    people: new Set(test.map(({ entrance }) => entrance.author)).size,
    clusters: new Set(test.map(({ entrance }) => clusterOf(entrance.author))).size,
    candidates: test.reduce((sum, { words }) => sum + words.length, 0) / test.length,
    left,
  };
}

/** What was measured of a task. */
export type TaskFigures = Awaited<ReturnType<typeof measureTask>>;
