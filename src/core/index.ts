/** Code without any word of the domain: errors, validation, the tensor backend, scopes, shapes, hashing, random streams. */

/** The tensor library that every room computes with; a second copy of it would not know the active backend. */
export * as tf from '@tensorflow/tfjs-core';
export { attachDisplay, DISPLAY, type Displayable, type MimeBundle } from './display/display.ts';
export { type DisplayRow, type DisplayTable, showTable, type TableOptions } from './display/display-table.ts';
export {
  ChecksumMismatchError,
  ConfigurationError,
  type ConfigurationFault,
  ConservationViolationError,
  ConvergenceError,
  DimensionMismatchError,
  DistributedError,
  DuplicateRecordError,
  type Facts,
  type FilterFault,
  IndexBuildError,
  IndexCapacityError,
  IndexError,
  IndexNotFoundError,
  InvalidFilterError,
  MemoryStoreError,
  NotFiniteError,
  ProcessDiedError,
  QueryError,
  QueryTimeoutError,
  RagPlusPlusError,
  RecordNotFoundError,
  ReplicationError,
  RetrievalError,
  SensitiveTextError,
  ShardError,
  StorageError,
  UnavailableError,
  ValidationError,
  WalCorruptedError,
} from './errors/errors.ts';
export {
  readCheckedSafetensors,
  readSafetensors,
  type TensorData,
  type TensorFile,
  writeSafetensors,
} from './files/safetensors.ts';
export { computeHash } from './hash/hash.ts';
export { Journal, type JournalOptions } from './journal/journal.ts';
export type { Fsync } from './journal/segment-writer.ts';
export type { JournalEntry } from './journal/segments.ts';
export { randomisedSvd, type SvdOptions, type TruncatedSvd } from './linear/randomised-svd.ts';
export type { SparseMatrix } from './linear/sparse-matrix.ts';
export { createRandom, type Random } from './numbers/random.ts';
export {
  activeBackend,
  BACKENDS,
  type BackendChoice,
  type BackendName,
  type BackendProbe,
  probeBackends,
  useBackend,
} from './tensors/backend.ts';
export { batchedMatmul, matmul, matmulTransposed, normaliseRows } from './tensors/matmul.ts';
export { computeRowWidth, gatherRows, viewRow } from './tensors/rows.ts';
export { type ScopeResult, scoped } from './tensors/scope.ts';
export { assertShape, type Sizes } from './tensors/shapes.ts';
export { createTerminalProgress, ignoreProgress, type Progress, type StartProgress } from './terminal/progress.ts';
export { check, findNearestWord, parse, suggestKnown } from './validation/validation.ts';
export { createEventBreaks, letEventsIn } from './values/event-loop.ts';
