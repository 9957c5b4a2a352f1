import { z } from 'zod';
import type { SessionKind } from '../../model/turns/sessions.ts';
import { candidateCount, type IndexDefinition, type IndexReads } from '../candidates/index-definition.ts';

/** Views of a turn, which its tokens see: the turn alone, or also the two turns before it in its session. */
export const LATE_VIEWS = ['context', 'plain'] as const;
export type LateView = (typeof LATE_VIEWS)[number];

export const SESSION_KINDS = ['session', 'channel'] as const satisfies readonly SessionKind[];

/** The scores of late interaction. */
export const LATE_SCORE_NAMES = [
  'zidf',
  'maxsim',
  'standardised',
  'focused',
  'minimum',
  'rank',
  'share',
  'near',
  'window',
  'cosine',
] as const;
export type LateScore = (typeof LATE_SCORE_NAMES)[number];

/** Options of late interaction, wherever it is written. */
export const lateScoring = {
  /** `context`: the tokens of a turn see the two turns before it in its session too; `plain`: the turn alone. */
  view: z.enum(LATE_VIEWS).default('context'),
  /** True if the text of a turn is `author: text`. */
  author: z.boolean().default(true),
  /** The turns around a turn: of its session, or of its channel; absent in a resolved config that takes sessions. */
  around: z.enum(SESSION_KINDS).optional(),
  score: z.enum(LATE_SCORE_NAMES).default('zidf'),
};

/** Scores of a turn that look at the turns around it. */
export const AROUND_SCORES: readonly LateScore[] = ['near', 'window'];

/** The parts of the data that the scores of a view read: a turn by itself, or also those around it. */
export function listLateReads({ view, score }: Pick<LateOptions, 'view' | 'score'>): IndexReads {
  const looksAround = view === 'context' || AROUND_SCORES.includes(score);
  return ['texts', 'tokens', 'times', ...(looksAround ? (['replies'] as const) : [])];
}

const options = z.strictObject({ index: z.literal('late'), k: candidateCount, ...lateScoring });
export type LateOptions = z.output<typeof options>;
/** The texts of turns that are compared by their tokens. */
export type LateTexts = Pick<LateOptions, 'view' | 'author' | 'around'>;

export const late: IndexDefinition<typeof options> = {
  options,
  reads: listLateReads,
  description: 'late interaction of tokens, exactly: compares each token of the query with those of every turn',
};
