import { createRandom } from '../../src/core/numbers/random.ts';
import { groupIntoClusters } from '../../src/eval/intervals/mean-intervals.ts';
import { evaluate } from '../../src/eval/metrics/evaluate.ts';
import { type BaselineComparison, compareWithBaseline } from '../../src/eval/significance/significance.ts';
import { loadConfig } from '../../src/lab/config/config.ts';
import { describeTestSplit, type TestSplit } from '../../src/lab/measure/passport.ts';
import { openArmRunner } from '../../src/lab/run/arm-runner.ts';
import type { Dataset, Query } from '../../src/model/dataset.ts';
import type { Scored } from '../../src/model/turns/tie-rule.ts';
import { readRanking } from '../../src/rank/retrieval/retriever.ts';
import { buildAnsweredSeries } from '../prior-calibration/answered-series.ts';
import type { StudyContext } from '../study.ts';
import { rankFound } from './planted.ts';
import type { MailSettings, OutcomeLearningSettings } from './settings.ts';

/** An outcome, and the moment in milliseconds at which it is recorded. */
interface Recorded {
  readonly outcome: number;
  readonly at: number;
}

/** The outcomes of turns by id. */
export type RecordedOutcomes = ReadonlyMap<string, Recorded>;

/**
 * The outcome of each message: 1 if it was answered. It is recorded when the hours have passed.
 *
 * @param failure the outcome of a message that was not answered.
 */
export function recordAnswers(dataset: Dataset, hours: number, failure: number): RecordedOutcomes {
  const { turns, delay } = buildAnsweredSeries(dataset, hours);
  return new Map(
    turns.map(({ id, outcome, timestamp }) => [id, { outcome: outcome === 1 ? 1 : failure, at: timestamp + delay }]),
  );
}

/** A ranking in the order of the reranker `outcome`, by the outcomes that were recorded before the query. */
export function rankByOutcomes(
  ranking: readonly Scored[],
  { timestamp }: Pick<Query, 'timestamp'>,
  recorded: RecordedOutcomes,
  alpha: number,
): Promise<Scored[]> {
  const read = ranking.map(({ id }) => {
    const found = recorded.get(id);
    return { outcome: found !== undefined && found.at < timestamp ? found.outcome : null };
  });
  return rankFound(ranking, read, { alpha });
}

/** The outcomes of a share of the turns; a smaller share is a part of a larger one. */
function takeShare(recorded: RecordedOutcomes, share: number, seed: number): RecordedOutcomes {
  const random = createRandom(seed, 'recorded outcomes');
  return new Map([...recorded].filter(() => random.uniform() < share));
}

/** The same moments, with the outcomes of other turns. */
function exchange(recorded: RecordedOutcomes, seed: number): RecordedOutcomes {
  const outcomes = [...recorded.values()].map(({ outcome }) => outcome);
  createRandom(seed, 'exchanged outcomes').shuffle(outcomes);
  return new Map(Array.from(recorded, ([id, { at }], i) => [id, { at, outcome: outcomes[i] as number }]));
}

/** Rankings of an arm by recorded outcomes. */
export interface MailRow {
  readonly failure: number;
  readonly share: number;
  /** The mean number of outcomes that are recorded before a test query. */
  readonly outcomes: number;
  readonly real: MailFigure;
  /** With the outcomes of other messages. */
  readonly exchanged: MailFigure;
  /** With the outcomes of the messages themselves minus with those of others. */
  readonly information: BaselineComparison;
}

/** A ranking by recorded outcomes on test. */
interface MailFigure {
  /** Chosen on dev. */
  readonly alpha: number;
  readonly mean: number;
  /** Minus the arm itself. */
  readonly gain: BaselineComparison;
}

export interface MailArm {
  readonly arm: string;
  /** The metric of the arm itself on test. */
  readonly mean: number;
  readonly rows: readonly MailRow[];
}

/** Rankings by recorded outcomes on mail. */
export interface MailFigures {
  readonly dataset: string;
  readonly hash: string;
  readonly tested: TestSplit | null;
  readonly queries: { readonly dev: number; readonly test: number; readonly clusters: number };
  readonly rate: number;
  /** The share of test queries with a relevant message whose outcome is recorded before the query. */
  readonly reached: number;
  readonly arms: readonly MailArm[];
}

const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

type Asked = readonly [query: Query, ranking: readonly Scored[]];

/** [Q] the metric by recorded outcomes with a weight; null: of the rankings as they are. */
type Measure = (recorded: RecordedOutcomes, alpha: number | null) => Promise<readonly number[]>;

function createMeasure({ qrels, relevantGrade }: Dataset, rankings: readonly Asked[], metric: string): Measure {
  const judged = new Map(rankings.map(([{ id }]) => [id, qrels.get(id) ?? new Map<string, number>()]));
  return async (recorded, alpha) => {
    const run = new Map<string, readonly Scored[]>();
    for (const [query, ranking] of rankings)
      run.set(query.id, alpha === null ? ranking : await rankByOutcomes(ranking, query, recorded, alpha));
    const options = { relevantGrade, unanswerable: 'count', holeDepth: 10 } as const;
    return evaluate(run, judged, [metric], options).values[metric] as readonly number[];
  };
}

