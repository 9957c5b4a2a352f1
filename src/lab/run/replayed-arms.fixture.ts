import { useBackend } from '../../core/tensors/backend.ts';
import { loadDataset } from '../../data/registry.ts';
import type { Dataset } from '../../model/dataset.ts';
import { listSignalNames, SIGNAL_GROUPS, signalBankOptions } from '../../rank/signals/bank/options.ts';
import type { Plain } from '../composition/config-file.ts';
import { type ExperimentConfig, resolveConfig } from '../config/config.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';

const words = { bm25: { k: 17 } };
const graph = { k: 17, concepts: 'phrases', seeds: { turns: 5, weights: 'scores', concepts: true, titles: true } };
/** Edges that follow the cosines of turns and of concepts. */
const near = { edges: { similar: 1, alias: 1 }, similarAbove: 0.5, aliasAbove: 0.9, aliasCosine: 0.6 };
/** Every signal of a bank, with another weight each. */
const bank = {
  groups: SIGNAL_GROUPS.filter((group) => group !== 'attributes' && group !== 'late'),
  encoders: [{ encoder: 'lsa', dimension: 7 }],
};
const signals = listSignalNames(signalBankOptions.parse(bank));
const weights = Object.fromEntries(signals.map((name, i) => [name, (((i * 37) % 11) - 5) / 10]));
/** An arm for each kind of step that finds, scores, blends or reorders. */
const arms = {
  graph: [{ search: { ...words, graph } }, { fuse: { rrf: {} } }],
  similar: [{ search: { ...words, graph: { ...graph, ...near } } }, { fuse: { rrf: {} } }],
  'graph by edges': [{ search: { ...words, graph: { ...graph, solver: 'sparse-tensor' } } }, { fuse: { rrf: {} } }],
  'graph by matrix': [
    { search: { ...words, graph: { ...graph, solver: 'dense-tensor' } } },
    { fuse: { only: 'graph' } },
  ],
  'graph on host': [{ search: { ...words, graph: { ...graph, solver: 'host' } } }, { fuse: { only: 'graph' } }],
  strategies: [{ search: { newest: { k: 30 } } }, { score: { strategy: {} } }, { fuse: { only: 'strategy' } }],
  sources: [
    { search: { semantic: {}, entities: {}, time: {}, procedural: {}, summaries: {}, facts: {} } },
    { score: { strategy: {} } },
    { fuse: { only: 'strategy' } },
  ],
  filtered: [{ filter: "channel = 'even'" }, { search: words }],
  attention: [
    { search: { bm25: { k: 17 }, flat: { k: 17 } } },
    { fuse: { convex: { flat: 0.8, bm25: 'rest' } } },
    { blend: { ircp: { mode: 'directed' }, rcp: { mode: 'directed' }, tpo: {} } },
  ],
  reordered: [{ search: { hnsw: { k: 17 } } }, { select: { mmr: { k: 9 } } }],
  mixed: [{ search: { newest: { k: 30 } } }, { mix: { signals: bank, weights } }],
};

/** The names of the arms that a memory is tried with: those above and some of the sample config. */
export const REPLAYED_ARMS = [
  ...['newest', 'hybrid', 'Decayed × 2', 'unified', 'propagated'],
  ...['graph by edges', 'graph by matrix', 'graph on host'],
  ...['graph', 'similar', 'strategies', 'sources', 'filtered', 'attention', 'reordered', 'mixed'],
] as const;

/** The config of these arms and its dataset, whose files are written to a folder; tensors are computed by wasm. */
export async function loadReplayedSample(
  folder: string,
): Promise<{ readonly config: ExperimentConfig; readonly dataset: Dataset }> {
  await useBackend('wasm');
  writeSampleJsonl(folder);
  const sample = buildSampleConfig(folder) as Plain & { readonly arms: object };
  const config = resolveConfig({ ...sample, arms: { ...sample.arms, ...arms } } as Plain, 'sample');
  return { config, dataset: await loadDataset(config.dataset, { cacheFolder: null }) };
}
