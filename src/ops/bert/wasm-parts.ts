import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import { createWasmKernel, findWasmBackend } from '../../core/tensors/wasm-kernel.ts';
import { once } from '../../core/values/once.ts';
import type { LayerParts } from './layer-parts.ts';

/** `bert-layer.wat` as bytes; a test compares them. */
const KERNEL =
  'AGFzbQEAAAABMAVgAXsBe2ABewF9YAV/f39/fwBgCX9/f39/f39/fQBgDn9/f39/f39/f39/f399AAIQAQRob3N0Bm1lbW9yeQIAAQMGBQABAgMEBx0DBGdlbHUAAglub3JtYWxpc2UAAwZhdHRlbmQABAq1EAXjAgECeyAA/QwAAK7CAACuwgAArsIAAK7C/esB/QwAALBCAACwQgAAsEIAALBC/eoBIQAgAP0MO6q4PzuquD87qrg/O6q4P/3mAf1qIQEgACAB/QwAgDE/AIAxPwCAMT8AgDE//eYB/eUBIQIgAiAB/QyDgF45g4BeOYOAXjmDgF45/eYB/eQBIQIgAf34Af0MfwAAAH8AAAB/AAAAfwAAAP2uAUEX/asBIAL9DAAAgD8AAIA/AACAPwAAgD/95AEgAiAC/eYB/QwAAAA/AAAAPwAAAD8AAAA/IAL9DKqqKj6qqio+qqoqPqqqKj4gAv0MwakqPcGpKj3BqSo9wakqPSAC/QwIiQg8CIkIPAiJCDwIiQg8IAL9DM5DtzrOQ7c6zkO3Os5DtzogAv0MZ2lQOWdpUDlnaVA5Z2lQOf3mAf3kAf3mAf3kAf3mAf3kAf3mAf3kAf3mAf3kAf3mAf3kAf3mAQsZACAA/R8AIAD9HwGSIAD9HwIgAP0fA5KSC64DAgF/A3sCQANAIANFDQFBACEFA0AgACAFav0ABAAgASAFav0ABAD95AEhBiAG/eAB/QzzBDU/8wQ1P/MENT/zBDU//eYBIQf9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD8gB/0MBbqnPgW6pz4Fuqc+BbqnPv3mAf3kAf3nASEI/QwAAIA/AACAPwAAgD8AAIA/IAcgB/3mAf3hARAAIAj9DAZ5gj4GeYI+BnmCPgZ5gj4gCP0MjqmRvo6pkb6OqZG+jqmRviAI/Qzj8LU/4/C1P+PwtT/j8LU/IAj9DOMAur/jALq/4wC6v+MAur8gCP0MItyHPyLchz8i3Ic/ItyHP/3mAf3kAf3mAf3kAf3mAf3kAf3mAf3kAf3mAf3mAf3lASEHIAcgBv0MAAAAgAAAAIAAAACAAAAAgP1O/VAhByACIAVqIAb9DAAAAD8AAAA/AAAAPwAAAD/95gH9DAAAgD8AAIA/AACAPwAAgD8gB/3kAf3mAf0LBAAgBUEQaiEFIAUgBEkNAAsgACAEaiEAIAIgBGohAiADQQFrIQMMAAsLC80CAwF/BHsBfSAHQQJ2syEOAkADQCAGRQ0BQQAhCf0MAAAAAAAAAAAAAAAAAAAAACEKA0AgACAJav0ABAAgASAJav0ABAAgAiAJav0ABAD95AH95AEhCyAFIAlqIAv9CwQAIAogC/3kASEKIAlBEGohCSAJIAdJDQALIAoQASAOlf0TIQxBACEJ/QwAAAAAAAAAAAAAAAAAAAAAIQoDQCAFIAlq/QAEACAM/eUBIQsgCiALIAv95gH95AEhCiAJQRBqIQkgCSAHSQ0AC0MAAIA/IAoQASAOlSAIkpGV/RMhDUEAIQkDQCAFIAlq/QAEACAM/eUBIQsgBSAJaiALIA395gEgAyAJav0ABAD95gEgBCAJav0ABAD95AH9CwQAIAlBEGohCSAJIAdJDQALIAAgB2ohACACIAdqIQIgBSAHaiEFIAZBAWshBgwACwsLtAcDCH8IewF9IApBAnQhFCAJQQJ0IRUgByAVaiETAkADQCAPIAhPDQEgASAPIAtsaiERIAYgD0ECdGohEkEAIRADQCASIBEgEGoqAgA4AgAgEiAVaiESIBBBBGohECAQIBRJDQALIA9BAWohDwwACwsDQEMAAID//RMhG0EAIQ8DQP0MAAAAAAAAAAAAAAAAAAAAACEW/QwAAAAAAAAAAAAAAAAAAAAAIRf9DAAAAAAAAAAAAAAAAAAAAAAhGP0MAAAAAAAAAAAAAAAAAAAAACEZIAYgD2ohEkEAIRADQCANIAAgEGoqAgAgAyAQaioCAJKU/RMhGiAWIBogEv0ABAD95gH95AEhFiAXIBogEv0ABBD95gH95AEhFyAYIBogEv0ABCD95gH95AEhGCAZIBogEv0ABDD95gH95AEhGSASIBVqIRIgEEEEaiEQIBAgFEkNAAsgByAPaiERIBEgFv0LBAAgESAX/QsEECARIBj9CwQgIBEgGf0LBDAgD0HAAGohDyAPIBVJDQALIAcgCEECdGohEQJAA0AgESATTw0BIBFDAACA/zgCACARQQRqIREMAAsLIAchEQNAIBsgEf0ABAD96wEhGyARQRBqIREgESATSQ0ACyAb/R8AIBv9HwGXIBv9HwIgG/0fA5eXIR4gHv0TIRv9DAAAAAAAAAAAAAAAAAAAAAAhHCAHIREDQCAR/QAEACAb/eUBEAAhGiARIBr9CwQAIBFBEGohESAcIBr95AEhHCARIBNJDQALQwAAgD8gHBABlf0TIR1BACEQA0D9DAAAAAAAAAAAAAAAAAAAAAAhFv0MAAAAAAAAAAAAAAAAAAAAACEX/QwAAAAAAAAAAAAAAAAAAAAAIRj9DAAAAAAAAAAAAAAAAAAAAAAhGSACIBBqIRIgByERQQAhDwNAIBH9CQIAIRogFiAaIBL9AAQA/eYB/eQBIRYgFyAaIBL9AAQQ/eYB/eQBIRcgGCAaIBL9AAQg/eYB/eQBIRggGSAaIBL9AAQw/eYB/eQBIRkgEUEEaiERIBIgC2ohEiAPQQFqIQ8gDyAISQ0ACyAFIBBqIREgBCAQaiESIBEgFiAd/eYBIBL9AAQA/eQB/QsEACARIBcgHf3mASAS/QAEEP3kAf0LBBAgESAYIB395gEgEv0ABCD95AH9CwQgIBEgGSAd/eYBIBL9AAQw/eQB/QsEMCAQQcAAaiEQIBAgFEkNAAsgACALaiEAIAUgDGohBSAOQQFqIQ4gDiAISQ0ACws=';

