/**
 * The error classes of the project. Each has a stable `code`, a lower-case message, and its facts as fields, so that a
 * program can act on them without parsing the text. A message is one line: what is wrong, the value, and what to do.
 */
export type Facts = Readonly<Record<string, unknown>>;

/** The base of every error of the package: a stable `code`, one line that ends with what to do, and the facts behind it. */
export class RagPlusPlusError extends Error {
  readonly code: string;
  readonly facts: Facts;

  constructor(code: string, message: string, facts: Facts = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    this.facts = facts;
  }
}

/** The base of what is wrong with an index: unknown, not built, full. */
export abstract class IndexError extends RagPlusPlusError {}

/** The base of what a query meets: it cannot be answered, takes too long, has a wrong filter. */
export abstract class RetrievalError extends RagPlusPlusError {}

/** The base of what is wrong in a store of records: an id that is not there or is there already, a damaged journal. */
export abstract class MemoryStoreError extends RagPlusPlusError {}

/** The base of what is wrong with one part or copy of an index or store that has several. */
export abstract class DistributedError extends RagPlusPlusError {}

/** One error of a configuration: its path, the expected value, the value found, and the nearest known key if any. */
export interface ConfigurationFault {
  readonly path: string;
  /** The file that set the value, if it is not the source that the error names. */
  readonly file?: string;
  /** The line of that file, or of the source, where the value is. */
  readonly line?: number;
  readonly expected: string;
  readonly got: string;
  readonly nearest?: string;
}

/** `1 error`, `2 errors`: the beginning of a message that lists several. */
export function countErrors(count: number): string {
  return count === 1 ? '1 error' : `${count} errors`;
}

/** The number of errors of a configuration that its message lists. `check` looks for one more. */
export const LISTED_FAULTS = 50;

/** A configuration that cannot be run; carries its errors at once, a line each. */
export class ConfigurationError extends RagPlusPlusError {
  readonly faults: readonly ConfigurationFault[];

  constructor(source: string, faults: readonly ConfigurationFault[], options?: ErrorOptions) {
    const lines = faults.slice(0, LISTED_FAULTS).map((fault) => {
      const hint = fault.nearest === undefined ? '' : `; did you mean ${fault.nearest}?`;
      const { file, line } = fault;
      const location = line === undefined ? '' : ` (${file ?? source}:${line})`;
      const writer = file === undefined || line !== undefined ? '' : ` (${file})`;
      return `  ${fault.path}${writer}: expected ${fault.expected}, got ${fault.got}${hint}${location}`;
    });
    const hasMore = faults.length > LISTED_FAULTS;
    if (hasMore) lines.push('  and more; fix these first');
    const count = hasMore ? `more than ${LISTED_FAULTS} errors` : countErrors(faults.length);
    const heading = `${count} in ${source}; correct and run again`;
    const facts = { source, faults };
    super('CONFIGURATION', `${heading}:\n${lines.join('\n')}`, facts, options);
    this.faults = faults;
  }
}

/** A value that breaks a documented rule. */
export class ValidationError extends RagPlusPlusError {
  constructor(message: string, facts: Facts = {}, options?: ErrorOptions) {
    super('VALIDATION', message, facts, options);
  }
}

/** Texts with the attribute `sensitive` that a service would have read; nothing was sent, and the message holds no text. */
export class SensitiveTextError extends RagPlusPlusError {
  constructor(user: string, count: number, total: number) {
    const message = `${user} sends texts off this machine, and ${count} of ${total} are sensitive; leave out what has \`sensitive: true\`, or use a local encoder or model`;
    super('SENSITIVE_TEXT', message, { user, count, total });
  }
}

/** Two shapes or lengths that must agree and do not. */
export class DimensionMismatchError extends RagPlusPlusError {
  constructor(what: string, expected: string | number, got: string | number, remedy = 'pass matching sizes') {
    super('DIMENSION_MISMATCH', `${what}: expected ${expected}, got ${got}; ${remedy}`, { what, expected, got });
  }
}

/** A stored file whose bytes are not those that were written. */
export class ChecksumMismatchError extends RagPlusPlusError {
  constructor(path: string, reason: string, remedy: string) {
    super('CHECKSUM_MISMATCH', `damaged file ${path}: ${reason}; ${remedy}`, { path, reason, remedy });
  }
}

/** A journal that is damaged before its end: acknowledged entries are lost, the first of them has the number `sequence`. */
export class WalCorruptedError extends MemoryStoreError {
  readonly sequence: number;

  constructor(path: string, sequence: number, reason: string, remedy = 'restore the folder from a copy') {
    super('WAL_CORRUPTED', `damaged journal ${path}: ${reason}, the first lost entry is ${sequence}; ${remedy}`, {
      path,
      sequence,
      reason,
    });
    this.sequence = sequence;
  }
}

/** A computation that failed to produce finite numbers. */
export class NotFiniteError extends RagPlusPlusError {
  constructor(what: string, where: string, value: number, remedy = 'check the input for NaN and infinite numbers') {
    super('NOT_FINITE', `${what} is not finite at ${where}: ${value}; ${remedy}`, { what, where, value });
  }
}

/** An iteration that did not reach its tolerance. */
export class ConvergenceError extends RagPlusPlusError {
  constructor(what: string, iterations: number, tolerance: number, residual: number) {
    super(
      'CONVERGENCE',
      `${what} did not converge to ${tolerance} within ${iterations} iterations, residual: ${residual}; allow more iterations or a larger tolerance`,
      { what, iterations, tolerance, residual },
    );
  }
}

