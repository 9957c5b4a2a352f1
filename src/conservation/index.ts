/** How much a memory holds, how coherent it is, and what an operation on it may change. */

export {
  CONSERVATION_LAWS,
  type ConservationCheck,
  type ConservationLaws,
  validateConservation,
} from './conservation-laws.ts';
export { type ConservationMetrics, conservationMetrics } from './conservation-metrics.ts';
export { ConservationStream } from './conservation-stream.ts';
export { type ConservationTensors, conservationTensors, MAX_TENSOR_RECORDS } from './conservation-tensors.ts';
