import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';

/**
 * Runs a program where no backend was chosen. @param program imports modules of the built package, by their paths in
 * src. @returns what it prints, or the name and the message of its error.
 */
function runFresh(program: string): Promise<string> {
  const wrapped = `(async () => { ${program.replaceAll(".ts'", ".js'")} })().then(
    (value) => console.log('done', JSON.stringify(value)), ({ name, message }) => console.log(name, message));`;
  const cwd = join(inject('builtPackage'), 'dist');
  const child = spawn(process.execPath, ['--input-type=module', '--eval', wrapped], { cwd });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text));
  return new Promise((resolve) => child.on('close', () => resolve(printed.trim())));
}

const trajectory = '{ depth: 1, siblingOrder: 0, homogeneity: 0.5, temporal: 0, complexity: 0 }';
const memory = (options: string, query: string) => `
  const { openMemory } = await import('./memory/engine/open-memory.ts');
  const memory = await openMemory({ folder: null, dimension: 2, ${options} });
  const record = { context: 'x', createdAt: 0, outcome: null, trajectory: ${trajectory} };
  await memory.addBatch([[1, 0], [0, 1]].map((own, i) => ({ ...record, id: 'm' + i, embedding: Float32Array.from(own) })));
  const { candidates } = await memory.query({ embedding: Float32Array.of(1, 0), ${query} });
  await memory.close();
  return candidates.map(({ recordId }) => recordId);`;
const corpus = `
  const { Corpus } = await import('./model/turns/corpus.ts');
  const corpus = new Corpus([{ id: 't0', conversationId: 'c', parentId: null, timestamp: 0, author: null, channel: null, text: 'x' }]);
  const vectors = Float32Array.of(1, 0);`;
const workspace = (work: string) => `${corpus}
  const { Workspace } = await import('./rank/signals/workspace.ts');
  const queries = [{ id: 'q', text: 'x', timestamp: 1, author: null, channel: null, anchorTurnId: null, split: 'test', cluster: 'c' }];
  const workspace = new Workspace({ corpus, queries, turnVectors: vectors, queryVectors: vectors, dimension: 2, seed: 1 });
  ${work}`;