/** A backend, native part or data file that is missing on this machine; the reason ends with what to do. */
export class UnavailableError extends RagPlusPlusError {
  constructor(what: string, reason: string, options?: ErrorOptions) {
    super('UNAVAILABLE', `${what} is not available: ${reason}`, { what, reason }, options);
  }
}

/** A member of a plugin that threw, or whose result is of no use. */
export class PluginError extends RagPlusPlusError {
  /** @param what the member, and what it did. */
  constructor(plugin: string, what: string, facts: Facts = {}, options?: ErrorOptions) {
    super('PLUGIN', `plugin ${plugin}: ${what}`, { plugin, ...facts }, options);
  }
}

/** A process that ended before its work was done. */
export class ProcessDiedError extends RagPlusPlusError {
  constructor(message: string, facts: Facts = {}) {
    super('PROCESS_DIED', message, facts);
  }
}

/** A file or folder that could not be read or written. */
export class StorageError extends RagPlusPlusError {
  constructor(action: string, path: string, options?: ErrorOptions & { readonly remedy?: string }) {
    const reason = options?.cause instanceof Error ? ` (${options.cause.message})` : '';
    const remedy = options?.remedy ?? 'check that the path exists and that you may access it';
    super('STORAGE', `cannot ${action}${reason}: ${path}; ${remedy}`, { action, path }, options);
  }
}

/** An index that could not be built. */
export class IndexBuildError extends IndexError {
  constructor(index: string, reason: string, options?: ErrorOptions) {
    super('INDEX_BUILD', `${index} index: ${reason}`, { index, reason }, options);
  }
}

/** An id that is not in a store. */
export class RecordNotFoundError extends MemoryStoreError {
  constructor(store: string, id: string) {
    super('RECORD_NOT_FOUND', `${store} has no record: ${id}; add the record first`, { store, id });
  }
}

/** An id that is already in a store. */
export class DuplicateRecordError extends MemoryStoreError {
  constructor(store: string, id: string) {
    super('DUPLICATE_RECORD', `${store} already has the record: ${id}; remove it first or use another id`, {
      store,
      id,
    });
  }
}

/** An operation on a memory that broke one of its conservation laws; the facts hold the figures before and after. */
export class ConservationViolationError extends RagPlusPlusError {
  constructor(message: string, facts: Facts) {
    super('CONSERVATION_VIOLATION', message, facts);
  }
}

/** An index that no registry holds under a name. */
export class IndexNotFoundError extends IndexError {
  /** @param known what to use instead, as a message ends. */
  constructor(name: string, known: string) {
    super('INDEX_NOT_FOUND', `there is no index of this name: ${name}; use ${known}`, { name });
  }
}

/** An index that holds as much as it can. */
export class IndexCapacityError extends IndexError {
  constructor(index: string, capacity: number, wanted: number, remedy: string) {
    super('INDEX_CAPACITY', `${index} index holds at most ${capacity} vectors, got ${wanted}; ${remedy}`, {
      index,
      capacity,
      wanted,
    });
  }
}

/** A query that cannot be answered as it is. */
export class QueryError extends RetrievalError {
  constructor(message: string, facts: Facts = {}, options?: ErrorOptions) {
    super('QUERY', message, facts, options);
  }
}

/** A query that took longer than it may. */
export class QueryTimeoutError extends RetrievalError {
  constructor(elapsedMs: number, timeoutMs: number) {
    const message = `query took longer than ${timeoutMs} ms: ${Math.round(elapsedMs)} ms; raise timeoutMs, lower k or search fewer indexes`;
    super('QUERY_TIMEOUT', message, { elapsedMs, timeoutMs });
  }
}

/**
 * One of the parts that an index or store is divided into, which did not answer or whose answer is of no use. The index `pgvector` throws it for a partition of
 * its table; an index of your own over several servers is the other use.
 */
export class ShardError extends DistributedError {
  constructor(shard: string, reason: string, remedy: string, options?: ErrorOptions) {
    super('SHARD', `shard ${shard}: ${reason}; ${remedy}`, { shard, reason }, options);
  }
}

/**
 * A copy of an index or store that does not hold what the original holds, or may not be written. The index `pgvector` throws it for a standby of a server; an
 * index of your own over several copies is the other use.
 */
export class ReplicationError extends DistributedError {
  constructor(replica: string, reason: string, remedy: string, options?: ErrorOptions) {
    super('REPLICATION', `replica ${replica}: ${reason}; ${remedy}`, { replica, reason }, options);
  }
}

/** Where a filter is wrong: a place in its text, or the path of a node of its tree. */
export interface FilterFault {
  /** `line 1, column 9`, or `of[1].value`. */
  readonly place: string;
  readonly expected: string;
  readonly got: string;
  /** What to do. */
  readonly remedy: string;
  /** The line of the text, and a line with a caret under the place. */
  readonly excerpt?: string;
}

/** A filter that cannot be read, or a variable of a filter that no attribute may equal. */
export class InvalidFilterError extends RetrievalError {
  readonly fault: FilterFault;

  constructor(fault: FilterFault) {
    const { place, expected, got, remedy, excerpt } = fault;
    const lines = excerpt === undefined ? '' : `\n${excerpt}`;
    super('INVALID_FILTER', `invalid filter at ${place}: expected ${expected}, got ${got}; ${remedy}${lines}`, {
      ...fault,
    });
    this.fault = fault;
  }
}
