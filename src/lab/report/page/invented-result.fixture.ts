import { stateShown } from '../../../core/display/display.ts';
import { createRandom, type Random } from '../../../core/numbers/random.ts';
import type { ArmResult, ExperimentResult, QueryRecord, RankedTurn, TurnRecord } from '../../measure/result.ts';

/** The size of an invented result. */
export interface SampleSize {
  readonly arms: number;
  readonly threads: number;
  readonly turnsAThread: number;
  readonly top: number;
}

const ARMS = [
  'newest-first',
  'bm25',
  'cosine',
  'hybrid',
  'hybrid-decay',
  'trajectory',
  'rcp',
  'ircp-literal',
  'ircp-directed',
  'tpo',
  'unified',
  'propagation-published',
  'propagation-framework',
];
const METRICS = ['mrr@10', 'recall@10', 'ndcg@10', 'recall@1'];
const COMPONENTS = ['lexical', 'hnsw', 'decay', 'trajectory', 'rcp'];
const PARTS = ['relevance', 'decay', 'trajectory', 'rcp'];
const PHRASES = [
  'I have rebuilt the package against the new library and the crash is gone here.',
  'Does anybody know whether the filter still runs before the whitelist is read?',
  'The patch applies cleanly, but the second test then fails on big-endian machines.',
  'That would break every script that parses the output, so please make it an option.',
  'See the archive of last month, this was answered at some length.',
  'It is a matter of taste, although the numbers rather suggest otherwise.',
  'After the upgrade the daemon no longer finds its configuration folder.',
  'Thanks, that was it.',
  'My reading of the licence is that linking is fine as long as the notice stays.',
  'We measured twelve percent on the old corpus and nothing at all on the new one.',
];

/** A result with the shape of a real run and invented contents: threads that branch, rankings from better and worse arms, a hostile text in each tenth turn. */
export function inventResult(seed: number, size: SampleSize): ExperimentResult {
  const draw = createRandom(seed, 'sample-result');
  const turns = inventTurns(draw, size);
  const queries = inventQueries(draw, turns, size);
  const names = Array.from({ length: size.arms }, (_, at) => ARMS[at] ?? `arm-${at}`);
  const arms = names.map((name, at) => inventArm(draw, name, at, queries, turns, size.top));
  return {
    name: 'sample',
    hash: '3f9a1c20',
    description: 'Which earlier message does a reply answer? An invented run.',
    environment: {
      version: '0.1.0',
      commit: 'abcdef0',
      node: 'v20.20.2',
      backend: 'wasm',
      packages: { '@tensorflow/tfjs-core': '4.22.0' },
      machine: { platform: 'linux x64', cpu: 'Imaginary CPU', cores: 2, memoryGiB: 7.8 },
      seed,
      command: 'npm start',
    },
    config: {
      name: 'sample',
      seed,
      arms: names.map((name) => ({ name, steps: ['search'], search: { hnsw: {}, bm25: {} } })),
    },
    dataset: {
      name: 'sample-threads',
      task: 'Find the parent of a reply among all strictly earlier messages.',
      features: ['text', 'author', 'time'],
      licence: 'CC0-1.0',
      relevantGrade: 3,
      gradeNames: { 3: 'parent', 2: 'ancestor', 1: 'same thread' },
      hash: '77aa',
      split: 'test',
      facts: { messages: turns.length, threads: size.threads, queries: queries.length },
      turns,
    },
    queries,
    unanswerable: [],
    metrics: METRICS,
    statistics: { test: 'permutation', correction: 'holm', samples: 10_000, level: 0.95 },
    baseline: 'bm25',
    arms: inventComparisonsOf(arms),
    failures: [],
    stopped: [],
    passports: {},
    strata: [],
    sweep: null,
    stages: {},
    remarks: ['hnsw finds .998 of what the exact index finds in the top 10.'],
    armsAtOnce: 1,
    timings: [
      { stage: 'dataset', seconds: 1.7, launches: 0 },
      { stage: 'arms', seconds: 12.3, launches: 1503 },
    ],
  };
}