interface Kernel {
  gelu(x: number, bias: number, out: number, rows: number, bytes: number): void;
  normalise(...numbers: number[]): void;
  attend(...numbers: number[]): void;
}

const openKernel = createWasmKernel<Kernel>(KERNEL);

const BYTES = 4;
/** Numbers of a head, and keys, that the kernel takes at a time. */
const BLOCK = 16;

/** Names of the kernels, as tfjs knows them. */
const [ATTEND, GELU, NORMALISE] = ['RagppBertAttend', 'RagppBertGelu', 'RagppBertNormalise'];

type Inputs = Readonly<Record<string, tf.TensorInfo>>;
interface Given {
  readonly backend: BackendWasm;
  readonly kernel: Kernel;
  /** The place of the numbers of an input. */
  readonly at: (name: string) => number;
  readonly attrs: Readonly<Record<string, number>>;
  /** [R, columns] */
  readonly x: tf.TensorInfo;
}

/** Makes a kernel known to tfjs, whose result has the rows of the input `x`. */
function register(name: string, countColumns: (columns: number) => number, run: (given: Given, out: number) => void) {
  tf.registerKernel({
    kernelName: name,
    backendName: 'wasm',
    kernelFunc: ({ inputs, attrs, backend: opened }) => {
      const backend = opened as BackendWasm;
      const { x } = inputs as Inputs as { x: tf.TensorInfo };
      const [rows, columns] = x.shape as [number, number];
      const out = backend.makeOutput([rows, countColumns(columns)], 'float32');
      const at = (input: string) => backend.getMemoryOffset((inputs as Inputs)[input]!.dataId);
      const { kernel } = openKernel(backend);
      run({ backend, kernel, at, attrs: attrs as Given['attrs'], x }, backend.getMemoryOffset(out.dataId));
      return out;
    },
  });
}

