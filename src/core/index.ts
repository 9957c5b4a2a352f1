/** Errors, the tensor backend, seeded random streams, and tables and figures in a notebook. */

/** The tensor library that every room computes with; a second copy of it would not know the active backend. */
export * as tf from '@tensorflow/tfjs-core';
export { showTable } from './display/display.ts';
export {
  ConfigurationError,
  DistributedError,
  IndexError,
  MemoryStoreError,
  RagPlusPlusError,
  ReplicationError,
  RetrievalError,
  ShardError,
  ValidationError,
} from './errors/errors.ts';
export { createRandom, type Random } from './numbers/random.ts';
export { useBackend } from './tensors/backend.ts';
