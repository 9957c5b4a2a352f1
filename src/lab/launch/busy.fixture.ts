/** A WebAssembly module whose function `f` is an endless loop. */
const ENDLESS = [
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // magic number, version
  ...[0x01, 0x04, 0x01, 0x60, 0x00, 0x00], // type: () -> ()
  ...[0x03, 0x02, 0x01, 0x00], // one function of this type
  ...[0x07, 0x05, 0x01, 0x01, 0x66, 0x00, 0x00], // exported as "f"
  ...[0x0a, 0x09, 0x01, 0x07, 0x00, 0x03, 0x40, 0x0c, 0x00, 0x0b, 0x0b], // loop: branch to its begin
];

/** Code of synchronous work that never ends, in WebAssembly, after a line that says so. */
export const BUSY = `
  const module = new WebAssembly.Module(new Uint8Array(${JSON.stringify(ENDLESS)}));
  const { exports } = new WebAssembly.Instance(module);
  (await import('node:fs')).writeSync(1, 'busy\\n');
  exports.f();`;
