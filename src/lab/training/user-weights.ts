import { createRandom } from '../../core/numbers/random.ts';
import { ignoreProgress, letEventsIn, type StartProgress } from '../../core/terminal/progress.ts';
import type { Query } from '../../model/dataset.ts';
import type { Run } from '../../model/run.ts';
import { type FeatureTable, findSignalPositions } from '../../rank/learning/feature-table.ts';
import { findBestSlots } from '../../rank/learning/fit-options.ts';
import {
  type LearnedUserWeights,
  learnStrategyWeights,
  type StrategyFeedback,
} from '../../rank/learning/strategy-weights.ts';
import { listUserWeights, type UserWeights } from '../../rank/learning/weight-file.ts';
import type { StrategyName } from '../../rank/query/strategy.ts';
import { askedMemories } from '../../rank/signals/asked-memories.ts';
import { MEMORY_SIGNALS, type MemorySignals } from '../../rank/signals/memory-signals.ts';
import { chooseStrategyWeights, readAsker } from '../../rank/signals/signal-options.ts';
import { listSummaryFactors, scoreByStrategy } from '../../rank/signals/strategy.ts';
import { buildRankedArms } from '../measure/attribution.ts';
import type { UserFit } from '../measure/result.ts';
import { describeMethod, measureMethods } from './fitted-methods.ts';
import { USER_SIGNALS } from './fold-signals.ts';
import { buildTaskFolds, HeldOutRows } from './held-out-contributions.ts';
import type { LearningTask } from './learning-task.ts';
import type { TrainingConfig } from './training-config.ts';

/** The weights of each strategy, those learned of everyone together, those of who asks, and as a null control those of another user. */
const METHODS = ['strategy', 'everyone', 'user', 'another user'] as const;
type Method = (typeof METHODS)[number];
const [BASELINE] = METHODS;

/** Rows of a table with what each question is. */
interface AskedRows {
  readonly table: FeatureTable;
  readonly queries: readonly Query[];
  readonly strategies: readonly StrategyName[];
  /** [Q, C] */
  readonly factors: Float32Array;
}

type ChooseWeights = (user: string | null, strategy: StrategyName) => MemorySignals;

const chooseStrategy: ChooseWeights = (_, strategy) => chooseStrategyWeights({ weights: 'by-question' }, strategy);

/** The weights of users, and of the strategy where a user has none. */
function chooseLearned(learned: LearnedUserWeights, rename: (user: string) => string = (user) => user): ChooseWeights {
  const options = { weights: 'by-question', users: listUserWeights({ users: listLearned(learned) }) } as const;
  return (user, strategy) => chooseStrategyWeights(options, strategy, user === null ? null : rename(user));
}

/** Row-major [Q, C] the scores of an arm with the signal `strategy`. */
function scoreRows({ table, queries, strategies, factors }: AskedRows, choose: ChooseWeights): Promise<Float32Array> {
  const columns = findSignalPositions(table, USER_SIGNALS);
  return scoreByStrategy({
    width: table.width,
    readSignal: (pair, signal) => table.values[pair * table.signals.length + (columns[signal] as number)] as number,
    weights: queries.map((query, q) => choose(readAsker(query), strategies[q] as StrategyName)),
    factors,
  });
}

/** What each user was shown, the best by the strategy's weights, and which of it is relevant. Queries without a user are left out. */
async function listFeedback(rows: AskedRows, shown: number): Promise<StrategyFeedback[]> {
  const { table, queries, strategies } = rows;
  const { width, mask, grades, relevantGrade, values } = table;
  const scores = await scoreRows(rows, chooseStrategy);
  const columns = findSignalPositions(table, USER_SIGNALS);
  const best = new Int32Array(Math.min(shown, width));
  return queries.flatMap((query, row) => {
    const user = readAsker(query);
    if (user === null) return [];
    const count = findBestSlots(scores, mask, row * width, (row + 1) * width, best);
    const memories = Array.from(best.subarray(0, count), (pair) => ({
      signals: Object.fromEntries(
        MEMORY_SIGNALS.map((name, s) => [name, values[pair * table.signals.length + (columns[s] as number)] as number]),
      ) as unknown as MemorySignals,
      used: (grades[pair] as number) >= relevantGrade,
    }));
    return [{ user, strategy: strategies[row] as StrategyName, shown: memories }];
  });
}

/** The partner of each user with learned weights: the next of them, in an order that the seed draws. Others are their own. */
function drawPartners(weights: LearnedUserWeights, seed: number): (user: string) => string {
  const learned = [...weights]
    .filter(([, own]) => Object.values(own).some(({ share }) => share > 0))
    .map(([user]) => user);
  const order = createRandom(seed, 'another user').shuffle(learned.sort());
  const partners = new Map(order.map((user, at) => [user, order[(at + 1) % order.length] as string]));
  return (user) => partners.get(user) ?? user;
}

