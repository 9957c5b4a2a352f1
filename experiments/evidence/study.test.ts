import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ignoreProgress } from '../../src/core/terminal/progress.ts';
import { formatRun } from '../../src/eval/trec/trec-files.ts';
import { loadConfig } from '../../src/lab/config/config.ts';
import { PROJECT_ROOT } from '../../src/lab/run/environment.ts';
import { readArm } from '../../src/rank/retrieval/written-steps.ts';
import { evidence } from './study.ts';

const folder = mkdtempSync(join(tmpdir(), 'evidence-'));
afterAll(() => rmSync(folder, { recursive: true }));

// Five words, one word, two words.
const texts = ['We adopted a beagle yesterday', 'Rufus', 'Oslo freezes'];
const samples = ['conv-1', 'conv-2', 'conv-3'].map((sample_id) => ({
  sample_id,
  conversation: {
    session_1_date_time: '1:56 pm on 8 May, 2023',
    session_1: texts.map((text, i) => ({ speaker: 'Ana', dia_id: `D1:${i + 1}`, text })),
  },
  qa: [{ question: 'Which beagle?', answer: 'Rufus', evidence: ['D1:2'], category: 4 }],
}));
const path = join(folder, 'conversations.json');
writeFileSync(path, JSON.stringify(samples));
const ids = samples.map(({ sample_id }) => sample_id);
mkdirSync(join(folder, 'runs'));
const rank = (id: string) => texts.map((_, i) => ({ id: `${id}/D1:${i + 1}`, score: 3 - i }));
writeFileSync(join(folder, 'runs', 'learned.trec'), formatRun(new Map(ids.map((id) => [`${id}/q0`, rank(id)])), 'x'));
const lines = ids.flatMap((cluster, c) =>
  ['base', 'other'].map((arm, a) =>
    JSON.stringify({ query: `${cluster}/q0`, cluster, arm, 'recall@5t': c === 0 ? a : 1 - a }),
  ),
);
writeFileSync(join(folder, 'per-query.jsonl'), `${lines.join('\n')}\n`);

test('measures packings of held-out rankings and what the other conversations choose', async () => {
  const settings = evidence.settings.parse({ path, training: folder, run: folder, budgets: [3, 5, 6], samples: 199 });
  const { figures, files, sections } = await evidence.measure(settings, {
    cacheFolder: folder,
    progress: ignoreProgress,
  });
  const { packings, choices, queries } = figures as {
    queries: number;
    packings: { packing: string; evidence: { mean: number }[]; difference: { mean: number }[] }[];
    choices: object[];
  };
  expect(queries).toBe(3);
  const read = (name: string) => packings.find(({ packing }) => packing === name)?.evidence.map(({ mean }) => mean);
  // The share of `Rufus` per token is the greatest: e^2 / 1 against e^3 / 5 and e / 2.
  expect(read('in-order')).toEqual([0, 0, 1]);
  expect(read('density')).toEqual([1, 1, 1]);
  expect(read('knapsack')).toEqual([1, 0, 1]);
  expect(read('chosen on the other conversations')).toEqual([1, 1, 1]);
  expect(packings.find(({ packing }) => packing === 'density')?.difference.map(({ mean }) => mean)).toEqual([1, 1, 0]);
  // conv-1 has base 0 and is given base by the others; each of the others is given the first of two equal arms.
  expect(choices).toMatchObject([
    { metric: 'recall@5t', chosen: { 'conv-1': 'base', 'conv-2': 'base', 'conv-3': 'base' }, value: { mean: 2 / 3 } },
  ]);
  expect((files as Record<string, string>)['density.trec']).toMatch(/^conv-1\/q0 Q0 conv-1\/D1:2 1 /);
  expect(sections.join('\n')).toContain('| density');
});

test('the arms of the learned rankings are those of the config and five more', () => {
  const config = join(import.meta.dirname, 'learned-arms.yaml');
  const file = join(folder, 'runs', 'learned.trec');
  const { arms: shipped } = loadConfig(join(PROJECT_ROOT, 'configs', 'evidence-locomo.yaml'));
  const place = shipped.length;
  const { arms } = loadConfig(
    config,
    ['learned', 'learned, density'].map((name) => `arms.${name}.set.run.file=${file}`),
  );
  expect(arms.slice(0, place)).toEqual(shipped);
  expect(arms.slice(place).map(({ name }) => name)).toEqual([
    'learned',
    'learned, density',
    'learned, MMR .9',
    'learned, MMR .7',
    'learned, mentions',
  ]);
  for (const arm of arms.slice(place))
    expect(readArm(arm).outline.sources).toMatchObject([{ name: 'run', index: { index: 'run', k: 700, path: file } }]);
});
