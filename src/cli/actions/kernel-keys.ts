import { generateKey, type KeyRing, rotateKeys } from '../../admissibility/kernel-keys.ts';
import { createKeyFile, readKeyFile, writeKeyFile } from '../../admissibility/service/key-file.ts';
import { printOut } from '../../core/terminal.ts';
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
