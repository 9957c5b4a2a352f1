import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import type { EncodeOptions, Encoder, TextOwner } from '../../model/encoder.ts';
import { createCachedEncoder, type EncoderSource } from './embedding-cache.ts';
import type { VectorInput } from './encoder-definition.ts';

const root = mkdtempSync(join(tmpdir(), 'text-owners-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A vector is (length of the text, 1 for a query). */
class KindEncoder implements Encoder, EncoderSource {
  readonly name = 'kinds';
  readonly dimension = 2;
  readonly identity: Record<string, unknown>;
  readonly dependsOn: VectorInput;
  readonly asked: [string, TextOwner | undefined][] = [];

  constructor(dependsOn: VectorInput) {
    this.dependsOn = dependsOn;
    this.identity = { encoder: 'kinds', dependsOn };
  }

  async create(): Promise<Encoder> {
    return this;
  }

  async encode(texts: readonly string[], _?: StartProgress, { owners }: EncodeOptions = {}): Promise<Float32Array> {
    this.asked.push(...texts.map((text, i): [string, TextOwner | undefined] => [text, owners?.[i]]));
    return Float32Array.from(texts.flatMap((text, i) => [text.length, owners?.[i]?.kind === 'query' ? 1 : 0]));
  }

  describeUse(): string {
    return `${this.asked.length} asked`;
  }

  dispose(): void {}
}

const turn = (id: string): TextOwner => ({ kind: 'turn', id });
const query = (id: string): TextOwner => ({ kind: 'query', id });

describe('the owners of texts in the cache', () => {
  const texts = ['soup', 'bread', 'soup'];
  const owners = [turn('t1'), turn('t2'), query('q1')];

  test('separate the vectors of turns and queries if the encoder depends on the kind', async () => {
    const source = new KindEncoder('kind');
    const cached = await createCachedEncoder(source, root);
    expect([...(await cached.encode(texts, undefined, { owners }))]).toEqual([4, 0, 5, 0, 4, 1]);
    expect(source.asked).toEqual(texts.map((text, i) => [text, owners[i]]));
    cached.dispose();
    const again = new KindEncoder('kind');
    const kept = await createCachedEncoder(again, root);
    const swapped = { owners: [query('q2'), query('q3'), turn('t3')] };
    expect([...(await kept.encode(texts, undefined, swapped))]).toEqual([4, 1, 5, 1, 4, 0]);
    expect(again.asked).toEqual([['bread', query('q3')]]);
    expect([...(await kept.encode(['soup']))]).toEqual([4, 0]);
  });

  test('do not affect the key of an encoder that depends on the text alone', async () => {
    const source = new KindEncoder('text');
    const cached = await createCachedEncoder(source, root);
    await cached.encode(texts, undefined, { owners });
    expect(source.asked).toEqual([
      ['soup', turn('t1')],
      ['bread', turn('t2')],
    ]);
  });

  test('reach an encoder by id at every call, and nothing is kept', async () => {
    const source = new KindEncoder('id');
    for (let call = 0; call < 2; call++)
      expect(await (await createCachedEncoder(source, root)).encode(texts, undefined, { owners })).toHaveLength(6);
    expect(source.asked).toHaveLength(6);
  });

  test('are one for each text', async () => {
    const cached = await createCachedEncoder(new KindEncoder('kind'), root);
    await expect(cached.encode(texts, undefined, { owners: [turn('t1')] })).rejects.toThrow(
      new DimensionMismatchError('owners of texts', 3, 1, 'pass one owner for each text'),
    );
  });
});

test('the line of the embeddings ends with what the encoder used', async () => {
  const lines: (string | undefined)[] = [];
  const progress: StartProgress = () => ({ update() {}, finish: (remark) => void lines.push(remark) });
  const cached = await createCachedEncoder(new KindEncoder('kind'), join(root, 'use'));
  await cached.encode(['soup', 'bread'], progress);
  expect(lines).toEqual(['2 texts embedded; 2 asked']);
});

test('a signal stops the encoding before the encoder is asked', async () => {
  const source = new KindEncoder('text');
  const cached = await createCachedEncoder(source, join(root, 'stopped'));
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(cached.encode(['soup'], undefined, { signal })).rejects.toThrow('enough');
  expect(source.asked).toEqual([]);
});
