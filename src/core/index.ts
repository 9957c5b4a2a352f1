/** Code without any word of the domain: errors, validation, the tensor backend, scopes, shapes, hashing, random streams. */

/** The tensor library that every room computes with; a second copy of it would not know the active backend. */
export * as tf from '@tensorflow/tfjs-core';
export {
  activeBackend,
  BACKENDS,
  type BackendChoice,
  type BackendName,
  type BackendProbe,
  probeBackends,
  useBackend,
} from './backend.ts';
export { attachDisplay, DISPLAY, type Displayable, type MimeBundle } from './display.ts';
export { showFigure } from './display-figure.ts';
export { type DisplayRow, type DisplayTable, showTable, type TableOptions } from './display-table.ts';
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
} from './errors.ts';
export { createEventBreaks, letEventsIn } from './event-loop.ts';
export { computeHash } from './hash.ts';
export { Journal, type JournalOptions } from './journal/journal.ts';
export type { Fsync } from './journal/segment-writer.ts';
export type { JournalEntry } from './journal/segments.ts';
export { randomisedSvd, type SvdOptions, type TruncatedSvd } from './linear/randomised-svd.ts';
export type { SparseMatrix } from './linear/sparse-matrix.ts';
export { batchedMatmul, matmul, matmulTransposed, normaliseRows } from './matmul.ts';
export { createTerminalProgress, ignoreProgress, type Progress, type StartProgress } from './progress.ts';
export { createRandom, type Random } from './random.ts';
export { computeRowWidth, gatherRows, viewRow } from './rows.ts';
export {
  readCheckedSafetensors,
  readSafetensors,
  type TensorData,
  type TensorFile,
  writeSafetensors,
} from './safetensors.ts';
export { type ScopeResult, scoped } from './scope.ts';
export { assertShape, type Sizes } from './shapes.ts';
export { check, findNearestWord, parse, suggestKnown } from './validation.ts';
