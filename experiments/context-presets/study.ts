import { z } from 'zod';
import { computeHash } from '../../src/core/hash/hash.ts';
import { drawShop } from '../../src/data/synthetic/draw-shop.ts';
import { askShop, isDevQuestion, listTestTexts } from '../../src/data/synthetic/shop.ts';
import { createEncoder, encoderOptions } from '../../src/index/encoders/registry.ts';
import { describeHeldOut } from '../../src/lab/measure/passport.ts';
import { estimate, formatDecimal, formatSigned } from '../../src/lab/report/tables/format.ts';
import type { Study } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';
import { ARMS, type ArmFigure, BASELINE, compareShares, listSharesByKind, measureShares } from './measure.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  shopSeed: z.int().default(1),
  customers: z.int().min(10).max(400).default(40),
  pages: z.int().min(10).max(5000).default(300),
  questions: z.int().min(12).max(2000).default(400),
  split: z.enum(['dev', 'test', 'all']).default('test'),
  embedding: encoderOptions.prefault({ encoder: 'use-lite' }),
  /** Tokens, `characters/4`. */
  budgets: z.array(z.int().min(1)).min(1).default([250, 500, 1000, 2000, 4000]),
  samples: z.int().min(100).default(10_000),
  level: z.number().gt(0).lt(1).default(0.95),
});

const formatArm = ({ mean, comparison }: ArmFigure) => {
  if (comparison === undefined) return estimate(mean, formatDecimal, 2);
  const { difference, verdict } = comparison;
  const mark = { better: ' ▲', worse: ' ▼', undecided: '' }[verdict];
  return `${estimate(mean, formatDecimal, 2)}, ${formatSigned(difference.mean, 3)}${mark}`;
};

/** What documents and memories of a question reach its prompt, by the shares of the budget, the packing, the order and the selection. */
export const contextPresets: Study<typeof settings> = {
  name: 'context-presets',
  description:
    'what reaches a prompt from documents and memories, by the shares of the budget, packing, order and selection',
  settings,
  measure: async (options, { progress }) => {
    const { seed, shopSeed, customers, pages, questions: count, split, embedding, budgets, samples, level } = options;
    const shop = drawShop({ seed: shopSeed, customers, pages });
    const questions = askShop(shop, { seed: shopSeed, questions: count }).filter(
      (question) => question.memories.length > 0 && (split === 'all' || isDevQuestion(question) === (split === 'dev')),
    );
    const encoder = await createEncoder(embedding, { seed, fitTexts: shop.turns.map(({ text }) => text) });
    const asked = { turns: shop.turns, questions, encoder, seed };
    const shares = await measureShares(asked, budgets, progress).finally(() => encoder.dispose());
    const rows = compareShares(shares, questions, budgets, { samples, seed, level });
    const middle = Math.floor(budgets.length / 2);
    const byKind = listSharesByKind(shares, questions, middle);
    return {
      dataset: {
        name: `shop with ${pages} pages, ${questions.length} questions (${split})`,
        hash: computeHash([shop, questions]),
      },
      tested: [describeHeldOut('shop', computeHash(shop), listTestTexts(questions))],
      figures: { rows, byKind },
      sections: [
        `Share of the memories and pages of the answer that are in the context, by tokens of the budget; then the difference to ${BASELINE}. ${Number((100 * level).toFixed(3))} % intervals by what the question is about; ▲ better, ▼ worse: a paired permutation test, corrected by Holm over the arms of a column, is below .05.`,
        formatPipeTable({
          head: ['context', ...budgets.map(String)],
          rows: rows.map((row) => [row.name, ...row.budgets.map(formatArm)]),
        }),
        `The same share within ${budgets[middle]} tokens, by kind of question.`,
        formatPipeTable({
          head: ['context', ...byKind.map(({ kind, questions: number }) => `${kind}, ${number}`)],
          rows: ARMS.map(({ name }) => [name, ...byKind.map((row) => formatDecimal(row.shares[name] as number, 2))]),
        }),
      ],
    };
  },
};