const EVERYONE = 'everyone';

/** Learns on some rows and scores others, row-major [methods, Q, C]. */
async function scoreMethods(config: TrainingConfig, training: AskedRows, held: AskedRows): Promise<Float32Array[]> {
  const { shown, ...options } = config.fit.users as NonNullable<TrainingConfig['fit']['users']>;
  const feedback = await listFeedback(training, shown);
  const everyone = learnStrategyWeights(
    feedback.map((one) => ({ ...one, user: EVERYONE })),
    options,
  );
  const users = learnStrategyWeights(feedback, options);
  await letEventsIn();
  const choose: Record<Method, ChooseWeights> = {
    strategy: chooseStrategy,
    everyone: chooseLearned(everyone, () => EVERYONE),
    user: chooseLearned(users),
    'another user': chooseLearned(users, drawPartners(users, config.seed)),
  };
  const scores: Float32Array[] = [];
  for (const method of METHODS) scores.push(await scoreRows(held, choose[method]));
  return scores;
}

/** The users whose weights were learned, by name, with the strategies that have them. */
function listLearned(weights: LearnedUserWeights): UserWeights['users'] {
  const users = Array.from(weights, ([user, own]) => [
    user,
    Object.fromEntries(Object.entries(own).filter(([, { share }]) => share > 0)),
  ]) as [string, UserWeights['users'][string]][];
  return Object.fromEntries(
    users.filter(([, own]) => Object.keys(own).length > 0).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Weights of users and how they were measured. */
export interface TrainedUserWeights {
  readonly result: UserFit;
  readonly users: UserWeights['users'];
  /** Rankings of conversations by weights that have not seen them, by method. */
  readonly runs: ReadonlyMap<string, Run>;
}

/** The rows of a task with what each question is, by encoders that are fitted on no conversation that is held out. */
type GatherRows = (rows: Int32Array, heldOut: readonly string[]) => Promise<AskedRows>;

async function createGatherer(task: LearningTask): Promise<GatherRows> {
  const { strategies } = await task.workspace.get(askedMemories(null));
  return async (rows, heldOut) => {
    const { pool } = await task.judgeRowsFor(rows, heldOut);
    return {
      table: await task.features.gatherRowsFor(rows, heldOut),
      queries: Array.from(rows, (row) => task.queries[row] as Query),
      strategies: Array.from(rows, (row) => strategies[row] as StrategyName),
      factors: listSummaryFactors(task.dataset.corpus, pool.positions),
    };
  };
}

/** Rankings of conversations by weights that have not seen them, by method. */
async function rankHeldOut(
  task: LearningTask,
  config: TrainingConfig,
  gather: GatherRows,
  startProgress: StartProgress,
): Promise<ReadonlyMap<string, Run>> {
  const folds = buildTaskFolds(task, config);
  const progress = startProgress('weights of users', folds.length);
  const scores: Float32Array[][] = [];
  for (const { training, heldOut, clusters } of folds) {
    scores.push(await scoreMethods(config, await gather(training, clusters), await gather(heldOut, clusters)));
    progress.update(scores.length);
  }
  progress.finish(`weights of users in ${folds.length} folds`);
  const rows = await HeldOutRows.of(task, folds, config.evaluation.depth);
  const rank = (m: number) => rows.rankAllRows(rows.joinFoldScores(scores.map((fold) => fold[m] as Float32Array)));
  return new Map(METHODS.map((method, m) => [method, rank(m)]));
}

/**
 * Learns the weights of the strategies for each user from the relevant turns among what the strategy would show, and measures them on held-out conversations
 * beside the strategy's own, those of everyone together, and those of another user.
 */
export async function trainUserWeights(
  task: LearningTask,
  config: TrainingConfig,
  startProgress: StartProgress = ignoreProgress,
): Promise<TrainedUserWeights> {
  const gather = await createGatherer(task);
  const runs = await rankHeldOut(task, config, gather, startProgress);
  const measurement = await measureMethods(task, config, runs, BASELINE);
  const { shown, ...options } = config.fit.users as NonNullable<TrainingConfig['fit']['users']>;
  const all = await gather(Int32Array.from(task.queries.keys()), []);
  const weights = learnStrategyWeights(await listFeedback(all, shown), options);
  const users = listLearned(weights);
  const learned = Object.entries(users).flatMap(([user, own]) =>
    Object.entries(own).map(([strategy, one]) => ({ user, strategy: strategy as StrategyName, ...one })),
  );
  return {
    users,
    runs,
    result: {
      arms: buildRankedArms(
        METHODS.map((name) => ({ name, description: describeMethod(name) })),
        measurement,
      ),
      baseline: BASELINE,
      asked: weights.size,
      learned,
      file: 'users.json',
    },
  };
}
