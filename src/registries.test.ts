import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { DATASETS } from './data/registry.ts';
import { KNOWN_MODELS } from './index/encoders/models/known-models.ts';
import { ENCODERS } from './index/encoders/registry.ts';
import { INDEXES } from './index/registry.ts';
import { VECTOR_INDEXES } from './index/vectors/registry.ts';
import { parseTables } from './lab/config/config-reference.harness.ts';
import { LAUNCHERS } from './lab/launch/registry.ts';
import { NORMALISATIONS } from './ops/fusion/combination.ts';
import { FUSIONS } from './ops/fusion/registry.ts';
import { PAGERANK_SOLVERS } from './ops/pagerank/pagerank-registry.ts';
import { MODELS } from './rank/learning/weight-file.ts';
import { SELECTIONS } from './rank/rerank/registry.ts';
import { STEPS } from './rank/retrieval/steps/keys.ts';

/** Every registry with the page whose table lists its members, and the first column of the table. */
const REGISTRIES = [
  { registry: DATASETS, page: 'config.md', column: 'dataset' },
  { registry: INDEXES, page: 'config.md', column: 'index' },
  { registry: VECTOR_INDEXES, page: 'live-indexes.md', column: 'live index' },
  { registry: ENCODERS, page: 'config.md', column: 'encoder' },
  { registry: KNOWN_MODELS, page: 'encoders.md', column: 'public model' },
  { registry: FUSIONS, page: 'config.md', column: 'fusion' },
  { registry: NORMALISATIONS, page: 'config.md', column: 'normalisation' },
  { registry: SELECTIONS, page: 'config.md', column: 'selection' },
  { registry: STEPS, page: 'arms.md', column: 'step' },
  { registry: LAUNCHERS, page: 'config.md', column: 'launcher' },
  { registry: MODELS, page: 'training.md', column: 'model' },
  { registry: PAGERANK_SOLVERS, page: 'performance.md', column: 'registered solver' },
];

describe.each(REGISTRIES)('the table of every $column in docs/$page', ({ registry, page, column }) => {
  const text = readFileSync(new URL(`../docs/${page}`, import.meta.url), 'utf8');
  const tables = parseTables(text).filter(([header]) => header?.[0] === column);

  test('lists every member with its description, and nothing else', () => {
    expect(tables).toHaveLength(1);
    const rows = tables[0]?.slice(2).map(([name, description]) => [name, description]);
    const descriptions = registry.members.map((member) => ('summary' in member ? member.summary : member.description));
    expect(rows).toEqual(registry.names.map((name, i) => [`\`${name}\``, descriptions[i]]));
    expect(rows?.length).toBeGreaterThan(1);
  });
});
