import { readFileSync } from 'node:fs';

/** The part of wabt that compiles a text. */
interface Wabt {
  parseWat(
    name: string,
    text: string,
    features: { readonly simd: boolean },
  ): { toBinary(options: object): { readonly buffer: Uint8Array }; destroy(): void };
}

/** The bytes of a kernel of WebAssembly from its text, in base64. */
export async function compileKernel(text: URL): Promise<string> {
  const { default: createWabt } = (await import('wabt' as string)) as { readonly default: () => Promise<Wabt> };
  const wabt = await createWabt();
  const module = wabt.parseWat(text.pathname, readFileSync(text, 'utf8'), { simd: true });
  const bytes = Buffer.from(module.toBinary({}).buffer).toString('base64');
  module.destroy();
  return bytes;
}
