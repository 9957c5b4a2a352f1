import {
  AROUND_SCORES,
  LATE_VIEWS,
  type LateOptions,
  type LateScore,
  type LateTexts,
  type LateView,
  listLateReads,
} from '../../index/late/late-options.ts';
import type { TokenSource } from '../../model/encoder.ts';
import { defineSignal, type World } from './signal.ts';
import type { Column } from './stage.ts';
import { scoreBySubcorpus } from './subcorpus.ts';
import type { WorldPart } from './worlds/world-parts.ts';

/** No score of late interaction is lower: standardised maxima are cut here. */
export const LEAST_LATE = -8;

/** 1 / (1 + exp(-score)): in the order of the scores and never negative, so that they can be decayed and blended. */
export function computeShares(column: Column): Column {
  return column.map((score) => 1 / (1 + Math.exp(-score)));
}

interface DescribedSignal {
  readonly name: string;
  readonly summary: string;
  readonly reads: readonly WorldPart[];
}

const READS: readonly WorldPart[] = ['texts', 'tokens', 'times', 'replies'];
/** The parts that signals read which look at no turn around a turn. */
const OWN_READS: readonly WorldPart[] = ['texts', 'tokens', 'times'];

const VIEWS: Readonly<Record<LateView, string>> = {
  context: 'late interaction of the query with the turn, whose tokens see the two turns before it in its session',
  plain: 'late interaction of the query with the turn by itself',
};

/** The scores besides `zidf`, which is the one that is spread. */
const SUMMARIES: Readonly<Record<Exclude<LateScore, 'zidf'>, string>> = {
  maxsim: 'mean over tokens of the largest product',
  standardised: 'the score with equal weights for all tokens',
  focused: 'mean over tokens of max(0, z)²',
  minimum: 'the smallest of the largest products of tokens that are no stop words',
  rank: 'the score with 1 − ln rank / ln turns in place of z',
  share: 'exp(4 (the score − that of the best turn))',
  near: 'the best score of the turn and the two before and after it in its session',
  window: 'the score of the turn together with the ones before and after it',
  cosine: "cosine of the means of the query's and the turn's tokens",
};

const NAMED = {
  named: 'the score if the query names its author, else 0',
  other: 'the score if the query names other authors alone, else 0',
};

/** The name of the score of a view in a bank, and the beginning of the names of its other signals. */
export const nameLateView = (view: LateView) => `late.${view}`;

/** The signals of late interaction that are spread over sessions. */
export function listLateSpreads(): DescribedSignal[] {
  return LATE_VIEWS.map((view) => ({ name: nameLateView(view), summary: VIEWS[view], reads: READS }));
}

const describeScores = (view: LateView, scores: readonly (readonly [string, string])[], reads: readonly WorldPart[]) =>
  scores.map(([score, summary]) => ({
    name: `${nameLateView(view)}.${score}`,
    summary: `${summary}, as \`${nameLateView(view)}\``,
    reads,
  }));

/**
 * The signals of late interaction of a turn by itself, in the order of their columns.
 *
 * @param author true if it may be looked at who speaks.
 */
export function listOwnLateSignals(author: boolean): DescribedSignal[] {
  const around: readonly string[] = AROUND_SCORES;
  const scores = Object.entries({ ...SUMMARIES, ...(author ? NAMED : {}) }).filter(([name]) => !around.includes(name));
  const zidf = { name: nameLateView('plain'), summary: VIEWS.plain, reads: OWN_READS };
  return [zidf, ...describeScores('plain', scores, OWN_READS)];
}

/**
 * The other signals of late interaction, in the order of their columns.
 *
 * @param author true if it may be looked at who speaks.
 */
export function listLateSignals(author: boolean): DescribedSignal[] {
  const scores = Object.entries({ ...SUMMARIES, ...(author ? NAMED : {}) });
  return LATE_VIEWS.flatMap((view) => describeScores(view, scores, READS));
}

/** The vectors of all tokens that the queries of a world need, computed where they are missing. */
export async function prepareTokens(world: World, { view, author, around }: LateTexts): Promise<TokenSource> {
  const texts: LateTexts = { view, author, ...(around && { around }) };
  const tokens = await world.openTokens();
  await world.keepOnce(['prepared tokens', texts], async () => {
    const { LateTurns } = await import('../../index/late/late-turns.ts');
    const listed = world.subcorpora
      .split(world.batch)
      .flatMap(({ subcorpus: { corpus }, batch }) =>
        Object.values(new LateTurns(corpus, tokens, texts).listTexts(batch)).flat(),
      );
    await tokens.prepare(listed, world.startProgress);
  });
  return tokens;
}

/** Late interaction of every pair as of the query's moment. */
export const lateSignal = defineSignal({
  name: 'late',
  summary: 'late interaction of the tokens of query and turn, over the turns at the time of the query',
  module: import.meta.url,
  reads: listLateReads,
  key: ({ k: _, index: __, ...scoring }: LateOptions) => scoring,
  compute: async ({ world, pool }, options) => {
    const { LateIndex } = await import('../../index/late/late.ts');
    const tokens = await prepareTokens(world, options);
    const stage = world.startProgress('late interaction', pool.queryCount);
    let done = 0;
    const column = await scoreBySubcorpus(world, pool, async ({ subcorpus: { corpus }, batch }, positions) => {
      const index = new LateIndex(options, { corpus, tokens });
      const count = batch.cutoffs.length;
      const part = { update: (queries: number) => stage.update(done + queries), finish: () => {} };
      const scores = await index.scorePairs(batch, positions, pool.width, () => part);
      done += count;
      return scores;
    });
    stage.finish(`${done} queries`);
    return column.map((score) => Math.max(LEAST_LATE, score));
  },
});
