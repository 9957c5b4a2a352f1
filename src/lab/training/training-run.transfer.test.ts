import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { loadConfig } from '../config/config.ts';
import { setFit, writeSampleTraining } from './training-config.fixture.ts';
import { runTraining } from './training-run.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-transfer-'));
afterAll(() => rmSync(root, { recursive: true }));
const path = writeSampleTraining(root);
const context = { cacheFolder: join(root, 'cache'), backend: 'cpu' as const, command: 'ragpp run sample' };

/** The same conversations, in which every query looks for the turn that follows the one that it takes words from. */
function writeOther(): string {
  const folder = mkdtempSync(join(root, 'other-'));
  for (const name of ['turns.jsonl', 'queries.jsonl'])
    writeFileSync(join(folder, name), readFileSync(join(root, name)));
  const findOtherTurn = (turn: string) => turn.replace(/-0$/, '-1');
  const lines = readFileSync(join(root, 'qrels.txt'), 'utf8').trim().split('\n');
  const judged = lines.map((line) => line.split(' ')).filter(([query]) => query?.endsWith('-0'));
  writeFileSync(
    join(folder, 'qrels.txt'),
    `${judged.map(([query, zero, turn, grade]) => [query, zero, findOtherTurn(turn as string), grade].join(' ')).join('\n')}\n`,
  );
  return folder;
}

const load = (...transfer: object[]) =>
  loadConfig(
    path,
    setFit('mix.fit.importance=false', 'mix.fit.resamples=0', `mix.fit.transfer=${JSON.stringify(transfer)}`),
  );

beforeAll(() => useBackend('cpu'));

describe('weights on other data', () => {
  const other = writeOther();
  const buildTransferEntry = (more: object = {}) => ({
    name: 'other',
    dataset: { name: 'jsonl', path: other },
    ...more,
  });

  test('are measured there, and those that were learned there here', async () => {
    const before = tf.memory().numTensors;
    const { result } = await runTraining(load(buildTransferEntry()), context);
    expect(tf.memory().numTensors).toBe(before);
    const [away, back] = result.fit.transfer;
    expect(result.fit.transfer.map(({ model, trainedOn, testedOn }) => [model, trainedOn, testedOn])).toEqual([
      ['linear', 'sample-training', 'other'],
      ['linear', 'other', 'sample-training'],
    ]);
    expect(back?.queries).toBe(result.queries.length + result.unanswerable.length);
    // What is looked for shares words with the query here and none there: the same weights cannot do both.
    const readMrr = (one: typeof away) => one?.metrics['mrr@10']?.mean as number;
    expect(readMrr(back)).toBeGreaterThan(readMrr(away) + 0.1);
    for (const { metrics, conversations } of result.fit.transfer)
      for (const { mean, low, high } of Object.values(metrics)) {
        expect(conversations).toBeGreaterThan(2);
        expect(low).toBeLessThanOrEqual(mean);
        expect(high).toBeGreaterThanOrEqual(mean);
      }
  });

  test('on the same data are the weights of the training itself, on what they were trained on', async () => {
    const { result, weights } = await runTraining(
      load({ name: 'same', dataset: { name: 'jsonl', path: root } }),
      context,
    );
    const [away, back] = result.fit.transfer;
    expect(away?.queries).toBe(result.queries.length + result.unanswerable.length);
    expect(weights?.size).toBe(1);
    // One seed, the same rows and as many epochs: the same numbers, so the same rankings.
    expect(away?.metrics).toEqual(back?.metrics);
  });

  test('are measured on as many of its queries as were asked for', async () => {
    const { result } = await runTraining(load(buildTransferEntry({ limitQueries: 13 })), context);
    expect(result.fit.transfer[0]?.queries).toBe(13);
  });
});
