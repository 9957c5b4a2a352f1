import * as tf from '@tensorflow/tfjs-core';
import { scoped } from '../../core/tensors/scope.ts';
import { Conversation } from '../../model/turns/conversation.ts';
import {
  type ComplexityScale,
  type CoordinateWeights,
  type Dimensions,
  listCoordinateWeights,
} from '../../ops/trajectory/coordinate-names.ts';
import { computeTrajectoryCoordinates, type TrajectoryCoordinates } from '../../ops/trajectory/coordinates.ts';
import { pairwiseTrajectoryDistance } from '../../ops/trajectory/trajectory-distance.ts';
import { type GoldenCase, HOST, type Part, TENSOR, type Topic } from './topic.ts';

interface TrajectoryCase {
  readonly turns: readonly {
    readonly id: string;
    readonly parentId: string | null;
    readonly timestamp: number;
    readonly embedding: readonly number[];
    readonly components: number;
  }[];
  readonly dimensions: Dimensions;
  readonly complexityScale: ComplexityScale;
  readonly asOf: number | null;
  readonly weights: CoordinateWeights;
  readonly expected: {
    readonly coordinates: unknown;
    readonly ids: unknown;
    readonly distance: unknown | null;
  };
}

function computeGoldenCoordinates(golden: TrajectoryCase): TrajectoryCoordinates {
  const turns = golden.turns.map(({ id, parentId, timestamp }) => {
    return { id, parentId, timestamp, conversationId: 'golden', author: null, channel: null, text: id };
  });
  const features = new Map(golden.turns.map((turn) => [turn.id, turn]));
  const { dimensions, complexityScale, asOf } = golden;
  const options = asOf === null ? { dimensions, complexityScale } : { dimensions, complexityScale, asOf };
  return computeTrajectoryCoordinates(new Conversation('golden', turns), features, options);
}

function indexByTurnAndName({ turnIds, names, values }: TrajectoryCoordinates): Record<string, Record<string, number>> {
  const listTurnValues = (turn: number) => names.map((name, i) => [name, values[turn * names.length + i] as number]);
  return Object.fromEntries(turnIds.map((id, turn) => [id, Object.fromEntries(listTurnValues(turn))]));
}

async function computeGoldenDistances(coordinates: TrajectoryCoordinates, golden: TrajectoryCase): Promise<number[][]> {
  const distances = scoped('verification.trajectory', () => {
    const shape: [number, number] = [coordinates.turnIds.length, coordinates.names.length];
    const points = tf.tensor2d(Float32Array.from(coordinates.values), shape);
    const weights = tf.tensor1d(listCoordinateWeights(golden.dimensions, golden.weights));
    return pairwiseTrajectoryDistance(points, points, weights);
  });
  try {
    return await distances.array();
  } finally {
    distances.dispose();
  }
}

export const trajectory: Topic = {
  name: 'trajectory',
  async compute(input: GoldenCase): Promise<readonly Part[]> {
    const golden = input as unknown as TrajectoryCase;
    const coordinates = computeGoldenCoordinates(golden);
    const { expected } = golden;
    const host: Part[] = [
      { at: 'ids', expected: expected.ids, got: coordinates.turnIds, tolerance: HOST },
      { at: 'coordinates', expected: expected.coordinates, got: indexByTurnAndName(coordinates), tolerance: HOST },
    ];
    if (expected.distance === null) return host;
    return [
      ...host,
      {
        at: 'distance',
        expected: expected.distance,
        got: await computeGoldenDistances(coordinates, golden),
        tolerance: TENSOR,
      },
    ];
  },
};
