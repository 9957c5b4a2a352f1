import { ChecksumMismatchError, ValidationError } from '../../../core/errors/errors.ts';
import { decodeHalfFloats } from '../../../core/numbers/half-floats.ts';

/** A tensor that an ONNX file stores. */
export interface OnnxTensor {
  readonly shape: readonly number[];
  /** Row-major; float16 as float32. */
  readonly data: Float32Array | Uint8Array | Int8Array;
}

/** An operation of the graph and the names of its tensors. */
export interface OnnxNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** The operations and the stored tensors of an ONNX file. */
export interface OnnxGraph {
  readonly nodes: readonly OnnxNode[];
  /** Tensors of float32, float16, uint8 and int8: weights have no other types. */
  readonly tensors: ReadonlyMap<string, OnnxTensor>;
}

/** Field numbers of onnx.proto3. */
const MODEL_GRAPH = 7;
const GRAPH = { node: 1, tensor: 5 } as const;
const NODE = { input: 1, output: 2, op: 4 } as const;
const TENSOR = { shape: 1, type: 2, floats: 4, integers: 5, name: 8, raw: 9, location: 14 } as const;
const TYPES = { float32: 1, uint8: 2, int8: 3, float16: 10 } as const;
/** The location of numbers that are in a file beside. */
const EXTERNAL = 1;
/** Wire types of Protocol Buffers. */
const WIRE = { varint: 0, eightBytes: 1, bytes: 2, fourBytes: 5 } as const;

/** Bytes that are no message. */
class WireFault extends Error {}

/** A field of a message: an integer by its low 32 bits, or bytes. */
interface Field {
  readonly field: number;
  readonly integer: number;
  readonly bytes: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);

