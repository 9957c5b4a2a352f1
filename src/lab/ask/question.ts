import { z } from 'zod';
import { computeHash } from '../../core/hash/hash.ts';
import { ASSEMBLY_STRATEGIES } from '../../memory/context/assembly-strategies.ts';
import { contextSharesSchema } from '../../memory/context/budget.ts';
import { PACKING_NAMES } from '../../memory/context/packing.ts';
import type { Query } from '../../model/dataset.ts';
import { TOKEN_COUNTERS } from '../../model/text/token-options.ts';
import type { Corpus } from '../../model/turns/corpus.ts';

/** Numbers of a vector, and the largest of them, as of the coordinates of a memory. */
const MOST_NUMBERS = 100_000;
const LARGEST = 1e18;

/** A question, who asks it and when, and how much of the answer's evidence a model is shown. */
export const questionSchema = z.strictObject({
  text: z.string().regex(/\S/, 'a question with at least one letter'),
  /** The vector of the question, by the encoder of the arm; null: the arm embeds the text if it compares vectors. */
  vector: z.array(z.number().min(-LARGEST).max(LARGEST)).min(1).max(MOST_NUMBERS).nullable().default(null),
  /** Milliseconds since 1970: only earlier turns are seen; null: after the newest turn. */
  asOf: z.number('milliseconds since 1970').nullable().default(null),
  /** In which `yesterday` begins. */
  timeZone: z.string().default('UTC'),
  author: z.string().nullable().default(null),
  channel: z.string().nullable().default(null),
  /** Only turns of this conversation; null: of all. */
  conversationId: z.string().nullable().default(null),
  anchorTurnId: z.string().nullable().default(null),
  /** Tokens of all turns together. */
  budget: z.int('a whole number of tokens').min(1).default(2000),
  /** `ranking`: the turns of the arm in its order, whatever they are; the others are those of `assemble`, which divides the budget. */
  strategy: z.enum(['ranking', ...ASSEMBLY_STRATEGIES]).default('ranking'),
  /** Of the strategy `rag`: the shares of documents and of memories; `by-question`: the preset that follows from the understanding of the question. */
  weights: z.union([z.literal('by-question'), contextSharesSchema]).default('memory-focused'),
  /** Memories of this conversation alone, beside the documents of all; null: of all. */
  session: z.string().nullable().default(null),
  /** Of all strategies but `ranking`: one order over documents and memories. */
  rerank: z.enum(['bm25', 'none']).default('bm25'),
  packing: z.enum(PACKING_NAMES).default('in-order'),
  tokens: z.enum(TOKEN_COUNTERS).default('characters/4'),
  /** The text goes to no service and into no file of the cache. The prompt stays here too: it may hold sensitive turns. */
  sensitive: z.boolean().default(false),
});
/** A question, see {@link questionSchema}. */
export type QuestionInput = z.input<typeof questionSchema>;
/** A question with its defaults. */
export type Question = z.output<typeof questionSchema>;

/**
 * The queries that a question asks an arm: one; with a session a second one within this conversation, whose memories the prompt shows.
 *
 * @throws ValidationError for a conversation, session or anchor that the corpus lacks.
 */
export function buildQueries(question: Question, corpus: Corpus): [Query, ...Query[]] {
  const { text, asOf, author, channel, conversationId, anchorTurnId, session, sensitive } = question;
  for (const id of [conversationId, session]) if (id !== null) corpus.getConversation(id);
  if (anchorTurnId !== null) corpus.getTurn(anchorTurnId);
  // What stages keep of a question is found by its id.
  const id = `question-${computeHash(question).slice(0, 16)}`;
  const query: Query = {
    ...{ id, text, timestamp: asOf ?? (corpus.turns.at(-1)?.timestamp ?? 0) + 1, author, channel, anchorTurnId },
    ...(conversationId !== null && { conversationId }),
    ...(sensitive && { attributes: { sensitive } }),
    ...{ split: 'test', cluster: 'question' },
  };
  return session === null ? [query] : [query, { ...query, id: `${id}-session`, conversationId: session }];
}
