import { groupIntoClusters } from '../../src/eval/intervals/mean-intervals.ts';
import { type BaselineComparison, compareWithBaseline } from '../../src/eval/significance/significance.ts';
import { drawWorld, type PlantedRun, runPolicies } from './planted.ts';
import { BASE, POLICIES } from './policies.ts';
import type { OutcomeLearningSettings } from './settings.ts';

/** A policy in one part of the runs. */
export interface PartFigure {
  /** The mean chance of success of what is shown. */
  readonly mean: number;
  /** Minus the policy that ignores outcomes; null for that one. */
  readonly gain: BaselineComparison | null;
  /** Minus the same policy without exploration; null for one that does not explore. */
  readonly exploration: BaselineComparison | null;
}

/** The policies on the worlds of one strength, with one weight of the reranker. */
export interface PlantedCell {
  readonly strength: number;
  readonly alpha: number;
  readonly questions: number;
  readonly policies: readonly {
    readonly name: string;
    /** [parts] in the order of the settings, then all of them together. */
    readonly parts: readonly PartFigure[];
    /** The outcomes for each record from which on the policy is better than the one that ignores outcomes; null: none. */
    readonly helpsFrom: number | null;
  }[];
}

/** [parts] the first question of each, and the end of the last. */
function listEnds({ planted: { outcomes, topics, records, shown } }: OutcomeLearningSettings): number[] {
  return [0, ...outcomes.map((end) => Math.ceil((end * topics * records) / shown))];
}

/** Compares the policies of all worlds in the questions from `start` to `end`. Questions of one topic are a cluster. */
function comparePart(
  worlds: readonly (readonly PlantedRun[])[],
  start: number,
  end: number,
  settings: OutcomeLearningSettings,
): Map<string, PartFigure> {
  const read = (name: string) =>
    worlds.flatMap((runs) => [...(runs.find(({ policy }) => policy === name) as PlantedRun).values.slice(start, end)]);
  const labels = worlds.flatMap((runs, world) =>
    Array.from((runs[0] as PlantedRun).topics.slice(start, end), (topic) => `${world} ${topic}`),
  );
  const clusters = groupIntoClusters(labels);
  const values = new Map(POLICIES.map(({ name }) => [name, read(name)]));
  const others = POLICIES.filter(({ name }) => name !== BASE);
  const compare = (names: readonly string[], base: string) =>
    compareWithBaseline(
      names.map((name) => values.get(name) as number[]),
      values.get(base) as number[],
      clusters,
      settings,
    );
  const gains = compare(
    others.map(({ name }) => name),
    BASE,
  );
  return new Map(
    POLICIES.map(({ name, greedy }) => {
      const own = values.get(name) as number[];
      const mean = own.reduce((sum, value) => sum + value, 0) / own.length;
      const gain = gains[others.findIndex((other) => other.name === name)] ?? null;
      const exploration = greedy === null ? null : (compare([name], greedy)[0] ?? null);
      return [name, { mean, gain, exploration }];
    }),
  );
}

/** Runs and compares every policy. */
export async function measurePlanted(
  settings: OutcomeLearningSettings,
  onRun: (done: number) => void = () => {},
): Promise<PlantedCell[]> {
  const { planted, seed } = settings;
  const ends = listEnds(settings);
  const cells: PlantedCell[] = [];
  let done = 0;
  for (const strength of planted.strengths)
    for (const alpha of planted.alphas) {
      const worlds: PlantedRun[][] = [];
      for (let world = 0; world < planted.worlds; world++) {
        worlds.push(
          await runPolicies(drawWorld(planted, strength, seed + world), seed + world, { alpha, settings: planted }),
        );
        onRun(++done);
      }
      const spans = planted.outcomes.map((_, part) => [ends[part] as number, ends[part + 1] as number] as const);
      const parts = [...spans, [0, ends.at(-1) as number] as const].map(([start, end]) =>
        comparePart(worlds, start, end, settings),
      );
      const policies = POLICIES.map(({ name }) => {
        const own = parts.map((part) => part.get(name) as PartFigure);
        const before = own.slice(0, -1).findLastIndex(({ gain }) => gain?.verdict !== 'better');
        return { name, parts: own, helpsFrom: [0, ...planted.outcomes.slice(0, -1)][before + 1] ?? null };
      });
      cells.push({ strength, alpha, questions: (ends.at(-1) as number) * planted.worlds, policies });
    }
  return cells;
}
