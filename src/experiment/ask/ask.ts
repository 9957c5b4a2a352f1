import { join } from 'node:path';
import { z } from 'zod';
import { type CountedItem, readItemText } from '../../context/context-item.ts';
import { PACKING_NAMES, PACKINGS } from '../../context/packing.ts';
import { formatPrompt } from '../../context/prompt.ts';
import { describeTurn } from '../../context/turn-item.ts';
import { ValidationError } from '../../core/errors.ts';
import { computeHash } from '../../core/hash.ts';
import type { StartProgress } from '../../core/progress.ts';
import { parse, suggestKnown } from '../../core/validation.ts';
import { loadDataset } from '../../datasets/registry.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turn.ts';
import { TOKEN_COUNTERS } from '../../text/token-counter-names.ts';
import { createTokenCounter } from '../../text/token-counts.ts';
import type { ExperimentConfig } from '../config/config.ts';
import { openArmRunner } from '../run/arm-runner.ts';

/** A question, who asks it and when, and how much of the answer's evidence a model is shown. */
export const questionSchema = z.strictObject({
  text: z.string().regex(/\S/, 'a question with at least one letter'),
  /** Milliseconds since 1970: only earlier turns are seen; null: after the newest turn. */
  asOf: z.number().nullable().default(null),
  author: z.string().nullable().default(null),
  channel: z.string().nullable().default(null),
  /** Only turns of this conversation; null: of all. */
  conversationId: z.string().nullable().default(null),
  anchorTurnId: z.string().nullable().default(null),
  /** Tokens of all turns together. */
  budget: z.int('a whole number of tokens').min(1).default(2000),
  packing: z.enum(PACKING_NAMES).default('in-order'),
  tokens: z.enum(TOKEN_COUNTERS).default('characters/4'),
});
/** A question, see {@link questionSchema}. */
export type QuestionInput = z.input<typeof questionSchema>;
type Question = z.output<typeof questionSchema>;

/** A turn of the ranking, and why it is there. */
export interface RankedReason {
  readonly id: string;
  /** From 1. */
  readonly rank: number;
  readonly score: number;
  /** The parts of the score by name, such as `cosine` or `bm25`. */
  readonly parts: Readonly<Record<string, number>>;
  readonly tokens: number;
  /** Whether it is in the prompt. */
  readonly packed: boolean;
}

/** What a model would be shown for a question, and why. */
export interface AskedContext {
  readonly prompt: string;
  readonly arm: string;
  readonly tokens: number;
  readonly budget: number;
  /** The moment of the question in milliseconds since 1970. */
  readonly asOf: number;
  /** The ranking of the arm, best first. */
  readonly ranking: readonly RankedReason[];
}

/** What {@link askArm} needs besides the config. */
export interface AskContext {
  /** Where prepared data and embeddings are kept; null keeps nothing. */
  readonly cacheFolder: string | null;
  /** By default the dataset that the config names. */
  readonly dataset?: Dataset;
  readonly progress?: StartProgress;
}

function buildQuery(question: Question, { corpus }: Dataset): Query {
  const newest = corpus.turns.at(-1)?.timestamp ?? 0;
  const { text, asOf, author, channel, conversationId, anchorTurnId } = question;
  if (conversationId !== null) corpus.getConversation(conversationId);
  if (anchorTurnId !== null) corpus.getTurn(anchorTurnId);
  return {
    // What stages keep of a question is found by its id.
    id: `question-${computeHash(question).slice(0, 16)}`,
    ...{ text, timestamp: asOf ?? newest + 1, author, channel, anchorTurnId },
    ...(conversationId !== null && { conversationId }),
    ...{ split: 'test', cluster: 'question' },
  };
}

/** The one arm of a config that is asked. @throws ValidationError for a name that no arm has. */
function findArm({ arms }: ExperimentConfig, name: string): ExperimentConfig['arms'][number] {
  const arm = arms.find((one) => one.name === name);
  if (arm !== undefined) return arm;
  const known = arms.map((one) => one.name);
  throw new ValidationError(`config has no arm: ${name}; use ${suggestKnown(name, known)}`, { arm: name });
}

/**
 * Asks one arm of an experiment a question of one's own, and packs its ranking into a prompt. The arm is tuned as in a run, on the dev queries of the dataset.
 *
 * @throws ConfigurationError for a question that breaks its schema; ValidationError for an unknown arm, conversation or anchor.
 */
export async function askArm(
  config: ExperimentConfig,
  arm: string,
  input: QuestionInput,
  { cacheFolder, dataset: given, progress }: AskContext,
): Promise<AskedContext> {
  const question = parse(questionSchema, input, 'question');
  findArm(config, arm);
  const folder = cacheFolder === null ? null : join(cacheFolder, 'datasets');
  const dataset = given ?? (await loadDataset(config.dataset, { cacheFolder: folder, ...(progress && { progress }) }));
  const query = buildQuery(question, dataset);
  const { evaluation } = config;
  const runner = await openArmRunner(
    { ...config, evaluation: { ...evaluation, limitQueries: null, latency: null, inspect: evaluation.depth } },
    { cacheFolder, dataset, queries: [query], ...(progress && { progress }) },
  );
  try {
    const record = await runner.run(arm);
    const countTokens = await createTokenCounter(question.tokens);
    const items = listItems(dataset, record, countTokens);
    const { packed, tokens } = PACKINGS[question.packing](items, question.budget);
    const inPrompt = new Set(packed);
    const width = record.componentNames.length;
    return {
      prompt: formatPrompt(question.text, packed, query.timestamp),
      ...{ arm, tokens, budget: question.budget, asOf: query.timestamp },
      ranking: items.map((item, place) => ({
        ...{ id: item.id, rank: place + 1, score: item.score, tokens: item.tokens, packed: inPrompt.has(item) },
        parts: Object.fromEntries(
          record.componentNames.map((name, i) => [name, record.components[place * width + i] as number]),
        ),
      })),
    };
  } finally {
    await runner.dispose();
  }
}

/** The turns of the one ranking of a record, best first. */
function listItems(
  { corpus }: Dataset,
  { positions, scores }: { readonly positions: Int32Array; readonly scores: Float32Array },
  countTokens: (text: string) => number,
): CountedItem[] {
  return [...positions].flatMap((position, place) => {
    if (position < 0) return [];
    const item = describeTurn(corpus.turns[position] as Turn, scores[place] as number);
    return [{ ...item, tokens: countTokens(readItemText(item)) }];
  });
}
