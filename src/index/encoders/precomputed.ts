import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { EncodeOptions, Encoder, TextOwner } from '../../model/encoder.ts';
import { assertOneOwnerEach, type CreateEncoder, scaleRowsToUnit, truncateRows } from './encoder-definition.ts';
import { type PrecomputedOptions, precomputedIdentity } from './encoder-options.ts';
import { readVectorFile, type VectorFile } from './precomputed/vector-file.ts';

/** Vectors of length 1 in float32 have a squared length this near to 1, and keep their bits. */
const UNIT_TOLERANCE = 1e-6;

type Kind = TextOwner['kind'];
type FileOfKind = Readonly<Record<Kind, VectorFile>>;

/**
 * Reads the vectors of turns and queries by id. Each is scaled to length 1; a zero vector stays zero, and is reported.
 *
 * @throws as {@link readVectorFile}; DimensionMismatchError when the two files differ in dimension, or when fewer
 * components than the options keep are there.
 */
export const loadPrecomputed: CreateEncoder<PrecomputedOptions> = async (options, { listOwners }) => {
  const turn = await readVectorFile({ path: options.turns, ids: options.turnIds });
  const query =
    options.queries === null ? turn : await readVectorFile({ path: options.queries, ids: options.queryIds });
  if (turn.dimension !== query.dimension)
    throw new DimensionMismatchError(
      `vectors of ${query.path}`,
      `dimension ${turn.dimension} of ${turn.path}`,
      query.dimension,
      'use one model for turns and queries',
    );
  const dimension = options.dimension ?? turn.dimension;
  if (dimension > turn.dimension)
    throw new DimensionMismatchError(
      `vectors of ${turn.path}`,
      `at least ${dimension}`,
      turn.dimension,
      'lower dimension',
    );
  return new PrecomputedEncoder(options, { turn, query }, dimension, listOwners?.() ?? null);
};

class PrecomputedEncoder implements Encoder {
  readonly name = 'precomputed';
  readonly dimension: number;
  readonly identity: Readonly<Record<string, unknown>>;
  readonly #data: readonly TextOwner[] | null;
  #files: FileOfKind | null;

  constructor(options: PrecomputedOptions, files: FileOfKind, dimension: number, data: readonly TextOwner[] | null) {
    this.dimension = dimension;
    this.identity = { ...precomputedIdentity(options), dimension };
    this.#files = files;
    this.#data = data;
  }

  async encode(
    texts: readonly string[],
    progress: StartProgress = ignoreProgress,
    { owners, signal }: EncodeOptions = {},
  ): Promise<Float32Array> {
    const files = this.#files;
    if (files === null) throw new ValidationError('encoder was disposed: precomputed; load a new encoder');
    signal?.throwIfAborted();
    if (owners === undefined)
      throw new ValidationError('precomputed vectors are looked up by id, and the texts have no owners; pass owners');
    assertOneOwnerEach(texts, owners);
    const stage = progress('precomputed vectors', texts.length);
    const rows = gatherOwnRows(files, owners, this.dimension);
    const remarks = [
      ...describeExtra(files, this.#data ?? owners),
      ...describeZeros(owners.filter((_, i) => viewRow(rows, this.dimension, i).every((value) => value === 0))),
    ];
    stage.finish([`${texts.length} vectors of ${listPaths(files).join(' and ')}`, ...remarks].join('; '));
    return rows;
  }

  dispose(): void {
    this.#files = null;
  }
}

function listPaths({ turn, query }: FileOfKind): string[] {
  return turn === query ? [turn.path] : [turn.path, query.path];
}

/** @throws ValidationError for owners without a vector, naming the first of each kind. */
function assertAllThere(files: FileOfKind, owners: readonly TextOwner[]): void {
  const missing = owners.filter(({ kind, id }) => !files[kind].rowOf.has(id));
  if (missing.length === 0) return;
  const lines = (['turn', 'query'] as const).flatMap((kind) => {
    const ids = missing.filter((owner) => owner.kind === kind).map(({ id }) => id);
    if (ids.length === 0) return [];
    const asked = owners.filter((owner) => owner.kind === kind).length;
    const plural = kind === 'turn' ? 'turns' : 'queries';
    return [`${ids.length} of ${asked} ${plural} have no vector in ${files[kind].path}, the first is ${ids[0]}`];
  });
  throw new ValidationError(`precomputed: ${lines.join('; ')}; add their vectors`, {
    missing: missing.map(({ id }) => id),
  });
}

function gatherOwnRows(files: FileOfKind, owners: readonly TextOwner[], kept: number): Float32Array {
  assertAllThere(files, owners);
  const { dimension } = files.turn;
  const rows = new Float32Array(owners.length * dimension);
  for (const [i, { kind, id }] of owners.entries()) {
    const { values, rowOf } = files[kind];
    rows.set(viewRow(values, dimension, rowOf.get(id) as number), i * dimension);
  }
  const result = kept === dimension ? rows : truncateRows(rows, dimension, kept);
  scaleRowsToUnit(result, kept, UNIT_TOLERANCE);
  return result;
}

/** What to report of ids in the files that the data does not have. */
function describeExtra(files: FileOfKind, data: readonly TextOwner[]): string[] {
  const shared = files.turn === files.query;
  const describe = (file: VectorFile, kinds: readonly Kind[], names: string) => {
    const known = new Set(data.filter(({ kind }) => kinds.includes(kind)).map(({ id }) => id));
    const extra = [...file.rowOf.keys()].filter((id) => !known.has(id));
    return extra.length === 0
      ? []
      : [`warning: ${extra.length} ids of ${file.path} belong to no ${names} of the data, such as ${extra[0]}`];
  };
  if (shared) return describe(files.turn, ['turn', 'query'], 'turn or query');
  return [...describe(files.turn, ['turn'], 'turn'), ...describe(files.query, ['query'], 'query')];
}

function describeZeros(zeros: readonly TextOwner[]): string[] {
  if (zeros.length === 0) return [];
  return [`warning: ${zeros.length} vectors are zero, such as that of ${zeros[0]?.kind} ${zeros[0]?.id}`];
}
