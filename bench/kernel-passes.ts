/** Passes of the outer loop of a kernel, from what it is called with and returns. */
type CountPasses = (...numbers: number[]) => number;

/** Rows up to the first that is found, or all. */
const countToFound: CountPasses = (_query, _row, count, _bytes, _bound, found) => Math.min(count!, found! + 1);

/** By the parameters of the kernel's text, the result last. A kernel that is not here counts one pass a call. */
const PASSES: Readonly<Record<string, CountPasses>> = {
  // posting-kernel.wat: postings, and documents that are found
  'accumulate/11': (_positions, _pairs, df) => df!,
  'addDense/6': (_dense, _weight, _shares, _sums, _found, count) => count!,
  'addSearched/8': (_positions, _pairs, _df, _weight, _shares, _sums, _found, count) => count!,
  'keepFrom/6': (_sums, _found, count) => count!,
  'keepMarked/4': (_marks, _sums, _found, count) => count!,
  'countSums/8': (_sums, _found, count) => count!,
  'listFrom/7': (_sums, _found, count) => count!,
  'fillBounds/4': (_words, count, _bounds, end) => (count! * end!) / 64,
  'maskBounds/3': (_marks, _bounds, end) => end! / 16,
  'countBounds/3': (_bounds, end) => end! / 16,
  'listBounds/4': (_bounds, end) => end! / 64,
  // row-scan.wat: rows
  'findAbove/5': countToFound,
  'findBelow/5': countToFound,
  // row-products.wat: pairs of rows
  'multiply/4': (_pairs, count) => count!,
  // power-sums.wat: powers
  'sumPowers/4': (_number, count) => count!,
  // best-rows.wat: rows
  'findAbove/7': (row, last, bytes) => (last! - row!) / bytes! + 1,
};

let passes = 0;

/** The passes of kernels since the last call. */
export function takePasses(): number {
  const taken = passes;
  passes = 0;
  return taken;
}

type Kernel = (...numbers: number[]) => number;

function countCalls(name: string, kernel: Kernel): Kernel {
  const count = PASSES[`${name}/${kernel.length}`] ?? (() => 1);
  return (...numbers) => {
    const result = kernel(...numbers);
    passes += count(...numbers, result);
    return result;
  };
}

/** True of kernels of the package: they import memory from `host`, or are known. */
const isOwn = (exports: WebAssembly.Exports, imports: WebAssembly.Imports = {}) =>
  imports.host !== undefined ||
  Object.entries(exports).some(([name, value]) => typeof value === 'function' && `${name}/${value.length}` in PASSES);

/**
 * Counts the passes of kernels of WebAssembly that the package opens from now on. V8 counts what runs in JavaScript
 * alone.
 */
export function countKernelPasses(): void {
  const { Instance } = WebAssembly;
  WebAssembly.Instance = new Proxy(Instance, {
    construct(target, [module, imports]: [WebAssembly.Module, WebAssembly.Imports?]) {
      const instance = new target(module, imports);
      if (!isOwn(instance.exports, imports)) return instance;
      const exports = Object.fromEntries(
        Object.entries(instance.exports).map(([name, kernel]) => [
          name,
          typeof kernel === 'function' ? countCalls(name, kernel as Kernel) : kernel,
        ]),
      );
      return { exports };
    },
  });
}
