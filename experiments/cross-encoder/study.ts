import { z } from 'zod';
import { ConfigurationError } from '../../src/core/errors/errors.ts';
import { createRandom } from '../../src/core/numbers/random.ts';
import { loadConfig } from '../../src/lab/config/config.ts';
import { formatDecimal } from '../../src/lab/report/tables/format.ts';
import { buildSelectionPlan } from '../../src/lab/training/fitted-methods.ts';
import { LearningTask } from '../../src/lab/training/learning-task.ts';
import { readTraining } from '../../src/lab/training/training-config.ts';
import { fitWithSelection } from '../../src/rank/learning/cross-validation.ts';
import type { FeatureTable } from '../../src/rank/learning/feature-table.ts';
import { findBestSlots } from '../../src/rank/learning/fit-options.ts';
import { type Fold, splitByCluster } from '../../src/rank/learning/folds.ts';
import { type ScoringModel, scoreTable } from '../../src/rank/learning/model.ts';
import { standardiseQuestions } from '../../src/rank/signals/bank/normalisation.ts';
import { type FoldScores, formatSystems, measureSystems } from '../beside-linear.ts';
import { SplitBert } from '../split-bert.ts';
import type { Study, StudyContext } from '../study.ts';
import { readTokenQuestions, type TokenQuestions } from '../token-tuning/token-questions.ts';
import { CrossEncoder, type CrossQuestion, joinPair } from './cross-encoder.ts';

const count = z.int().min(1);
const settings = z.strictObject({
  seed: z.int().default(20260101),
  /** A config whose fit is linear, and whose embedding is `bert`. */
  config: z.string().min(1).default('configs/learning/late-locomo.yaml'),
  path: z.string().min(1).default('locomo10.json'),
  /** The candidates that are scored again, the first of the linear mix. */
  first: count.default(50),
  /** Turns before a turn that are read with it. */
  before: z.int().min(0).max(2).default(1),
  /** Layers that are trained by adapters, the last ones. */
  layers: count.default(2),
  rank: count.default(8),
  learningRate: z.number().positive().default(0.001),
  epochs: count.default(2),
  /** Questions in a step, and the candidates of each, the relevant ones among them. */
  batch: count.default(8),
  candidates: z.int().min(2).default(8),
  /** Weights of the cross-encoder beside the linear mix, both standardised over the first candidates. */
  shares: z.array(z.number().positive()).default([0.2, 0.5]),
});
type Settings = z.output<typeof settings>;

/** Lengths of pairs are multiples of this, so that a step has few batches. */
const MULTIPLE = 8;
/** Questions whose pairs are scored together. */
const SCORED = 8;

/** The first candidates of each row by scores, [Q, K] columns of the table; rows of fewer candidates are shorter. */
export function listFirst(table: FeatureTable, scores: Float32Array, first: number): Int32Array[] {
  return table.queryIds.map((_, row) => {
    const best = new Int32Array(first);
    const found = findBestSlots(scores, table.mask, row * table.width, (row + 1) * table.width, best);
    return best.slice(0, found).map((slot) => slot % table.width);
  });
}

const standardise = (values: Float32Array) =>
  standardiseQuestions({
    values,
    stride: 1,
    columns: [0],
    width: values.length,
    mask: new Uint8Array(values.length).fill(1),
  });

/**
 * Scores in which the first candidates of each row have another order, above all others.
 *
 * @param again scores of the first candidates, row by row.
 * @param share of these beside the former ones, both standardised; null for these alone.
 */
export function rerankFirst(
  table: FeatureTable,
  scores: Float32Array,
  first: readonly Int32Array[],
  again: readonly Float32Array[],
  share: number | null,
): Float32Array {
  const changed = scores.slice();
  for (const [row, columns] of first.entries()) {
    const before = standardise(Float32Array.from(columns, (column) => scores[row * table.width + column] as number));
    const after = standardise(again[row] as Float32Array);
    // Standardised scores of K candidates are within ± the root of K.
    const floor =
      (scores[row * table.width + (columns[0] ?? 0)] as number) + 4 * Math.sqrt(columns.length) * (1 + (share ?? 1));
    for (const [i, column] of columns.entries())
      changed[row * table.width + column] = floor + (share === null ? after[i]! : before[i]! + share * after[i]!);
  }
  return changed;
}

/** Rows with a relevant candidate, with equally many candidates: the relevant ones, and others drawn from the first. */
function drawPairs(
  { table }: TokenQuestions,
  rows: Int32Array,
  first: readonly Int32Array[],
  { candidates, seed }: Settings,
): { readonly row: number; readonly columns: readonly number[] }[] {
  return [...rows].flatMap((row, i) => {
    const grade = (column: number) => table.grades[row * table.width + column] as number;
    const judged = Array.from({ length: table.width }, (_, column) => column).filter((column) => grade(column) > 0);
    const random = createRandom(seed, `candidates of ${table.queryIds[row]}`);
    const others = random.shuffle([...first[i]!].filter((column) => grade(column) === 0));
    const columns = [...random.shuffle(judged).slice(0, candidates - 1), ...others].slice(0, candidates);
    return judged.length === 0 || columns.length < candidates ? [] : [{ row, columns }];
  });
}

interface CrossFold extends FoldScores {
  /** The mean loss of the steps of each epoch. */
  readonly losses: readonly number[];
  readonly questions: number;
}