/** Reads a message of Protocol Buffers from its start. */
class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** The low 32 bits, signed; the bits above belong to numbers that no file in memory needs, and to the sign. */
  readVarint(): number {
    let low = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new WireFault('it ends within a number');
      if (shift < 32) low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return low;
    }
    throw new WireFault('a number has more than 10 bytes');
  }

  readField(): Field {
    const tag = this.readVarint() >>> 0;
    const [field, wire] = [tag >>> 3, tag & 7];
    if (wire === WIRE.varint) return { field, integer: this.readVarint(), bytes: NO_BYTES };
    if (wire === WIRE.bytes) return { field, integer: 0, bytes: this.#take(this.readVarint() >>> 0) };
    if (wire === WIRE.eightBytes) return { field, integer: 0, bytes: this.#take(8) };
    if (wire === WIRE.fourBytes) return { field, integer: 0, bytes: this.#take(4) };
    throw new WireFault(`a field has the wire type ${wire}`);
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new WireFault(`a field of ${length} bytes ends after the file`);
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

function* readFields(bytes: Uint8Array): Generator<Field> {
  const reader = new WireReader(bytes);
  while (!reader.isAtEnd) yield reader.readField();
}

/** Integers of a field, each in a field of its own or all in one. */
function readIntegers({ integer, bytes }: Field): number[] {
  if (bytes.length === 0) return [integer];
  const reader = new WireReader(bytes);
  const integers: number[] = [];
  while (!reader.isAtEnd) integers.push(reader.readVarint());
  return integers;
}

const readName = ({ bytes }: Field) => new TextDecoder().decode(bytes);

function readNode(bytes: Uint8Array): OnnxNode {
  const inputs: string[] = [];
  const outputs: string[] = [];
  let op = '';
  for (const field of readFields(bytes)) {
    if (field.field === NODE.input) inputs.push(readName(field));
    else if (field.field === NODE.output) outputs.push(readName(field));
    else if (field.field === NODE.op) op = readName(field);
  }
  return { op, inputs, outputs };
}

/** A tensor as the file has it, before its numbers are decoded. */
interface StoredTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: number;
  readonly location: number;
  readonly raw: Uint8Array;
  readonly floats: readonly Uint8Array[];
  readonly integers: readonly number[];
}

function readStoredTensor(bytes: Uint8Array): StoredTensor {
  const shape: number[] = [];
  const floats: Uint8Array[] = [];
  const integers: number[] = [];
  let [name, type, location] = ['', 0, 0];
  let raw: Uint8Array = NO_BYTES;
  for (const field of readFields(bytes))
    switch (field.field) {
      case TENSOR.shape:
        for (const size of readIntegers(field)) shape.push(size >>> 0);
        break;
      case TENSOR.type:
        type = field.integer;
        break;
      case TENSOR.floats:
        floats.push(field.bytes);
        break;
      case TENSOR.integers:
        for (const integer of readIntegers(field)) integers.push(integer);
        break;
      case TENSOR.name:
        name = readName(field);
        break;
      case TENSOR.raw:
        raw = field.bytes;
        break;
      case TENSOR.location:
        location = field.integer;
    }
  return { name, shape, type, location, raw, floats, integers };
}

/** Numbers from a copy of their bytes, whose place in the file need not be a multiple of their size. */
function copyNumbers<T>(bytes: Uint8Array, type: { new (buffer: ArrayBuffer): T; readonly BYTES_PER_ELEMENT: number }) {
  if (bytes.length % type.BYTES_PER_ELEMENT !== 0) throw new WireFault('a tensor ends within a number');
  return new type(Uint8Array.from(bytes).buffer);
}

/** Null for a type that no weight has. */
function decodeNumbers({ type, raw, floats, integers }: StoredTensor): OnnxTensor['data'] | null {
  if (type === TYPES.float32) return copyNumbers(raw.length > 0 ? raw : Buffer.concat(floats), Float32Array);
  if (type === TYPES.float16) {
    const bits = raw.length > 0 ? copyNumbers(raw, Uint16Array) : Uint16Array.from(integers);
    return decodeHalfFloats(bits);
  }
  if (type === TYPES.uint8) return raw.length > 0 ? Uint8Array.from(raw) : Uint8Array.from(integers);
  if (type === TYPES.int8) return raw.length > 0 ? copyNumbers(raw, Int8Array) : Int8Array.from(integers);
  return null;
}

function readGraph(bytes: Uint8Array, path: string): OnnxGraph {
  const nodes: OnnxNode[] = [];
  const tensors = new Map<string, OnnxTensor>();
  for (const { field, bytes: content } of readFields(bytes)) {
    if (field === GRAPH.node) nodes.push(readNode(content));
    if (field !== GRAPH.tensor) continue;
    const stored = readStoredTensor(content);
    if (stored.location === EXTERNAL)
      throw new ValidationError(
        `numbers of ${stored.name} in ${path} are in another file; use a model with model.safetensors`,
        { path, tensor: stored.name },
      );
    const data = decodeNumbers(stored);
    if (data === null) continue;
    const size = stored.shape.reduce((product, length) => product * length, 1);
    if (size !== data.length)
      throw new WireFault(`tensor ${stored.name} of [${stored.shape.join(', ')}] has ${data.length} numbers`);
    tensors.set(stored.name, { shape: stored.shape, data });
  }
  return { nodes, tensors };
}

/**
 * Reads operations and stored tensors of an ONNX file: the fields of onnx.proto3 that name them, and no others.
 *
 * @param path of the file, in errors.
 * @throws ChecksumMismatchError for bytes that are no such file; ValidationError for weights in a file beside.
 */
export function readOnnx(bytes: Uint8Array, path: string): OnnxGraph {
  const createDamageError = (reason: string) => new ChecksumMismatchError(path, reason, 'download the model again');
  try {
    for (const { field, bytes: content } of readFields(bytes))
      if (field === MODEL_GRAPH) return readGraph(content, path);
  } catch (error) {
    if (error instanceof WireFault) throw createDamageError(error.message);
    throw error;
  }
  throw createDamageError('it has no graph');
}
