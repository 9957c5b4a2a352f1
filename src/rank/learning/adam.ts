import * as tf from '@tensorflow/tfjs-core';
import { scoped } from '../../core/tensors/scope.ts';

/** The options of steps of Adam. */
export interface AdamOptions {
  readonly learningRate: number;
  /** The largest Euclidean norm of a step's gradient, which is scaled down to it; by default there is none. */
  readonly clip?: number | undefined;
}

/** The state of an optimisation by Adam. */
interface AdamState {
  readonly step: number;
  /** [P] free numbers. */
  readonly theta: Float64Array;
  /** [P] running means of the gradient and of its square. */
  readonly first: Float64Array;
  readonly second: Float64Array;
}

/** {@link AdamState} on the device, in float32. Belongs to the caller. */
export interface AdamTensors {
  readonly step: number;
  /** [P] each, as there. */
  readonly theta: tf.Tensor1D;
  readonly first: tf.Tensor1D;
  readonly second: tf.Tensor1D;
}

const FIRST_DECAY = 0.9;
const SECOND_DECAY = 0.999;
const EPSILON = 1e-8;

/** Factors that make up for the start of the running means at 0. @param step of 1, 2, ... */
function computeCorrections(step: number) {
  return { first: 1 / (1 - FIRST_DECAY ** step), second: 1 / (1 - SECOND_DECAY ** step) };
}

/** The state before the first step: step 0 and running means of 0. @param theta [P] */
export function createAdamState(theta: Float64Array): AdamState {
  return { step: 0, theta, first: new Float64Array(theta.length), second: new Float64Array(theta.length) };
}

function clipGradient(gradient: Float64Array, clip: number | undefined): Float64Array {
  const norm = clip === undefined ? 0 : Math.sqrt(gradient.reduce((sum, slope) => sum + slope * slope, 0));
  return clip === undefined || norm <= clip ? gradient : gradient.map((slope) => (slope * clip) / norm);
}

/**
 * One step of Adam (kingma2015adam, algorithm 1) on the host in float64: there are a few dozen numbers.
 *
 * @param slopes [P] the gradient at the state's free numbers
 */
export function takeAdamStep(
  { step: before, theta, ...means }: AdamState,
  slopes: Float64Array,
  { learningRate, clip }: AdamOptions,
): AdamState {
  const step = before + 1;
  const scales = computeCorrections(step);
  const gradient = clipGradient(slopes, clip);
  const first = means.first.map((mean, i) => FIRST_DECAY * mean + (1 - FIRST_DECAY) * gradient[i]!);
  const second = means.second.map((mean, i) => SECOND_DECAY * mean + (1 - SECOND_DECAY) * gradient[i]! ** 2);
  const next = theta.map(
    (x, i) => x - (learningRate * first[i]! * scales.first) / (Math.sqrt(second[i]! * scales.second) + EPSILON),
  );
  return { step, theta: next, first, second };
}

function clipTensor(gradient: tf.Tensor1D, clip: number | undefined): tf.Tensor1D {
  if (clip === undefined) return gradient;
  const norm = tf.sqrt(tf.sum(tf.square(gradient)));
  return tf.mul(gradient, tf.div(clip, tf.maximum(norm, clip)));
}

/** {@link takeAdamStep} on the active backend, in float32. The state before it stays as it is. @param slopes [P] */
export function takeAdamStepOnDevice(
  { step: before, theta, ...means }: AdamTensors,
  slopes: tf.Tensor1D,
  { learningRate, clip }: AdamOptions,
): AdamTensors {
  const step = before + 1;
  const scales = computeCorrections(step);
  const tensors = scoped('takeAdamStepOnDevice', () => {
    const gradient = clipTensor(slopes, clip);
    const first: tf.Tensor1D = tf.add(tf.mul(means.first, FIRST_DECAY), tf.mul(gradient, 1 - FIRST_DECAY));
    const squares = tf.mul(tf.square(gradient), 1 - SECOND_DECAY);
    const second: tf.Tensor1D = tf.add(tf.mul(means.second, SECOND_DECAY), squares);
    const roots = tf.add(tf.sqrt(tf.mul(second, scales.second)), EPSILON);
    const next: tf.Tensor1D = tf.sub(theta, tf.div(tf.mul(first, learningRate * scales.first), roots));
    return { theta: next, first, second };
  });
  return { step, ...tensors };
}
