import { printOut } from '../../core/terminal/terminal.ts';
import { createKeyFile, readKeyFile, writeKeyFile } from '../../kernel/service/key-file.ts';
import { generateKey, type KeyRing, rotateKeys } from '../../kernel/signatures/kernel-keys.ts';
import { formatKeys } from './kernel/key-table.ts';

export function runKernelKeygen(path: string): void {
  const ring: KeyRing = { keys: [generateKey()] };
  createKeyFile(path, ring);
  printOut(formatKeys(ring));
}

export function runKernelRotate(path: string, { retire }: { readonly retire?: true }): void {
  const { keys } = rotateKeys(readKeyFile(path));
  const ring = {
    keys: keys.map((key) => (retire && key.state === 'verifying' ? { ...key, state: 'retired' as const } : key)),
  };
  writeKeyFile(path, ring);
  printOut(formatKeys(ring));
}