function attend({ backend, kernel, at, attrs, x }: Given, out: number): void {
  const { heads, length } = attrs as { heads: number; length: number };
  const [rows, columns] = x.shape as [number, number];
  const size = columns / 3 / heads;
  const wide = Math.ceil(length / BLOCK) * BLOCK;
  const room = backend.makeOutput([(size + 1) * wide], 'float32');
  const keys = backend.getMemoryOffset(room.dataId);
  const [own, bias] = [at('x'), at('bias')];
  const [stride, part] = [BYTES * columns, (BYTES * columns) / 3];
  for (let row = 0; row < rows; row += length)
    for (let head = 0; head < heads; head++) {
      const offset = BYTES * size * head;
      const query = own + row * stride + offset;
      kernel.attend(
        ...[query, query + part, query + 2 * part, bias + offset, bias + 2 * part + offset, out + row * part + offset],
        ...[keys, keys + BYTES * size * wide, length, wide, size, stride, part, 1 / Math.sqrt(size)],
      );
    }
  backend.disposeData(room.dataId);
}

const registerAll = once(() => {
  register(ATTEND, (columns) => columns / 3, attend);
  register(
    GELU,
    (columns) => columns,
    ({ kernel, at, x: { shape } }, out) =>
      kernel.gelu(at('x'), at('bias'), out, shape[0] as number, BYTES * (shape[1] as number)),
  );
  register(
    NORMALISE,
    (columns) => columns,
    ({ kernel, at, attrs, x: { shape } }, out) =>
      kernel.normalise(
        ...['x', 'bias', 'beside', 'scale', 'shift'].map(at),
        ...[out, shape[0] as number, BYTES * (shape[1] as number), attrs.epsilon as number],
      ),
  );
});

/** The sizes that matter, by their names in `config.json`. */
interface HeadSizes {
  readonly hidden_size: number;
  readonly num_attention_heads: number;
  readonly intermediate_size: number;
}

/** True if the kernel has been written for such sizes, and the active backend is `wasm` without threads. */
export function fitsWasmParts({ hidden_size, num_attention_heads, intermediate_size }: HeadSizes): boolean {
  const isWhole = (hidden_size / num_attention_heads) % BLOCK === 0 && intermediate_size % BYTES === 0;
  return isWhole && findWasmBackend() !== null;
}

const runKernel = (
  name: string,
  inputs: Readonly<Record<string, tf.Tensor>>,
  attrs: Readonly<Record<string, number>>,
) => tf.engine().runKernel(name, inputs, attrs) as tf.Tensor2D;

/** The parts of a layer by a kernel of WebAssembly, without a gradient: three launches in the place of 250. */
export const WASM_PARTS: LayerParts = {
  attend: (x, bias, heads, length) => {
    registerAll();
    return runKernel(ATTEND, { x, bias }, { heads, length });
  },
  gelu: (x, bias) => runKernel(GELU, { x, bias }, {}),
  normalise: (x, bias, beside, { scale, shift }, epsilon) =>
    runKernel(NORMALISE, { x, bias, beside, scale, shift }, { epsilon }),
};
