import { join } from 'node:path';
import { z } from 'zod';
import { computeHash } from '../../src/core/hash/hash.ts';
import { datasetOptions, loadDataset } from '../../src/data/registry.ts';
import type { Estimate } from '../../src/eval/intervals/mean-intervals.ts';
import { encoderOptions } from '../../src/index/encoders/registry.ts';
import { describeTestSplit, type TestSplit } from '../../src/lab/measure/passport.ts';
import { estimate, formatDecimal, formatInterval, formatSigned } from '../../src/lab/report/tables/format.ts';
import type { Dataset } from '../../src/model/dataset.ts';
import type { Turn } from '../../src/model/turns/turn.ts';
import type { Study } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';
import { AGES, NEAREST } from './features.ts';
import { loadSessions } from './locomo-sessions.ts';
import { type ArmWeights, SITUATIONS, type Situation } from './measure.ts';
import { measureTask, type Task, type TaskFigures } from './measure-task.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  dataset: datasetOptions.prefault({ name: 'spamassassin-threads' }),
  embedding: encoderOptions.prefault({ encoder: 'lsa', dimension: 256, dropStopWords: true, stem: true }),
  /** A person enters a conversation by an answer to a message of the last days. */
  days: z.number().positive().default(7),
  /** A file in the format of locomo10.json: adds the sessions of LoCoMo. */
  locomo: z.string().min(1).nullable().default(null),
  /** Of LoCoMo: one that is fitted is fitted on the dev turns of `dataset`, so that it has seen no turn of LoCoMo. */
  sessionEmbedding: encoderOptions.prefault({ encoder: 'use-lite' }),
  /** Of LoCoMo: the days in which the sessions of others began that compete for a speaker. */
  sessionDays: z.number().positive().default(30),
  /** Earlier turns of a person: entrances with fewer are left out, and of more the latest count. */
  leastHistory: z.int().min(1).default(5),
  mostHistory: z.int().min(1).default(50),
  /** Resamples of the intervals. */
  samples: z.int().min(100).default(10_000),
  level: z.number().gt(0).lt(1).default(0.95),
});

function formatGain(gain: Estimate | null | undefined): string {
  if (gain === null || gain === undefined) return '';
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
  return parts.filter(Boolean).join(', ') || 'nothing';
}

/** What was chosen in the folds, the most frequent first. */
function formatChosen(weights: readonly ArmWeights[]): string {
  const counts = new Map<string, number>();
  for (const text of weights.map(formatWeights)) counts.set(text, (counts.get(text) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([text, count]) => (weights.length === 1 ? text : `${count} x ${text}`)).join('; ');
}

function buildTable(situation: Situation, { name, arms }: TaskFigures, controls: readonly string[]): string {
  return formatPipeTable({
    head: [
      ...[`${name}, ${situation}`, 'chosen on dev', 'reciprocal rank', 'minus no history'],
      ...controls.map((control) => `minus ${control}`),
    ],
    rows: arms
      .filter((arm) => arm.situation === situation)
      .map(({ name: arm, weights, reciprocalRank, gain, gainOver }) => [
        ...[arm, formatChosen(weights), estimate(reciprocalRank, formatDecimal, 3), formatGain(gain)],
        ...controls.map((control) => formatGain(gainOver[control])),
      ]),
  });
}

function buildSections(figures: TaskFigures, { controls, folds }: Task, unit: string, level: number): string[] {
  const { entrances, test, people, clusters, candidates, left } = figures;
  const counts = Object.entries(left).map(([why, count]) => `${why} ${count}`);
  const measured =
    folds.length === 1
      ? `${entrances - test} dev and ${test} test entrances of ${people} people`
      : `${test} entrances of ${people} people, those of each ${unit} by what the others chose`;
  return [
    ...SITUATIONS.map((situation) => buildTable(situation, figures, Object.keys(controls))),
    `Mean reciprocal rank of the message that was answered; ${Number((100 * level).toFixed(3))} % intervals clustered by ${unit} (${clusters}); ▲ better, ▼ worse: the interval excludes 0. ${measured}, on average ${formatDecimal(candidates, 0)} candidates. Left out: ${counts.join(', ')}.`,
  ];
}

/** The entrances of the test conversations, which are no queries of the dataset. */
function describeEntrances(dataset: Dataset, { test }: TaskFigures, options: object): TestSplit | null {
  const split = describeTestSplit(dataset, dataset.queries);
  return split && { ...split, queries: { count: test, hash: computeHash(['entrances', options]).slice(0, 16) } };
}

/** What the earlier conversations of a person tell about the message by which that person enters a new one. */
export const userPatterns: Study<typeof settings> = {
  name: 'user-patterns',
  description: "what a person's earlier conversations add in a new one, beside another person's of equal size",
  settings,
  measure: async (options, context) => {
    const { dataset: source, days, embedding, locomo, sessionDays, sessionEmbedding, level } = options;
    const dataset = await loadDataset(source, {
      cacheFolder: join(context.cacheFolder, 'datasets'),
      progress: context.progress,
    });
    const isDev = ({ conversationId }: Turn) => dataset.devConversations.has(conversationId);
    const fitTexts = dataset.corpus.turns.filter(isDev).map(({ text }) => text);
    const mail: Task = {
      ...{ name: dataset.name, corpus: dataset.corpus, embedding, fitTexts, days },
      ...{ hasNewness: true, openingsAlone: false },
      controls: { "another's": () => true },
      folds: [isDev],
      clusterOf: (author) => author,
    };
    const tasks: { readonly task: Task; readonly unit: string }[] = [{ task: mail, unit: 'person' }];
    const sessions = locomo === null ? null : await loadSessions(locomo, context);
    if (sessions !== null) {
      const { corpus, conversationOf } = sessions;
      const isSame = (a: string | null, b: string | null) => conversationOf.get(a) === conversationOf.get(b);
      const task: Task = {
        ...{ name: 'locomo', corpus, embedding: sessionEmbedding, fitTexts, days: sessionDays },
        ...{ hasNewness: false, openingsAlone: true },
        controls: { "a stranger's": (author, other) => !isSame(author, other), "the partner's": isSame },
        folds: [...new Set(conversationOf.values())].map(
          (heldOut) =>
            ({ author }: Turn) =>
              conversationOf.get(author) !== heldOut,
        ),
        clusterOf: (author) => conversationOf.get(author) as string,
      };
      tasks.push({ task, unit: 'conversation' });
    }
    const figures: TaskFigures[] = [];
    const sections: string[] = [];
    for (const { task, unit } of tasks) {
      const measured = await measureTask(task, options, context);
      figures.push(measured);
      sections.push(...buildSections(measured, task, unit, level));
    }
    if (sessions === null)
      sections.push('LoCoMo is not measured: its file is not part of this project; add --set locomo=FILE.');
    return {
      dataset: {
        name: [dataset.name, ...(sessions === null ? [] : ['locomo'])].join('; '),
        hash: sessions === null ? dataset.hash : computeHash([dataset.hash, sessions.hash]),
      },
      tested: [describeEntrances(dataset, figures[0] as TaskFigures, options)],
      figures: { tasks: figures },
      sections,
    };
  },
};
