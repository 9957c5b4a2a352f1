import { z } from 'zod';
import { ValidationError } from '../../src/core/errors/errors.ts';
import { createRandom } from '../../src/core/numbers/random.ts';
import type { ExperimentConfig } from '../../src/lab/config/config.ts';
import type { Query } from '../../src/model/dataset.ts';
import type { RankOptions } from '../../src/rank/retrieval/written-steps.ts';
import { Workspace } from '../../src/rank/signals/workspace.ts';
import { withConfig } from '../corpus.ts';
import type { Study } from '../study.ts';
import { measureRate } from './rate.ts';
import { type ArmThroughput, formatThroughputTable } from './table.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  /** Whose data and arms, as they are written. */
  config: z.string().default('configs/latency.yaml'),
  arms: z.array(z.string()).min(1).default(['cosine', 'hybrid + time decay', '+ unified']),
  batchSizes: z.array(z.int().min(1)).min(1).default([1, 8, 32, 64, 128, 256]),
  /** Asked by each arm at each size. */
  queries: z.int().min(1).default(256),
  /** The number of rounds; the median counts. */
  rounds: z.int().min(1).default(3),
  /** Places of a ranking. */
  depth: z.int().min(1).default(100),
});

/** The same queries after all turns, so that every batch uses the same index. */
function buildLateQueries({ corpus, queries, turnVectors, batch, dimension }: Workspace, seed: number): Workspace {
  const end = (corpus.timestamps.at(-1) as number) + 1;
  const late = queries.map((query): Query => ({ ...query, timestamp: end, anchorTurnId: null }));
  return new Workspace({ corpus, queries: late, turnVectors, queryVectors: batch.vectors, dimension, seed });
}

function findArmOptions({ arms }: ExperimentConfig, name: string): RankOptions {
  const arm = arms.find((candidate) => candidate.name === name);
  if (arm === undefined) throw new ValidationError(`config has no arm: ${name}; name one of its arms`, { name });
  return arm;
}

/** Queries from the candidates to the ranking, in batches of a size. */
export const throughput: Study<typeof settings> = {
  name: 'throughput',
  description: 'queries a second of whole chains, by the number of queries that are answered at once',
  settings,
  measure: ({ config: file, seed, rounds, depth, ...options }, context) =>
    withConfig(file, context, async ({ config, dataset, workspace: original }) => {
      const workspace = buildLateQueries(original, seed);
      const places = createRandom(seed, 'throughput').shuffle([...workspace.queries.keys()]);
      const asked = Array.from({ length: options.queries }, (_, i) => places[i % places.length] as number);
      const { batchSizes } = options;
      const chains = options.arms.map((name) => ({ name, arm: findArmOptions(config, name) }));
      const progress = context.progress('throughput', chains.length);
      const measured: ArmThroughput[] = [];
      for (const { name, arm } of chains) {
        const rate = { asked, rounds, depth };
        await measureRate(workspace, arm, asked.length, { ...rate, rounds: 1 }); // makes what all batches share
        const perSecond: number[] = [];
        for (const size of batchSizes) perSecond.push(await measureRate(workspace, arm, size, rate));
        progress.update(measured.push({ arm: name, perSecond }));
      }
      progress.finish(`${asked.length} queries, ${rounds} rounds`);
      workspace.dispose();
      return {
        dataset: { name: dataset.name, hash: dataset.hash },
        figures: { turns: workspace.corpus.size, queries: asked.length, batchSizes, arms: measured },
        sections: [
          formatThroughputTable(batchSizes, measured),
          `Queries a second, the median of ${rounds} rounds over ${asked.length} queries against ${workspace.corpus.size} turns in ${workspace.dimension} dimensions, ${depth} places each; one process, one thread. Query embeddings are made beforehand.`,
        ],
      };
    }),
};
