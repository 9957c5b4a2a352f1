import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ChecksumMismatchError,
  ConfigurationError,
  DimensionMismatchError,
  ValidationError,
} from '../../core/errors/errors.ts';
import { readSafetensors, type TensorFile, writeSafetensors } from '../../core/files/safetensors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { createLinearModel } from './linear-model.ts';
import { scoreTable } from './model.ts';
import { chooseParameterValues } from './parameters.ts';
import { fitStandardisation } from './standardisation.ts';
import { createTrajectoryModel } from './trajectory-model.ts';
import { drawTrajectoryTable } from './trajectory-table.fixture.ts';
import { assertFits, readWeights, type Weights, writeWeights } from './weight-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-weights-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => useBackend('wasm'));
const path = join(folder, 'x.safetensors');

const signals = ['cosine', 'bm25', 'age'];
const table = drawHandmadeTable({ queries: 7, candidates: 5, clusters: 2, signals, seed: 3 });
const provenance = {
  config: { epochs: 7 },
  dataHash: 'abc',
  seeds: [1, 2],
  commit: 'def',
  backend: 'wasm',
  trainingClusters: ['c0', 'c1'],
  trainingContents: ['0a', '0b'],
};
const linear: Weights = {
  model: createLinearModel(
    { signals, nonNegative: ['cosine'], initial: { age: 0.5 } },
    fitStandardisation(table, signals),
  ),
  values: Float64Array.of(1 / 3, -2e-8, 0.7),
  provenance,
};

test('a linear model comes back as it was, to the last bit of its scores', async () => {
  writeWeights(path, linear);
  const { model, values, provenance: got } = readWeights(path);
  expect(values).toEqual(linear.values);
  expect(got).toEqual(provenance);
  expect(model.constants).toEqual(linear.model.constants);
  expect(await scoreTable(model, values, table)).toEqual(await scoreTable(linear.model, linear.values, table));
});

test('so does a mix that standardises signals by question; a file says so only then', async () => {
  const options = { signals, nonNegative: ['cosine'], initial: {}, normalise: 'question' } as const;
  const model = createLinearModel(options, fitStandardisation(table, signals));
  writeWeights(path, { ...linear, model });
  const read = readWeights(path);
  expect(read.model.config).toEqual(options);
  expect(read.model.constants).toEqual({ means: new Float64Array(3), deviations: new Float64Array(3).fill(1) });
  const scores = await scoreTable(read.model, linear.values, table);
  expect(scores).toEqual(await scoreTable(model, linear.values, table));
  expect(scores).not.toEqual(await scoreTable(linear.model, linear.values, table));
  expect(linear.model.config).not.toHaveProperty('normalise');
});

test('so does a trajectory model', async () => {
  const model = createTrajectoryModel({ dimensions: 3, self: 'exclude' });
  const values = chooseParameterValues(model, ({ initial }) => initial);
  writeWeights(path, { model, values, provenance });
  const read = readWeights(path);
  const sample = drawTrajectoryTable(3, 5, 3, 7);
  expect(read.model.config).toEqual({ dimensions: 3, self: 'exclude' });
  expect(await scoreTable(read.model, read.values, sample)).toEqual(await scoreTable(model, values, sample));
});

/** A mix of three signals by the names given. */
const buildNamedWeights = (names: readonly string[]): Weights => ({
  ...linear,
  model: createLinearModel(
    { signals: names, nonNegative: names.slice(0, 1), initial: { [names[2]!]: 0.5 } },
    { means: new Float64Array(3), deviations: new Float64Array(3).fill(1) },
  ),
});

test('names of signals from before their grammar are those of today, in a file of that time alone', () => {
  const former = ['cosine:share', 'newest in channel', 'length'];
  writeWeights(path, buildNamedWeights(former));
  expect(readWeights(path).model.config).toEqual(buildNamedWeights(former).model.config);
  const { tensors, metadata } = readSafetensors(path, '');
  const weights = JSON.stringify({ ...JSON.parse(metadata.weights!), format: 'ragpp-weights-1' });
  writeSafetensors(path, { tensors, metadata: { weights } });
  const { model, values } = readWeights(path);
  const today = buildNamedWeights(['cosine@share', 'rank.newest@channel', 'form.length']).model;
  expect(model.config).toEqual(today.config);
  expect(model.parameters).toEqual(today.parameters);
  expect(values).toEqual(linear.values);
});

