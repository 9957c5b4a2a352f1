/** The magnitude and coherence of a memory, and the laws of operations on it. */

export {
  CONSERVATION_LAWS,
  type ConservationCheck,
  type ConservationLaws,
  validateConservation,
} from './conservation-laws.ts';
export { type ConservationMetrics, computeConservationMetrics } from './conservation-metrics.ts';
export { ConservationStream } from './conservation-stream.ts';
export { type ConservationTensors, computeConservationTensors, MAX_TENSOR_RECORDS } from './conservation-tensors.ts';
