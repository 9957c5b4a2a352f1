import { z } from 'zod';
import { computeHash } from '../../src/core/hash/hash.ts';
import { describeHeldOut } from '../../src/lab/measure/passport.ts';
import { createEntityRegistry } from '../../src/rank/query/entity-registry.ts';
import type { Study } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';
import { chooseHalf, readLabelledQuestions } from './labelled-questions.ts';
import { measureLocomo } from './locomo-questions.ts';
import { type Measure, measureQuestions, type Share } from './measures.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  /** A file in the format of locomo10.json: adds the questions of LoCoMo. */
  locomo: z.string().min(1).nullable().default(null),
});

const formatNumber = (share: number) => share.toFixed(3).replace(/^0/, '');
const formatShare = (share: Share | null) =>
  share === null
    ? '-'
    : `${formatNumber(share.share)} (${formatNumber(share.low)} to ${formatNumber(share.high)}) of ${share.n}`;

const buildTable = (name: string, measures: readonly Measure[]) =>
  formatPipeTable({
    head: [name, 'dev', 'held out'],
    rows: measures.map(({ measure, dev, heldOut }) => [measure, formatShare(dev), formatShare(heldOut)]),
  });

/** What the rules of `understand` get right on labelled questions, of which a hash of the id holds half out. */
export const queryUnderstanding: Study<typeof settings> = {
  name: 'query-understanding',
  description: 'what the rules for questions get right: category, flags, time range, entities, on held-out questions',
  settings,
  measure: async ({ locomo }, context) => {
    const { questions, entities } = readLabelledQuestions();
    const { misses, ...measures } = await measureQuestions(questions, await createEntityRegistry(entities));
    const locomoShares = locomo === null ? null : await measureLocomo(locomo, context);
    const heldOut = questions.filter((question) => chooseHalf(question) === 'held out').map(({ id }) => id);
    const sections = [
      'Shares with 95 % intervals by Wilson. Rules were tuned on the dev half. Their author saw the figures of the held-out half five times.',
      buildTable('category', measures.categories),
      buildTable('flag', measures.flags),
      buildTable('time range', measures.ranges),
      buildTable('entities', measures.resolution),
    ];
    const locomoTable = {
      head: ['LoCoMo', 'time-focused', 'range', 'range holds evidence', 'range of chrono', 'holds evidence'],
      rows: (locomoShares?.rows ?? []).map(({ kind, ...shares }) => [kind, ...Object.values(shares).map(formatShare)]),
    };
    return {
      dataset: {
        name: `${questions.length} labelled questions${locomoShares === null ? '' : '; locomo'}`,
        hash: computeHash([questions, entities, locomoShares?.hash ?? null]),
      },
      tested: [describeHeldOut('labelled questions', computeHash([questions, entities]), heldOut)],
      figures: { ...measures, locomo: locomoShares?.rows ?? null, misses },
      sections: locomoShares === null ? sections : [...sections, formatPipeTable(locomoTable)],
    };
  },
};
