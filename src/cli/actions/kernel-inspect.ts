import { ConfigurationError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { printOut } from '../../core/terminal/terminal.ts';
import { parse } from '../../core/validation/validation.ts';
import { formatPolicyRef } from '../../kernel/policies/policy-ref.ts';
import { readKeyFile } from '../../kernel/service/key-file.ts';
import { computeFingerprint } from '../../kernel/signatures/fingerprint.ts';
import { publicKeySchema } from '../../kernel/signatures/kernel-keys.ts';
import { readPublicKey } from '../../kernel/signatures/public-key.ts';
import { isSignedBy } from '../../kernel/signatures/signature.ts';
import { type SliceExport, sliceExportSchema } from '../../kernel/signatures/slice-export.ts';
import { alignColumns } from '../process/columns.ts';
import { FailedCheck } from '../process/failed-check.ts';
import { formatKeys } from './kernel/key-table.ts';
import { readPolicyFile } from './kernel/policy-file.ts';

interface InspectOptions {
  readonly policy: readonly string[];
  readonly publicKey?: string;
}

/** A file may hold secrets: no error quotes its text. */
function readJson(path: string): unknown {
  const text = readText(path);
  try {
    return JSON.parse(text);
  } catch {
    const expected = 'JSON: keys of ragpp kernel keygen, or a slice';
    throw new ConfigurationError(path, [{ path: '(text)', expected, got: `${text.length} characters` }]);
  }
}

function describeSignature(slice: SliceExport, publicKey: string | undefined): string {
  if (publicKey === undefined) return 'not checked; give --public-key';
  const key = readPublicKey(parse(publicKeySchema, publicKey, '--public-key'));
  return isSignedBy(slice, key) ? 'that of the public key' : 'not that of the public key';
}

function describeSlice(slice: SliceExport, signature: string): string[][] {
  const format = (moment: number) => new Date(moment).toISOString();
  return [
    ['turns', String(slice.turnIds.length)],
    [
      'fingerprint',
      computeFingerprint(slice.turnIds) === slice.fingerprint ? 'that of the turns' : 'not that of the turns',
    ],
    ['signature', signature],
    ['signed by key', slice.keyId],
    ['issued', format(slice.issuedAt)],
    ['expires', format(slice.expiresAt)],
    ['policy', slice.policyRef],
    ['corpus', slice.corpusVersion],
    ['anchor', slice.anchorTurnId ?? 'none'],
    ['refines', slice.previous ?? 'nothing'],
  ];
}

export function runKernelInspect(path: string | undefined, { policy, publicKey }: InspectOptions): void {
  if (path === undefined && policy.length === 0)
    throw new ConfigurationError('the command line', [
      { path: '[file]', expected: 'a file of keys, a slice, or --policy', got: 'nothing' },
    ]);
  for (const file of policy) printOut(`${formatPolicyRef(readPolicyFile(file))}\n`);
  if (path === undefined) return;
  const content = readJson(path);
  if (content !== null && typeof content === 'object' && 'keys' in content) {
    printOut(formatKeys(readKeyFile(path)));
    return;
  }
  const slice = parse(sliceExportSchema, content, path);
  const signature = describeSignature(slice, publicKey);
  printOut(`${alignColumns(describeSlice(slice, signature))}\n`);
  if (signature.startsWith('not that')) throw new FailedCheck(signature);
}
