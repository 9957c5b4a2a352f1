import { RagPlusPlusError } from '../../src/core/errors/errors.ts';
import type { StartProgress } from '../../src/core/terminal/progress.ts';
import { PLANTED_DEPENDENCIES, type PlantedDependency } from '../../src/data/prepared/datasets.ts';
import { drawPlantedConversations } from '../../src/data/synthetic/planted-conversations.ts';
import { buildPlantedDataset } from '../../src/data/synthetic/synthetic.ts';
import { experiment } from '../../src/lab/workbench/experiment.ts';
import { buildPlantedArms } from './arms.ts';
import { pageRankPlugin } from './page-rank-signal.ts';
import type { PlantedTruthSettings } from './settings.ts';

/** Reciprocal ranks of one dependency at one strength, of the test conversations of all datasets. */
export interface PlantedCell {
  readonly dependency: PlantedDependency;
  readonly strength: number;
  /** [Q] the conversation of each query, with its dataset. */
  readonly clusters: readonly string[];
  /** By arm, [Q]. */
  readonly values: ReadonlyMap<string, readonly number[]>;
  /** [Q] of an observer who knows the dependency. */
  readonly oracle: readonly number[];
  /** Identities of the datasets. */
  readonly hashes: readonly string[];
}

/** The same of one dataset. */
type Part = Omit<PlantedCell, 'dependency' | 'strength'>;

const METRIC = 'mrr';

/** The data that the settings draw. Every dependency has seeds of its own, so that its null control is another draw. */
function listDatasetOptions(
  { datasets, seed, conversations, turns, branching, wordNoise }: PlantedTruthSettings,
  dependency: PlantedDependency,
  strength: number,
) {
  return Array.from({ length: datasets }, (_, i) => ({
    seed: seed + datasets * PLANTED_DEPENDENCIES.indexOf(dependency) + i,
    conversations,
    turns,
    branching,
    dependencies: [dependency],
    strength,
    wordNoise,
  }));
}

type DatasetOptions = ReturnType<typeof listDatasetOptions>[number];

/** The reciprocal rank of the relevant turn if the indicated one is put first, and the others on the topic follow in the order of their ids. */
export function rankByOracle(drawn: ReturnType<typeof drawPlantedConversations>): ReadonlyMap<string, number> {
  return new Map(
    drawn.planted.map(({ query, matched, indicated, relevant }) => {
      const others = matched.filter((id) => id !== indicated).sort();
      return [query.id, 1 / (1 + [indicated, ...others].indexOf(relevant))];
    }),
  );
}

async function measurePart(options: DatasetOptions, settings: PlantedTruthSettings): Promise<Part> {
  const drawn = drawPlantedConversations(options);
  const data = buildPlantedDataset(drawn);
  const { dimension, seed, level } = settings;
  const finished = await experiment({
    data,
    encoder: { encoder: 'lsa', dimension },
    plugins: [pageRankPlugin],
    arms: buildPlantedArms(settings.turns),
    metrics: [METRIC],
    baseline: 'bm25',
    seed,
    tuning: { metric: METRIC, holdout: 0.5 },
    evaluation: { split: 'test', samples: 100, level, depth: settings.turns },
  }).run({ progress: null });
  const { arms, queries, failures } = finished.result;
  const [failure] = failures;
  if (failure !== undefined)
    throw new RagPlusPlusError(failure.code, `arm ${failure.name} failed with: ${failure.message}`, { failure });
  const oracle = rankByOracle(drawn);
  return {
    clusters: queries.map(({ cluster }) => `${options.seed} ${cluster}`),
    values: new Map(arms.map(({ name, perQuery }) => [name, perQuery[METRIC] as readonly number[]])),
    oracle: queries.map(({ id }) => oracle.get(id) as number),
    hashes: [data.hash],
  };
}

function joinParts(dependency: PlantedDependency, strength: number, parts: readonly Part[]): PlantedCell {
  const names = [...(parts[0] as Part).values.keys()];
  return {
    dependency,
    strength,
    clusters: parts.flatMap(({ clusters }) => clusters),
    values: new Map(names.map((name) => [name, parts.flatMap(({ values }) => values.get(name) as readonly number[])])),
    oracle: parts.flatMap(({ oracle }) => oracle),
    hashes: parts.flatMap(({ hashes }) => hashes),
  };
}

/** Runs every arm on every dependency, strength and dataset. */
export async function measureCells(settings: PlantedTruthSettings, start: StartProgress): Promise<PlantedCell[]> {
  const { dependencies, strengths, datasets } = settings;
  const progress = start('planted truth', dependencies.length * strengths.length * datasets);
  const cells: PlantedCell[] = [];
  let done = 0;
  for (const dependency of dependencies)
    for (const strength of strengths) {
      const parts: Part[] = [];
      for (const options of listDatasetOptions(settings, dependency, strength)) {
        parts.push(await measurePart(options, settings));
        progress.update(++done);
      }
      cells.push(joinParts(dependency, strength, parts));
    }
  progress.finish(`${done} datasets`);
  return cells;
}