test.each([
  ['a query of a memory with a trajectory', memory('', `trajectory: ${trajectory}`), '["m0","m1"]'],
  ['a memory with marginal relevance', memory("reranker: { method: 'mmr' }", ''), '["m0","m1"]'],
  [
    'a flat index',
    `${corpus} const { createIndex } = await import('./index/registry.ts');
    const index = await createIndex({ index: 'flat' }, { corpus, vectors, dimension: 2 });
    return [...(await index.search({ texts: ['x'], vectors, cutoffs: Int32Array.of(1) }, 1)).positions];`,
    '[0]',
  ],
  [
    'sources of memories',
    `${corpus} const { openMemorySources } = await import('./memory/context/memory-sources.ts');
    const { assemble } = await import('./memory/context/assemble.ts');
    const encoder = { name: 'given', identity: {}, dimension: 2, encode: async () => vectors, dispose() {} };
    const sources = await openMemorySources({ turns: corpus.turns, encoder }, { timeoutMs: 60000 });
    return (await assemble('x', { timeoutMs: 60000 }, sources, { now: 1 })).items.map(({ id }) => id);`,
    '["t0"]',
  ],
  [
    'an encoder that is not made yet',
    `const { createEncoderSource } = await import('./index/encoders/registry.ts');
    const lsa = { encoder: 'lsa', dimension: 1, minDocumentFrequency: 1, maxDocumentShare: 1 };
    const source = createEncoderSource(lsa, { fitTexts: ['a bow', 'a violin'], seed: 1 });
    const encoder = await source.create();
    return [(await encoder.encode(['a bow'])).length, source.identity.backend === encoder.identity.backend];`,
    '[1,true]',
  ],
  [
    'an encoder with a cache',
    `const { createEncoderSource } = await import('./index/encoders/registry.ts');
    const { createCachedEncoder } = await import('./index/encoders/embedding-cache.ts');
    const { mkdtempSync, rmSync } = await import('node:fs');
    const folder = mkdtempSync((await import('node:os')).tmpdir() + '/ragpp-set-up-');
    const lsa = { encoder: 'lsa', dimension: 1, minDocumentFrequency: 1, maxDocumentShare: 1 };
    const encoder = await createCachedEncoder(createEncoderSource(lsa, { fitTexts: ['a bow', 'a violin'], seed: 1 }), folder);
    const { length } = await encoder.encode(['a bow']);
    rmSync(folder, { recursive: true });
    return [length];`,
    '[1]',
  ],
  [
    'a retrieval',
    workspace(`const { retrieve } = await import('./rank/retrieval/retriever.ts');
    const { parseSteps } = await import('./rank/retrieval/written-steps.ts');
    const arm = parseSteps([{ search: { newest: { k: 1 } } }]);
    return [...(await retrieve(workspace, arm)).pool.positions];`),
    '[0]',
  ],
  [
    'candidates of a workspace',
    workspace(`const { candidatesFrom } = await import('./rank/retrieval/candidate-sources.ts');
    return [...(await workspace.get(candidatesFrom({ index: 'newest', k: 1 }, null))).positions];`),
    '[0]',
  ],
  [
    'the turns of a workspace as a tensor',
    workspace('return [...await (await workspace.getCorpusTensor()).data()];'),
    '[1,0]',
  ],
  [
    'a basis of LSA',
    `const { computeOrthonormalBasis } = await import('./core/linear/randomised-svd.ts');
    return [...await computeOrthonormalBasis(Float32Array.of(2, 0, 0, 3), 2)].map(Math.round);`,
    '[1,0,0,1]',
  ],
  [
    'a ranking',
    `const { rank } = await import('./rank/retrieval/rank.ts');
    const pool = { queryCount: 1, width: 2, positions: Int32Array.of(4, 7) };
    return [...(await rank(pool, Float32Array.of(1, 2), 2, String)).slots];`,
    '[1,0]',
  ],
  [
    'a PageRank on the backend',
    `const { TENSOR_OPS } = await import('./index/graph/tensor-ops.cases.ts');
    await TENSOR_OPS.createPageRankSolver.use((tensor) => tensor); return [];`,
    '[]',
  ],
  [
    'propagation over a corpus',
    `const { TENSOR_OPS } = await import('./ops/attention/tensor-ops.cases.ts');
    await TENSOR_OPS.propagateVersions.use((tensor) => tensor); return [];`,
    '[]',
  ],
  [
    'a training',
    `const { TENSOR_OPS } = await import('./rank/learning/tensor-ops.cases.ts');
    await TENSOR_OPS.train.use((tensor) => tensor); return [];`,
    '[]',
  ],
  [
    'the scores of a table',
    `const { TENSOR_OPS } = await import('./rank/learning/tensor-ops.cases.ts');
    await TENSOR_OPS.scoreTable.use((tensor) => tensor); return [];`,
    '[]',
  ],
])('%s computes where no backend was chosen', async (_, program, expected) => {
  expect(await runFresh(program)).toBe(`done ${expected}`);
});

test.each([
  [
    'flat',
    `${corpus} const { FlatIndex } = await import('./index/vectors/flat.ts');
    const rows = { dimension: 2, vectors, positions: Int32Array.of(0), validFrom: Int32Array.of(1), validTo: Int32Array.of(9) };
    new FlatIndex(['t0'], rows);`,
  ],
  ['x', `const { scoped } = await import('./core/tensors/scope.ts'); scoped('x', () => null);`],
])('a synchronous function names what to call: %s', async (name, program) => {
  expect(await runFresh(program)).toBe(
    `UnavailableError tensor backend is not available: none was chosen before ${name}; call await useBackend('auto') first`,
  );
});
