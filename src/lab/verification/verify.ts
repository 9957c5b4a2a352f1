import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { findOwnFile } from '../../core/code/package-root.ts';
import { StorageError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { parse } from '../../core/validation/validation.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import { measureDeviation } from './compare.ts';
import type { GoldenCase, GoldenFile, Part, Topic } from './topic.ts';

/** A topic whose code is imported with its first case. */
function topic(name: string, load: () => Promise<Topic>): Topic {
  return { name, compute: async (golden, cases) => (await load()).compute(golden, cases) };
}

/** Every topic that the project can check, in the order of the table. */
export const TOPICS: readonly Topic[] = freezeDeeply([
  topic('attention', async () => (await import('./attention.ts')).attention),
  topic('long-ring', async () => (await import('./long-ring.ts')).longRing),
  topic('trajectory', async () => (await import('./trajectory.ts')).trajectory),
  topic('conservation', async () => (await import('./conservation.ts')).conservation),
  topic('conservation-stream', async () => (await import('./conservation-stream.ts')).conservationStream),
  topic('propagation-as-of', async () => (await import('./propagation-as-of.ts')).propagationAsOf),
  topic('ppr', async () => (await import('./ppr.ts')).ppr),
  topic('slices', async () => (await import('./slices.ts')).slices),
  topic('slices-as-of', async () => (await import('./slices.ts')).slicesAsOf),
  topic('signatures', async () => (await import('./signatures.ts')).signatures),
  topic('graph-source', async () => (await import('./graph-source.ts')).graphSource),
  topic('metrics', async () => (await import('./metrics.ts')).metrics),
  topic('depth-metrics', async () => (await import('./depth-metrics.ts')).depthMetrics),
  topic('fusion', async () => (await import('./fusion.ts')).fusion),
  topic('rank-fusion', async () => (await import('./rank-fusion.ts')).rankFusion),
  topic('combination', async () => (await import('./combination.ts')).combination),
  topic('bert', async () => (await import('./bert.ts')).bert),
  topic('late-interaction', async () => (await import('./late-interaction.ts')).lateInteraction),
  topic('mmr', async () => (await import('./mmr.ts')).mmr),
  topic('outcomes', async () => (await import('./outcomes.ts')).outcomes),
  topic('priors', async () => (await import('./priors.ts')).priors),
  topic('signals', async () => (await import('./signals.ts')).signals),
  topic('stats', async () => (await import('./stats.ts')).stats),
  topic('resampling', async () => (await import('./resampling.ts')).resampling),
]);

/** The project's own copy of the golden cases. */
export const OWN_GOLDEN = findOwnFile('lab/verification/golden');

const goldenFile = z.strictObject({
  topic: z.string(),
  note: z.string(),
  cases: z.array(z.looseObject({ name: z.string(), expected: z.unknown() })).min(1),
});

/** One row of the table that `ragpp verify` prints. */
export interface TopicReport {
  readonly topic: string;
  readonly cases: number;
  readonly worstAbsolute: number;
  readonly worstRelative: number;
  readonly tolerance: string;
  /** One line a case that failed; empty when the topic passes. */
  readonly failures: readonly string[];
}

/** @throws StorageError for a folder that cannot be read, ConfigurationError for a file that is not in the golden format. */
export function readGolden(folder: string): GoldenFile[] {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch (error) {
    throw new StorageError('read folder', folder, { cause: error });
  }
  if (names.length === 0)
    throw new StorageError('find a golden file (*.json) in', folder, { remedy: 'name a folder with golden cases' });
  const files = names
    .sort()
    .map((name) => parse(goldenFile, parseJson(join(folder, name)), join(folder, name)) as GoldenFile);
  return files.sort((a, b) => (a.topic < b.topic ? -1 : 1));
}

function parseJson(path: string): unknown {
  try {
    return JSON.parse(readText(path));
  } catch (error) {
    throw new StorageError('parse', path, { cause: error, remedy: 'restore the file' });
  }
}

async function computeGoldenParts(
  topic: Topic,
  golden: GoldenCase,
  cases: readonly GoldenCase[],
): Promise<readonly Part[] | Error> {
  try {
    return await topic.compute(golden, cases);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** @param report receives the number of finished cases. */
async function reportOn(topic: Topic, file: GoldenFile, report: (done: number) => void): Promise<TopicReport> {
  let worstAbsolute = 0;
  let worstRelative = 0;
  const failures: string[] = [];
  const tolerances = new Set<string>();
  for (const [i, golden] of file.cases.entries()) {
    const parts = await computeGoldenParts(topic, golden, file.cases);
    report(i + 1);
    if (parts instanceof Error) {
      failures.push(`${golden.name}: ${parts.message}`);
      continue;
    }
    for (const part of parts) {
      const deviation = measureDeviation(part);
      worstAbsolute = Math.max(worstAbsolute, deviation.absolute);
      worstRelative = Math.max(worstRelative, deviation.relative);
      tolerances.add(`${part.tolerance.absolute} + ${part.tolerance.relative} |x|`);
      if (deviation.failure !== null) failures.push(`${golden.name}: ${deviation.failure}`);
    }
    if (parts.length === 0) failures.push(`${golden.name}: nothing was compared`);
  }
  return {
    topic: file.topic,
    cases: file.cases.length,
    worstAbsolute,
    worstRelative,
    tolerance: [...tolerances].join(', '),
    failures,
  };
}

/** Runs every golden file on the active backend. A topic that the project does not know is a failure. */
export async function verify(
  files: readonly GoldenFile[],
  progress: StartProgress = ignoreProgress,
): Promise<TopicReport[]> {
  const total = files.reduce((sum, { cases }) => sum + cases.length, 0);
  const shown = progress('golden cases', total);
  let done = 0;
  const reports: TopicReport[] = [];
  for (const file of files) {
    const topic = TOPICS.find(({ name }) => name === file.topic);
    const unknown = { topic: file.topic, cases: file.cases.length, worstAbsolute: 0, worstRelative: 0, tolerance: '-' };
    reports.push(
      topic === undefined
        ? {
            ...unknown,
            failures: [`unknown topic, expected one of ${TOPICS.map(({ name }) => name).join(', ')}: ${file.topic}`],
          }
        : await reportOn(topic, file, (cases) => shown.update(done + cases)),
    );
    done += file.cases.length;
  }
  shown.finish(`${total} in ${files.length} topics`);
  return reports;
}
