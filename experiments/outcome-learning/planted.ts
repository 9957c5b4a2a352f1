import { createRandom, type Random } from '../../src/core/numbers/random.ts';
import { getOrCompute } from '../../src/core/values/once.ts';
import { computeRerankScores, type RerankedCandidate } from '../../src/memory/engine/rerankers.ts';
import { updateOutcomeStatistics } from '../../src/memory/outcomes/outcome-statistics.ts';
import { compareScored, type Scored } from '../../src/model/turns/tie-rule.ts';
import { EMPTY_OUTCOME_STATISTICS, type OutcomeStatistics } from '../../src/model/turns/turn.ts';
import { type FoundRecord, POLICIES, type Policy } from './policies.ts';
import type { PlantedSettings } from './settings.ts';

/** Records of some topics, with hidden rates of success. T topics, N records. */
export interface PlantedWorld {
  /** [N] the share of the questions of its topic that a record answers; of other topics it answers none. */
  readonly rates: readonly number[];
  /** [N] */
  readonly topics: readonly number[];
  /** [T] the records that a question of a topic finds, by cosine, best first. */
  readonly pools: readonly (readonly Scored[])[];
  /** [N] where the outcome of a record is recorded if outcomes are exchanged. */
  readonly exchange: readonly number[];
}

function drawUnit(dimension: number, random: Random): number[] {
  const vector = Array.from({ length: dimension }, () => random.drawNormal());
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const dot = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);

/**
 * A world. The rate of a record is 1/2 + strength (u - 1/2) with u drawn from [0, 1): at strength 0 no outcome tells
 * records apart.
 */
export function drawWorld(settings: PlantedSettings, strength: number, seed: number): PlantedWorld {
  const { topics: count, records, dimension, noise, pool } = settings;
  const random = createRandom(seed, 'planted records');
  const questions = Array.from({ length: count }, () => drawUnit(dimension, random));
  const topics = Array.from({ length: count * records }, (_, record) => record % count);
  const vectors = topics.map((topic) => {
    const own = drawUnit(dimension, random);
    const sum = (questions[topic] as number[]).map((value, i) => value + noise * (own[i] as number));
    const length = Math.hypot(...sum);
    return sum.map((value) => value / length);
  });
  const rates = topics.map(() => 0.5 + strength * (random.uniform() - 0.5));
  const pools = questions.map((question) =>
    vectors
      .map((vector, record) => ({ id: String(record), score: dot(question, vector) }))
      .sort(compareScored)
      .slice(0, pool),
  );
  return { rates, topics, pools, exchange: createRandom(seed, 'exchanged outcomes').shuffle([...topics.keys()]) };
}

/** The records that a policy shows: a row for each question. */
export interface PlantedRun {
  readonly policy: string;
  /** [questions] the topic of each question. */
  readonly topics: Int32Array;
  /** [questions] the mean chance of success of the records that were shown. */
  readonly values: Float64Array;
}

/**
 * The records that a question finds, in the order of the reranker `outcome`.
 *
 * @param read the outcomes of each that the reranker reads.
 */
export async function rankFound(
  found: readonly Scored[],
  read: readonly Pick<RerankedCandidate, 'outcome' | 'stats'>[],
  { alpha, kappa = 0 }: { readonly alpha: number; readonly kappa?: number },
): Promise<Scored[]> {
  const embedding = new Float32Array(0);
  const candidates = found.map(({ score }, i) => ({ outcome: null, ...read[i], score, createdAt: 0, embedding }));
  const scores = await computeRerankScores(candidates, { method: 'outcome', alpha, kappa, pool: 'both' }, 0);
  return found.map(({ id }, i) => ({ id, score: scores[i] as number })).sort(compareScored);
}

interface RunInputs {
  readonly policy: Policy;
  readonly alpha: number;
  readonly settings: PlantedSettings;
}

/** The records that are shown: the first ones, the last place by lot now and then if the policy draws. */
async function chooseShown(
  found: readonly Scored[],
  records: readonly FoundRecord[],
  { policy, alpha, random, settings }: RunInputs & { readonly random: Random },
): Promise<number[]> {
  const { shown, share, kappa } = settings;
  const outcomes = policy.readOutcomes?.(records, { random, kappa });
  const read = records.map(({ stats }, i) => (outcomes ? { outcome: outcomes[i] ?? null } : { outcome: null, stats }));
  const ranked = await rankFound(found, read, { alpha, ...(policy.hasPrior && { kappa }) });
  const ids = ranked.map(({ id }) => Number(id));
  if (!policy.draws || random.uniform() >= share) return ids.slice(0, shown);
  return [...ids.slice(0, shown - 1), ids[shown - 1 + random.integer(ids.length - shown + 1)] as number];
}

/**
 * Asks the questions of a world one after the other. As many outcomes are recorded of each question as records are
 * shown, before the next question. The n-th outcome of a record needs the same luck in every policy.
 */
export async function runPolicy(world: PlantedWorld, seed: number, inputs: RunInputs): Promise<PlantedRun> {
  const { policy, settings } = inputs;
  const { rates, topics, pools, exchange } = world;
  const { shown, outcomes } = settings;
  const count = Math.ceil((Math.max(...outcomes) * rates.length) / shown);
  const asked = createRandom(seed, 'questions');
  const random = createRandom(seed, `policy ${policy.name}`);
  const streams = new Map<number, Random>();
  const drawLuck = (record: number) =>
    getOrCompute(streams, record, () => createRandom(seed, `luck of record ${record}`)).uniform();
  const stats: OutcomeStatistics[] = rates.map(() => EMPTY_OUTCOME_STATISTICS);
  const run = { policy: policy.name, topics: new Int32Array(count), values: new Float64Array(count) };
  for (let question = 0; question < count; question++) {
    const topic = asked.integer(pools.length);
    const found = pools[topic] as readonly Scored[];
    const rateOf = (record: number) => (topics[record] === topic ? (rates[record] as number) : 0);
    const records = found.map(({ id }): FoundRecord => ({ stats: stats[Number(id)]!, rate: rateOf(Number(id)) }));
    const first = await chooseShown(found, records, { ...inputs, random });
    run.topics[question] = topic;
    run.values[question] = first.reduce((sum, record) => sum + rateOf(record), 0) / shown;
    for (const seen of first) {
      const record = policy.records === 'drawn' ? Number(found[random.integer(found.length)]?.id) : seen;
      const place = policy.records === 'exchanged' ? (exchange[record] as number) : record;
      const outcome = drawLuck(record) < rateOf(record) ? 1 : policy.failure;
      stats[place] = updateOutcomeStatistics(stats[place]!, outcome);
    }
  }
  return run;
}

/** Every policy on one world. */
export async function runPolicies(world: PlantedWorld, seed: number, inputs: Omit<RunInputs, 'policy'>) {
  const runs: PlantedRun[] = [];
  for (const policy of POLICIES) runs.push(await runPolicy(world, seed, { ...inputs, policy }));
  return runs;
}
