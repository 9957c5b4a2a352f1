import { join } from 'node:path';
import { z } from 'zod';
import { computeHash } from '../../src/core/hash.ts';
import { loadDataset } from '../../src/datasets/registry.ts';
import { createEntityRegistry } from '../../src/query/entity-registry.ts';
import { findTimeRange } from '../../src/query/time-range.ts';
import type { Study, StudyContext } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';
import { findChronoRange } from './chrono-ranges.ts';
import { readLabelledQuestions } from './labelled-questions.ts';
import { computeShare, type Measure, measureQuestions, type Share } from './measures.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  /** A file in the format of locomo10.json: adds the temporal questions of LoCoMo. */
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

const findChrono: typeof findTimeRange = (text, { timestamp, timeZone }) => findChronoRange(text, timestamp, timeZone);

/** Of LoCoMo's temporal questions, how many name a time, and of how many the range holds a turn of the evidence. They are asked after the last turn, in UTC. */
async function measureLocomo(path: string, { cacheFolder, progress }: StudyContext) {
  const { queries, corpus, qrels, hash } = await loadDataset(
    { name: 'locomo', path, categories: ['temporal'] },
    { cacheFolder: join(cacheFolder, 'datasets'), progress },
  );
  const finders = { understand: findTimeRange, 'chrono-node alone': findChrono };
  const rows = Object.entries(finders).map(([name, find]) => {
    const ranges = queries.flatMap((query) => {
      const range = find(query.text, { timestamp: query.timestamp, timeZone: 'UTC' });
      return range === null ? [] : [{ range, evidence: [...(qrels.get(query.id)?.keys() ?? [])] }];
    });
    const holding = ranges.filter(({ range, evidence }) =>
      evidence.map((id) => corpus.getTurn(id).timestamp).some((time) => range.start <= time && time < range.end),
    );
    return {
      name,
      found: computeShare(ranges.length, queries.length),
      holding: computeShare(holding.length, queries.length),
      holdingOfFound: computeShare(holding.length, ranges.length),
    };
  });
  return { hash, rows };
}

/** What the rules of `understand` get right on labelled questions, of which a hash of the id holds half out. */
export const queryUnderstanding: Study<typeof settings> = {
  name: 'query-understanding',
  description: 'what the rules for questions get right: category, flags, time range, entities, on held-out questions',
  settings,
  measure: async ({ locomo }, context) => {
    const { questions, entities } = readLabelledQuestions();
    const { misses, ...measures } = await measureQuestions(questions, await createEntityRegistry(entities));
    const temporal = locomo === null ? null : await measureLocomo(locomo, context);
    const sections = [
      'Shares with 95 % intervals by Wilson. Rules were tuned on the dev half alone.',
      buildTable('category', measures.categories),
      buildTable('flag', measures.flags),
      buildTable('time range', measures.ranges),
      buildTable('entities', measures.resolution),
    ];
    const locomoTable = {
      head: ['temporal questions of LoCoMo', 'a range', 'a range that holds evidence', 'of the ranges'],
      rows: (temporal?.rows ?? []).map(({ name, found, holding, holdingOfFound }) => [
        name,
        ...[found, holding, holdingOfFound].map(formatShare),
      ]),
    };
    return {
      dataset: {
        name: `${questions.length} labelled questions${temporal === null ? '' : '; locomo'}`,
        hash: computeHash([questions, entities, temporal?.hash ?? null]),
      },
      figures: { ...measures, locomo: temporal?.rows ?? null, misses },
      sections: temporal === null ? sections : [...sections, formatPipeTable(locomoTable)],
    };
  },
};
