import { computeHash } from '../../core/hash/hash.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { Counts } from '../prepared/counts.ts';
import { displayDataset } from '../prepared/dataset-display.ts';
import { SHOP_LICENCE, type ShopOptions } from '../prepared/datasets.ts';
import { askShop, type ShopQuestion } from './ask-shop.ts';
import { type DrawnShop, drawShop } from './draw-shop.ts';

/** Half of the questions, by a hash of what they ask: everything may be chosen on dev. */
export function isDevQuestion({ text }: Pick<ShopQuestion, 'text'>): boolean {
  return Number.parseInt(computeHash(text).slice(0, 8), 16) % 2 === 0;
}

/** The texts of the other half, which are unique. */
export function listTestTexts(questions: readonly Pick<ShopQuestion, 'text'>[]): string[] {
  return questions.filter((question) => !isDevQuestion(question)).map(({ text }) => text);
}

function buildQuery({ id, kind, text, timestamp, cluster }: ShopQuestion): Query {
  const split = isDevQuestion({ text }) ? 'dev' : 'test';
  return { id, text, timestamp, anchorTurnId: null, author: null, channel: null, kind, split, cluster };
}

/** The dataset of a shop: its memories, and the questions that memories answer. */
export function buildShopDataset({ turns }: Pick<DrawnShop, 'turns'>, questions: readonly ShopQuestion[]): Dataset {
  const answered = questions.filter(({ memories }) => memories.length > 0);
  const queries = answered.map(buildQuery);
  const corpus = new Corpus(turns);
  const counts = new Counts();
  const pages = corpus.turns.filter(({ attributes }) => attributes?.source === 'documents').length;
  counts.add('memories', corpus.size - pages);
  if (pages > 0) counts.add('pages', pages);
  counts.add('questions', questions.length);
  for (const { kind } of questions) counts.add(`questions, ${kind}`);
  for (const { split } of queries) counts.add(`queries, ${split}`);
  return displayDataset({
    name: 'shop',
    declaration: {
      task: 'a question of the owner of a shop must find the memories that answer it',
      features: ['text', 'time', 'attributes of memories'],
      licence: SHOP_LICENCE,
    },
    corpus,
    queries,
    qrels: new Map(answered.map(({ id, memories }) => [id, new Map(memories.map((turn) => [turn, 1]))])),
    relevantGrade: 1,
    gradeNames: { 1: 'answers' },
    // Memories are no answers: encoders may be fitted on all of them.
    devConversations: new Set(corpus.conversations.map(({ id }) => id)),
    facts: counts.toFacts(),
    hash: computeHash({ turns: corpus.turns, questions }),
  });
}

/**
 * An invented shop: see docs/datasets/shop.md.
 *
 * @throws ConfigurationError for options out of range.
 */
export async function loadShop({ name: _, ...options }: ShopOptions): Promise<Dataset> {
  const drawn = drawShop(options);
  return buildShopDataset(drawn, askShop(drawn, options));
}
