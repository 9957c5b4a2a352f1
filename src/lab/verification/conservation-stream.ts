import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { parse } from '../../core/validation/validation.ts';
import type { ConservationMetrics } from '../../ops/conservation/conservation-metrics.ts';
import { ConservationStream } from '../../ops/conservation/conservation-stream.ts';
import { type GoldenCase, HOST, type Part, type Topic } from './topic.ts';

const addition = z.strictObject({ add: z.string(), embedding: z.array(z.number()), salience: z.number() });
const removal = z.strictObject({ remove: z.string() });
const streamCase = z.looseObject({
  dimension: z.int(),
  operations: z.array(z.union([addition, removal])).min(1),
  /** After each operation; null where no record has salience. */
  expected: z.array(z.record(z.string(), z.number()).nullable()),
});

/** Null for records without salience, which have no metrics. */
function measureHeld(stream: ConservationStream): ConservationMetrics | null {
  try {
    return stream.computeStreamMetrics();
  } catch (error) {
    if (error instanceof ValidationError) return null;
    throw error;
  }
}

/** The metrics of a memory after each record that enters or leaves. */
export const conservationStream: Topic = {
  name: 'conservation-stream',
  compute(input: GoldenCase): readonly Part[] {
    const { dimension, operations, expected } = parse(streamCase, input, input.name);
    const stream = new ConservationStream(dimension);
    const got = operations.map((operation) => {
      if ('remove' in operation) stream.remove(operation.remove);
      else stream.add(operation.add, Float64Array.from(operation.embedding), operation.salience);
      const figures = measureHeld(stream);
      return figures && { ...figures };
    });
    return [{ at: 'after', expected, got, tolerance: HOST }];
  },
};