async function scoreFold(
  task: LearningTask,
  of: TokenQuestions,
  fold: Fold,
  { model, values }: { readonly model: ScoringModel; readonly values: Float64Array },
  bert: SplitBert,
  given: Settings,
  { progress }: StudyContext,
): Promise<CrossFold> {
  const [training, held] = [
    await task.features.gatherRowsFor(fold.training, fold.clusters),
    await task.features.gatherRowsFor(fold.heldOut, fold.clusters),
  ];
  const textOf = (row: number, column: number) => {
    const turn = of.texts.turns.get(of.positions[row * of.table.width + column] as number)!;
    return joinPair(of.texts.questions[row]!, turn, given.before);
  };
  const cross = new CrossEncoder(bert, given.rank);

  const drawn = drawPairs(
    of,
    fold.training,
    listFirst(training, await scoreTable(model, values, training), given.first),
    given,
  );
  const hiding = progress('pairs', drawn.length * given.candidates);
  const hidden = await bert.hide(
    drawn.flatMap(({ row, columns }) => columns.map((column) => textOf(row, column))),
    { multiple: MULTIPLE, onTexts: (done) => hiding.update(done) },
  );
  hiding.finish(`${hidden.length} pairs`);
  const questions = drawn.map(
    ({ row, columns }, i): CrossQuestion => ({
      id: of.table.queryIds[row] as string,
      pairs: hidden.slice(i * given.candidates, (i + 1) * given.candidates),
      grades: columns.map((column) => of.table.grades[row * of.table.width + column] as number),
    }),
  );
  const steps = Math.ceil(questions.length / given.batch);
  const losses = new Float64Array(given.epochs);
  const stage = progress('steps', steps * given.epochs);
  const theta = await cross.train(cross.drawStart(given.seed), questions, given, (done, loss) => {
    losses[Math.floor((done - 1) / steps)]! += loss / steps;
    stage.update(done);
  });
  stage.finish(`losses ${[...losses].map((loss) => formatDecimal(loss, 3)).join(', ')}`);

  const linear = await scoreTable(model, values, held);
  const first = listFirst(held, linear, given.first);
  const again: Float32Array[] = [];
  const scoring = progress('questions', first.length);
  for (let from = 0; from < first.length; from += SCORED) {
    const rows = first.slice(from, from + SCORED);
    const texts = rows.flatMap((columns, i) =>
      [...columns].map((column) => textOf(fold.heldOut[from + i] as number, column)),
    );
    const scores = await cross.score(theta, await bert.hide(texts, { multiple: MULTIPLE }));
    let at = 0;
    for (const { length } of rows) {
      again.push(scores.slice(at, at + length));
      at += length;
    }
    scoring.update(again.length);
  }
  scoring.finish(`${again.length} questions`);
  const blends = given.shares.map(
    (share) => [`linear + ${share} cross-encoder`, rerankFirst(held, linear, first, again, share)] as const,
  );
  const scores = new Map([
    ['linear', linear],
    ['cross-encoder', rerankFirst(held, linear, first, again, null)],
    ...blends,
  ]);
  return { held, scores, losses: [...losses], questions: questions.length };
}

/** Tells what a cross-encoder adds to a linear mix whose first candidates it scores again. */
export const crossEncoder: Study<typeof settings> = {
  name: 'cross-encoder',
  description:
    'question and turn read together by an encoder, for the first candidates of a linear mix, on the same folds',
  settings,
  measure: async (given, context) => {
    const config = readTraining(loadConfig(given.config, [`dataset.path=${given.path}`]));
    const { embedding, evaluation, signals } = config;
    if (embedding.encoder !== 'bert')
      throw new ConfigurationError(given.config, [
        { path: 'embedding.encoder', expected: 'bert', got: embedding.encoder },
      ]);
    const task = await LearningTask.open(config, context);
    const bert = await SplitBert.open(embedding, given.layers);
    try {
      const of = await readTokenQuestions(task, { view: 'context', author: signals.groups.includes('author') });
      const folds: CrossFold[] = [];
      const conversations = splitByCluster(task.table);
      const stage = context.progress('folds', conversations.length);
      for (const fold of conversations) {
        const fit = await fitWithSelection(task.features, fold, buildSelectionPlan(config));
        folds.push(await scoreFold(task, of, fold, fit, bert, given, context));
        stage.update(folds.length);
      }
      stage.finish(`${folds.length} folds`);
      const systems = measureSystems(folds, evaluation.metrics, given.seed);
      return {
        dataset: { name: task.dataset.name, hash: task.dataset.hash },
        figures: { systems, folds: folds.map(({ losses, questions }) => ({ losses, questions })) },
        sections: [
          formatSystems(systems, evaluation.metrics, folds.length),
          `${task.table.queryIds.length} questions, ${folds.length} folds of a conversation each; the first ${given.first} candidates of the linear mix are scored again. Trained on ${folds.map(({ questions }) => questions).join(', ')} questions with ${given.candidates} candidates each, ${given.epochs} times; mean loss of each pass, of ${formatDecimal(Math.log(given.candidates), 2)} for equal scores: ${folds.map(({ losses }) => losses.map((loss) => formatDecimal(loss, 2)).join(' and ')).join('; ')}. After the difference: the conversations in which it is above 0. Brackets: 95 % intervals, clustered by conversation; nothing is corrected for ${systems.length - 1} systems.`,
        ],
      };
    } finally {
      bert.dispose();
      task.dispose();
    }
  },
};
