import { readFileSync } from 'node:fs';
import createWabt from 'wabt';

/** The bytes of a kernel of WebAssembly from its text, in base64. */
export async function compileKernel(text: URL): Promise<string> {
  const wabt = await createWabt();
  const module = wabt.parseWat(text.pathname, readFileSync(text, 'utf8'), { simd: true });
  const bytes = Buffer.from(module.toBinary({}).buffer).toString('base64');
  module.destroy();
  return bytes;
}
