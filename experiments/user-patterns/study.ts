import { join } from 'node:path';
import { z } from 'zod';
import { ValidationError } from '../../src/core/errors.ts';
import { datasetOptions, loadDataset } from '../../src/datasets/registry.ts';
import { encoderOptions } from '../../src/embedding/registry.ts';
import type { Estimate } from '../../src/evaluation/mean-intervals.ts';
import { estimate, formatDecimal, formatInterval, formatSigned } from '../../src/report/tables/format.ts';
import { embedTurns } from '../embed-turns.ts';
import type { Study } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';
import { findEntrances } from './entrances.ts';
import { AGES, computeFeatures, NEAREST } from './features.ts';
import { type ArmWeights, measureArms, type PatternArm, SITUATIONS } from './measure.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  dataset: datasetOptions.prefault({ name: 'spamassassin-threads' }),
  embedding: encoderOptions.prefault({ encoder: 'lsa', dimension: 256, dropStopWords: true, stem: true }),
  /** A person enters a conversation by an answer to a message of the last days. */
  days: z.number().positive().default(7),
  /** Earlier turns of a person: entrances with fewer are left out, and of more the latest count. */
  leastHistory: z.int().min(1).default(5),
  mostHistory: z.int().min(1).default(50),
  /** Resamples of the intervals. */
  samples: z.int().min(100).default(10_000),
  level: z.number().gt(0).lt(1).default(0.95),
});

function formatGain(gain: Estimate | null): string {
  if (gain === null) return '';
  const mark = gain.low === null ? '' : gain.low > 0 ? ' ▲' : gain.high < 0 ? ' ▼' : '';
  return `${[formatSigned(gain.mean, 3), formatInterval(gain, formatSigned, 3)].filter(Boolean).join(' ')}${mark}`;
}

function formatWeights({ age, newness, words, nearest, topics, partners }: ArmWeights): string {
  const parts = [
    newness > 0 && `newness ${newness} (${AGES[age]} days)`,
    words > 0 && `words ${words}`,
    topics > 0 && `topics ${topics} (nearest ${NEAREST[nearest]})`,
    partners > 0 && `partners ${partners}`,
  ];
  return parts.filter(Boolean).join(', ');
}

const buildTable = (situation: string, arms: readonly PatternArm[]) =>
  formatPipeTable({
    head: [situation, 'chosen on dev', 'reciprocal rank', 'minus no history', "minus another's"],
    rows: arms
      .filter((arm) => arm.situation === situation)
      .map(({ name, weights, reciprocalRank, gain, gainOverOther }) => [
        ...[name, formatWeights(weights), estimate(reciprocalRank, formatDecimal, 3)],
        ...[formatGain(gain), formatGain(gainOverOther)],
      ]),
  });

/** What the earlier conversations of a person tell about the message by which that person enters a new one. */
export const userPatterns: Study<typeof settings> = {
  name: 'user-patterns',
  description: "what a person's earlier conversations add in a new one, beside another person's of equal size",
  settings,
  measure: async (options, context) => {
    const { dataset: source, seed, samples, level } = options;
    const { cacheFolder, progress } = context;
    const dataset = await loadDataset(source, { cacheFolder: join(cacheFolder, 'datasets'), progress });
    const { corpus, devConversations } = dataset;
    const turns = corpus.turns.map(({ text, conversationId }) => ({ text, dev: devConversations.has(conversationId) }));
    const embedded = await embedTurns(turns, options, context);
    const { entrances, left } = findEntrances(dataset, options);
    const features = entrances.map((entrance) => computeFeatures(entrance, corpus, embedded));
    const dev = features.filter(({ entrance }) => entrance.dev);
    const test = features.filter(({ entrance }) => !entrance.dev);
    if (dev.length === 0 || test.length === 0)
      throw new ValidationError(
        `${dataset.name} has ${dev.length} dev and ${test.length} test entrances; lower leastHistory, or take other data`,
      );
    const arms = measureArms(dev, test, { seed, samples, level });
    const people = new Set(test.map(({ entrance }) => entrance.author)).size;
    const counts = Object.entries(left).map(([why, count]) => `${why} ${count}`);
    const candidates = test.reduce((sum, { words }) => sum + words.length, 0) / test.length;
    return {
      dataset: { name: dataset.name, hash: dataset.hash },
      figures: { arms, dev: dev.length, test: test.length, people, candidates, left },
      sections: [
        ...SITUATIONS.map((situation) => buildTable(situation, arms)),
        `Mean reciprocal rank of the message that was answered; ${Number((100 * level).toFixed(3))} % intervals clustered by person; ▲ better, ▼ worse: the interval excludes 0. ${dev.length} dev and ${test.length} test entrances of ${people} people, on average ${formatDecimal(candidates, 0)} candidates. Left out: ${counts.join(', ')}.`,
      ],
    };
  },
};