/** The values on test by recorded outcomes, with the weight that is best on dev. */
interface Chosen {
  readonly alpha: number;
  readonly values: readonly number[];
}

async function measureArm(
  arm: string,
  rankings: readonly Asked[],
  dataset: Dataset,
  settings: OutcomeLearningSettings,
): Promise<MailArm> {
  const { mail, seed } = settings;
  const split = (name: Query['split']) => rankings.filter(([query]) => query.split === name);
  const test = split('test').map(([query]) => query);
  const measureDev = createMeasure(dataset, split('dev'), mail.metric);
  const measureTest = createMeasure(dataset, split('test'), mail.metric);
  const choose = async (recorded: RecordedOutcomes): Promise<Chosen> => {
    const alpha = await chooseAlpha(measureDev, recorded, mail);
    return { alpha, values: await measureTest(recorded, alpha) };
  };
  const found: (Pick<MailRow, 'failure' | 'share' | 'outcomes'> & { readonly pair: readonly [Chosen, Chosen] })[] = [];
  for (const failure of mail.failures) {
    const answered = recordAnswers(dataset, mail.answerHours, failure);
    for (const share of mail.shares) {
      const recorded = takeShare(answered, share, seed);
      const others = takeShare(exchange(answered, seed), share, seed);
      const outcomes = average(test.map((query) => countRecorded(recorded, query)));
      found.push({ failure, share, outcomes, pair: [await choose(recorded), await choose(others)] });
    }
  }
  const clusters = groupIntoClusters(test.map(({ cluster }) => cluster));
  const base = await measureTest(new Map(), null);
  const values = found.flatMap(({ pair }) => pair.map((one) => one.values));
  const gains = compareWithBaseline(values, base, clusters, settings);
  return {
    arm,
    mean: average(base),
    rows: found.map(({ pair: [real, exchanged], ...row }, i) => {
      const describe = ({ alpha, values: own }: Chosen, at: number): MailFigure => ({
        alpha,
        mean: average(own),
        gain: gains[at] as BaselineComparison,
      });
      const [information] = compareWithBaseline([real.values], exchanged.values, clusters, settings);
      return {
        ...row,
        real: describe(real, 2 * i),
        exchanged: describe(exchanged, 2 * i + 1),
        information: information as BaselineComparison,
      };
    }),
  };
}

/** Orders the rankings of arms again by whether messages were answered. */
export async function measureMail(
  settings: OutcomeLearningSettings,
  { cacheFolder, progress }: StudyContext,
): Promise<MailFigures> {
  const { mail } = settings;
  const config = loadConfig(settings.config, ['evaluation.split=all', `evaluation.depth=${mail.depth}`]);
  const runner = await openArmRunner(config, { cacheFolder, progress });
  try {
    const { dataset, queries } = runner;
    const answered = recordAnswers(dataset, mail.answerHours, 0);
    const test = queries.filter(({ split }) => split === 'test');
    const arms: MailArm[] = [];
    for (const arm of mail.arms) {
      const { ranked } = await runner.rank(arm, 0);
      const rankings = queries.map((query, i): Asked => [query, readRanking(dataset.corpus, ranked, i)]);
      arms.push(await measureArm(arm, rankings, dataset, settings));
    }
    return {
      ...{ dataset: dataset.name, hash: dataset.hash, tested: describeTestSplit(dataset, queries), arms },
      queries: {
        dev: queries.length - test.length,
        test: test.length,
        clusters: new Set(test.map(({ cluster }) => cluster)).size,
      },
      rate: average([...answered.values()].map(({ outcome }) => outcome)),
      reached: average(test.map((query) => Number(isReached(dataset, answered, query)))),
    };
  } finally {
    await runner.dispose();
  }
}

/** The weight with the best mean on dev, the first of equal ones. */
async function chooseAlpha(measure: Measure, recorded: RecordedOutcomes, { alphas }: MailSettings): Promise<number> {
  const means: number[] = [];
  for (const alpha of alphas) means.push(average(await measure(recorded, alpha)));
  return alphas[means.indexOf(Math.max(...means))] as number;
}

function countRecorded(recorded: RecordedOutcomes, { timestamp }: Query): number {
  let count = 0;
  for (const { at } of recorded.values()) if (at < timestamp) count++;
  return count;
}

function isReached({ qrels, relevantGrade }: Dataset, recorded: RecordedOutcomes, { id, timestamp }: Query): boolean {
  return [...(qrels.get(id) ?? [])].some(
    ([turn, grade]) => grade >= relevantGrade && (recorded.get(turn)?.at ?? Number.POSITIVE_INFINITY) < timestamp,
  );
}
