import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DimensionMismatchError,
  DuplicateRecordError,
  NotFiniteError,
  RecordNotFoundError,
  ValidationError,
} from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { ConservationStream } from './conservation-stream.ts';

interface Held {
  readonly embedding: Float32Array;
  readonly salience: number;
}

/** A fresh computation in float64 from what is held. */
function computeFresh(held: Iterable<Held>, dimension: number) {
  const records = [...held];
  const total = records.reduce((sum, { salience }) => sum + salience, 0);
  const mean = new Float64Array(dimension);
  let [magnitude, information] = [0, 0];
  for (const { embedding, salience } of records) {
    const share = salience / total;
    const length = Math.hypot(...embedding);
    magnitude += share * length;
    if (share > 0) information -= share * Math.log(share);
    if (length > 0) for (const [i, value] of embedding.entries()) mean[i]! += (share * value) / length;
  }
  return { magnitude, energy: mean.reduce((sum, value) => sum + value * value, 0) / 2, information };
}

function expectSame(stream: ConservationStream, held: Iterable<Held>): void {
  const got = stream.computeStreamMetrics();
  for (const [name, expected] of Object.entries(computeFresh(held, stream.dimension)))
    expect(Math.abs(got[name as keyof typeof got] - expected), name).toBeLessThan(1e-9 * Math.max(1, expected));
}

describe('ConservationStream', () => {
  test('after 100,000 updates is what a fresh computation gives, saliences of twelve orders of magnitude coming and going', () => {
    const D = 7;
    const source = createRandom(3, 'conservation-stream.test');
    const stream = new ConservationStream(D);
    const held = new Map<string, Held>();
    let ids: string[] = [];
    for (let update = 0; update < 100_000; update++) {
      if (ids.length > 0 && source.uniform() < 0.495) {
        const at = source.integer(ids.length);
        const [id] = ids.splice(at, 1) as [string];
        stream.remove(id);
        held.delete(id);
      } else {
        const scale = 10 ** (6 * source.uniform() - 3);
        const embedding = Float32Array.from({ length: D }, () =>
          update % 101 === 0 ? 0 : scale * source.drawNormal(),
        );
        const record = { embedding, salience: update % 89 === 0 ? 0 : 10 ** (12 * source.uniform() - 6) };
        stream.add(`r${update}`, embedding, record.salience);
        held.set(`r${update}`, record);
        ids.push(`r${update}`);
      }
      if (update % 9973 === 0 && update > 0) expectSame(stream, held.values());
    }
    expectSame(stream, held.values());
    expect(stream.size).toBe(held.size);
    // Only light ones are left: what the heavy ones leave behind in rounding must not show.
    ids = ids.filter((id) => (held.get(id) as Held).salience < 1e-5);
    for (const id of held.keys()) {
      if (ids.includes(id)) continue;
      stream.remove(id);
      held.delete(id);
    }
    expect(held.size).toBeGreaterThan(5);
    expectSame(stream, held.values());
  });

  test('any sequence of updates gives what is held at the end, whatever was there before', () => {
    const update = fc.record({
      id: fc.integer({ min: 0, max: 6 }).map(String),
      embedding: fc.float32Array({ minLength: 3, maxLength: 3, noNaN: true, min: -1000, max: 1000 }),
      salience: fc.double({ min: 1e-3, max: 1e3, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(update, { maxLength: 41 }), (updates) => {
        const stream = new ConservationStream(3);
        const held = new Map<string, Held>();
        for (const { id, ...record } of updates) {
          if (held.delete(id)) stream.remove(id);
          else {
            stream.add(id, record.embedding, record.salience);
            held.set(id, record);
          }
          expect(stream.has(id)).toBe(held.has(id));
        }
        expectSame(stream, held.values());
      }),
    );
  });

  test('is empty at first and exactly empty again when the last record has left', () => {
    const stream = new ConservationStream(2);
    const nothing = { count: 0, magnitude: 0, energy: 0, coherence: 0, information: 0, informationBits: 0 };
    expect(stream.computeStreamMetrics()).toEqual(nothing);
    stream.add('a', Float32Array.of(0.1, 0.7), 0.3);
    stream.add('b', Float32Array.of(3, 4), 1e9);
    stream.remove('a');
    expect(stream.computeStreamMetrics()).toMatchObject({ count: 1, magnitude: 5, energy: 0.5 });
    stream.remove('b');
    expect(stream.computeStreamMetrics()).toEqual(nothing);
  });

  test('records without salience are held but carry no weight, and alone cannot be measured', () => {
    const stream = new ConservationStream(2);
    stream.add('mute', Float32Array.of(1, 0), 0);
    expect(() => stream.computeStreamMetrics()).toThrow('salience of 1 records has no positive sum: 0');
    stream.add('heard', Float32Array.of(0, 2), 3);
    expect(stream.computeStreamMetrics()).toMatchObject({ count: 2, magnitude: 2, energy: 0.5, information: 0 });
    stream.remove('heard');
    expect(() => stream.computeStreamMetrics()).toThrow(ValidationError);
  });

  test('keeps its own copy of an embedding', () => {
    const stream = new ConservationStream(2);
    const embedding = Float64Array.of(3, 4);
    stream.add('a', embedding);
    embedding.fill(9);
    stream.add('b', embedding);
    stream.remove('b');
    expect(stream.computeStreamMetrics().magnitude).toBe(5);
  });

  test('what it refuses leaves it as it was', () => {
    const stream = new ConservationStream(2);
    stream.add('a', Float32Array.of(3, 4), 2);
    const before = stream.computeStreamMetrics();
    const one = Float32Array.of(1, 1);
    expect(() => stream.add('a', one)).toThrow(new DuplicateRecordError('conservation stream', 'a'));
    expect(() => stream.remove('z')).toThrow(new RecordNotFoundError('conservation stream', 'z'));
    expect(() => stream.add('b', Float32Array.of(1, 1, 1))).toThrow(new DimensionMismatchError('embedding of b', 2, 3));
    expect(() => stream.add('b', one, -1)).toThrow('salience of b is negative: -1');
    expect(() => stream.add('b', one, Number.NaN)).toThrow(NotFiniteError);
    expect(() => stream.add('b', Float32Array.of(1, Number.NaN))).toThrow('embedding is not finite at b: NaN');
    expect(() => new ConservationStream(0)).toThrow('dimension is not a positive integer: 0');
    expect(stream.computeStreamMetrics()).toEqual(before);
    stream.remove('a');
    expect(() => stream.remove('a')).toThrow('conservation stream has no record: a');
  });
});