function inventTurns(draw: Random, { threads, turnsAThread }: SampleSize): TurnRecord[] {
  const turns: TurnRecord[] = [];
  for (let thread = 0; thread < threads; thread++) {
    const start = Date.UTC(2002, 7, 1) + draw.integer(60 * 86_400) * 1000;
    for (let at = 0; at < turnsAThread; at++) {
      const parent = at === 0 ? null : `t${thread}.${draw.integer(at)}`;
      const hostile = draw.integer(10) === 0 ? ' </script><img src=x onerror=alert(1)>\u2028 end' : '';
      turns.push({
        id: `t${thread}.${at}`,
        conversationId: `thread-${thread}`,
        parentId: parent,
        timestamp: start + at * 3_700_000 + draw.integer(3_600_000),
        author: `author-${draw.integer(40)}`,
        channel: thread % 2 === 0 ? 'users' : 'developers',
        text: stateShown(drawPhrases(draw) + hostile),
      });
    }
  }
  return turns;
}

function drawPhrases(draw: Random): string {
  return Array.from({ length: 1 + draw.integer(6) }, () => PHRASES[draw.integer(PHRASES.length)]).join(' ');
}

/** The last turn of every thread and one from its middle ask for their parents. */
function inventQueries(
  draw: Random,
  turns: readonly TurnRecord[],
  { threads, turnsAThread }: SampleSize,
): QueryRecord[] {
  const starts = Array.from({ length: threads }, (_, thread) => thread * turnsAThread);
  return starts.flatMap((start) => {
    const thread = turns.slice(start, start + turnsAThread);
    return [1 + draw.integer(thread.length - 2), thread.length - 1].map((at) => {
      const { id, text, timestamp, author, channel, conversationId, parentId } = thread[at] as TurnRecord;
      const earlier = thread.slice(0, at).map((turn) => [turn.id, turn.id === parentId ? 3 : 1] as const);
      const judgements = Object.fromEntries(earlier);
      const kind = at % 3 === 0 ? 'question' : 'statement';
      return { id, text, timestamp, author, channel, cluster: conversationId, kind, turnId: id, judgements };
    });
  });
}

function inventArm(
  draw: Random,
  name: string,
  at: number,
  queries: readonly QueryRecord[],
  turns: readonly TurnRecord[],
  top: number,
): ArmResult {
  const rankings = queries.map((query) => inventRanking(draw, query, turns, top, 0.5 + 0.15 * Math.sin(at + 4)));
  const ranks = rankings.map((ranking, q) => ranking.findIndex(({ id }) => queries[q]?.judgements[id] === 3) + 1);
  const perQuery = {
    'mrr@10': ranks.map((rank) => (rank === 0 ? 0 : 1 / rank)),
    'recall@10': ranks.map((rank) => Number(rank > 0)),
    'ndcg@10': ranks.map((rank) => (rank === 0 ? 0 : 1 / Math.log2(rank + 1))),
    'recall@1': ranks.map((rank) => Number(rank === 1)),
  };
  const metrics = Object.fromEntries(
    Object.entries(perQuery).map(([metric, values]) => [metric, inventInterval(values)]),
  );
  return {
    name,
    description: `The invented arm number ${at}.`,
    options: { steps: ['search'], search: { hnsw: {}, bm25: {} } },
    levels: null,
    control: null,
    structure: null,
    tuned: at % 3 === 2 ? { halfLifeHours: 24 * at, 'fuse.convex.hnsw': 0.3 } : {},
    metrics,
    comparisons: null,
    perQuery,
    componentNames: COMPONENTS.slice(0, 1 + (at % COMPONENTS.length)),
    contributionNames: PARTS.slice(0, 1 + (at % PARTS.length)),
    coordinateNames: at < 3 ? [] : ['depth', 'temporal', 'homogeneity'],
    rankings: rankings.map((ranking) =>
      ranking.map((turn) => ({
        ...turn,
        components: turn.components.slice(0, 1 + (at % COMPONENTS.length)),
        ...inventPlace(at, turn),
      })),
    ),
    holes: rankings.flatMap((ranking, q) => ranking.filter(({ id }) => queries[q]?.judgements[id] === undefined))
      .length,
    strata: {},
    attribution: {},
    losses: queries.map(() => ({})),
    latency: null,
  };
}