test('missing signals are named, with the nearest existing one', () => {
  expect(() => assertFits(linear, ['age', 'cosine', 'bm25', 'more'])).not.toThrow();
  expect(() => assertFits(linear, ['bm2', 'age', 'unlike'])).toThrow(
    'weights of the linear model need missing signals: cosine, bm25 (nearest: bm2); use a bank that has them (available are bm2, age, unlike)',
  );
  expect(() => assertFits(linear, [])).toThrow(
    /missing signals: cosine, bm25, age; use a bank that has them \(there are none\)$/,
  );
});

test('values outside their domain are not written', () => {
  expect(() => writeWeights(path, { ...linear, values: Float64Array.of(1, 1, -1) })).toThrow(
    'parameter nonNegativeWeights of cosine is not positive: -1; pass a value within its constraint',
  );
});

type Tensors = Record<string, TensorFile['tensors'][string]>;

/** Writes the linear weights with parts of their header and some tensors exchanged; null takes one away. */
function writeChanged(header: Record<string, unknown>, tensors: Record<string, Tensors[string] | null> = {}): void {
  writeWeights(path, linear);
  const { tensors: own, metadata } = readSafetensors(path, '');
  const kept = Object.entries({ ...own, ...tensors }).filter(([, tensor]) => tensor !== null) as [
    string,
    Tensors[string],
  ][];
  const weights = JSON.stringify({ ...JSON.parse(metadata.weights!), ...header });
  writeSafetensors(path, { tensors: Object.fromEntries(kept), metadata: { weights } });
}

const free = [
  { name: 'weights', constraint: 'free', labels: ['bm25', 'age'] },
  { name: 'nonNegativeWeights', constraint: 'free', labels: ['cosine'] },
];
test.each([
  [{ format: 'ragpp-weights-7' }, ConfigurationError, /format: expected .*ragpp-weights-2.*, got "ragpp-weights-7"/],
  [{ formt: 1 }, ConfigurationError, /unknown key "formt"; did you mean format\?/],
  [{ model: 'lineer' }, ValidationError, /unknown model in .*: lineer; use linear/],
  [{ config: { dimensions: 3 } }, ConfigurationError, /unknown key "dimensions"/],
  [
    { signals: ['bm25', 'cosine', 'age'] },
    DimensionMismatchError,
    /signals of .*: expected cosine, bm25, age, got bm25, cosine, age/,
  ],
  [
    { parameters: free },
    DimensionMismatchError,
    /expected .*nonNegativeWeights \(positive: cosine\), got .*nonNegativeWeights \(free: cosine\)/,
  ],
])('a header with %j is refused', (change, kind, message) => {
  writeChanged(change);
  expect(() => readWeights(path)).toThrow(kind);
  expect(() => readWeights(path)).toThrow(message);
});

const buildZeros = (size: number) => ({ shape: [size], data: new Float64Array(size) });
test.each([
  [{ 'parameter:weights': null }, `weight file ${path} has no tensor: parameter:weights; train the weights again`],
  [{ 'parameter:weights': buildZeros(3) }, `parameter:weights of ${path}: expected [2], got [3]`],
  [{ 'constant:means': buildZeros(2) }, 'standardisation: expected 3 signals, got 2'],
  [{ 'constant:deviations': buildZeros(3) }, 'deviation of a signal is not positive: 0; pass numbers above 0'],
  [{ 'constant:means': null }, 'constants of the model are missing: means; train the weights again'],
])('tensors with %j are refused', (change, message) => {
  writeChanged({}, change);
  expect(() => readWeights(path)).toThrow(message);
});

test('other files are refused', () => {
  writeSafetensors(path, { tensors: {}, metadata: {} });
  expect(() => readWeights(path)).toThrow(`not a weight file: ${path}; name the weights of a fit`);
  writeSafetensors(path, { tensors: {}, metadata: { weights: '{' } });
  expect(() => readWeights(path)).toThrow(`metadata of the weight file is not JSON: ${path}; train the weights again`);
  writeWeights(path, linear);
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, bytes.length - 3));
  expect(() => readWeights(path)).toThrow(/damaged file.*train the weights again/);
});

test('weights without checksums, which another program has written, are refused', () => {
  writeWeights(path, linear);
  const bytes = readFileSync(path);
  const end = 8 + Number(bytes.readBigUInt64LE());
  const header = JSON.parse(bytes.subarray(8, end).toString());
  for (const name of ['sha256', 'headerSha256']) delete header.__metadata__[name];
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.byteLength));
  writeFileSync(path, Buffer.concat([length, json, bytes.subarray(end)]));
  expect(() => readWeights(path)).toThrow(ChecksumMismatchError);
  expect(() => readWeights(path)).toThrow(/x\.safetensors: .*no checksum of its header; train the weights again$/);
});