/** Parts that add up to the score of a turn, the second one negative, and coordinates and reasons of arms from the third. */
function inventPlace(
  at: number,
  { id, score }: RankedTurn,
): Pick<RankedTurn, 'contributions' | 'coordinates' | 'reason'> {
  const draw = createRandom(at, `sample-place ${id}`);
  const others = PARTS.slice(1, 1 + (at % PARTS.length)).map(
    (name) => score * draw.uniform() * (name === 'decay' ? -1 : 0.4),
  );
  const coordinates = at < 3 ? [] : [draw.uniform(), draw.uniform(), draw.uniform(), 0.9, 1, 0.5];
  const reason =
    at < 3 ? {} : { reason: `Recalled because it is important (${Math.round(100 * score)} % of its score).` };
  return { contributions: [others.reduce((sum, part) => sum - part, score), ...others], coordinates, ...reason };
}

/** Drawn from the turns before the query, relevant ones rather than others and rather high. */
function inventRanking(
  draw: Random,
  query: QueryRecord,
  turns: readonly TurnRecord[],
  top: number,
  quality: number,
): RankedTurn[] {
  const ids = new Set(Object.keys(query.judgements).filter(() => draw.uniform() < quality));
  const earlier = turns.filter((turn) => turn.timestamp < query.timestamp);
  for (let drawn = 0; drawn < top; drawn++) ids.add((earlier[draw.integer(earlier.length)] as TurnRecord).id);
  const places = [...ids].map((id) => ({ id, place: draw.uniform() - 0.4 * quality * (query.judgements[id] ?? 0) }));
  places.sort((a, b) => a.place - b.place);
  return places.slice(0, top).map(({ id }, at) => ({
    id,
    score: 1 - at / top - draw.uniform() / (2 * top),
    components: COMPONENTS.map((_, part) => (draw.uniform() - (part === 3 ? 0.4 : 0)) * 3 ** (1 - part)),
  }));
}

function inventInterval(values: readonly number[]): { mean: number; low: number; high: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0)) / values.length;
  return { mean, low: mean - 2 * spread, high: mean + 2 * spread };
}

/** Invented p values that agree with the intervals, so that every verdict occurs. */
function inventComparisonsOf(arms: readonly ArmResult[]): ArmResult[] {
  const baseline = arms[1] as ArmResult;
  return arms.map((arm) => {
    if (arm === baseline) return arm;
    const comparisons = METRICS.map((metric) => {
      const values = arm.perQuery[metric] as readonly number[];
      const difference = inventInterval(values.map((value, q) => value - (baseline.perQuery[metric]?.[q] as number)));
      const p = Math.exp(-0.7 * (difference.mean / ((difference.high - difference.low) / 4 || 1)) ** 2);
      const correctedP = Math.min(1, p * (arms.length - 1));
      const direction = difference.mean > 0 ? 'better' : 'worse';
      const verdict = correctedP < 0.05 ? direction : 'undecided';
      return [
        metric,
        {
          difference,
          p,
          correctedP,
          samples: 10_000,
          unresolved: false,
          verdict,
          ...inventEffectSizes(values, baseline.perQuery[metric] ?? []),
        },
      ] as const;
    });
    return { ...arm, comparisons: Object.fromEntries(comparisons) };
  });
}

function inventEffectSizes(values: readonly number[], baseline: readonly number[]) {
  const differences = values.map((value, q) => value - (baseline[q] as number));
  const count = (sign: number) => differences.filter((difference) => Math.sign(difference) === sign).length;
  const { mean, low, high } = inventInterval(differences);
  return {
    effectSize: high === low ? null : (4 * mean) / ((high - low) * Math.sqrt(values.length)),
    minimumDetectable: 0.7 * (high - low),
    wins: count(1),
    ties: count(0),
    losses: count(-1),
    clusterWins: 5,
    clusterTies: 0,
    clusterLosses: 2,
    signFlipP: 0.3125,
  };
}
