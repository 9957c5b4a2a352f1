import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { UnavailableError } from '../../../core/errors/errors.ts';
import type { Tokeniser } from './token-limit.ts';

export const PEER = '@huggingface/transformers';

/** Its runtime downloads CUDA files of half a gigabyte unless an option prevents that; those for the processor are inside. */
export const INSTALL_PEER = `npm install --onnxruntime-node-install=skip ${PEER}@4`;

export interface ModelTensor {
  readonly dims: readonly number[];
  readonly type: string;
  readonly data: unknown;
  dispose(): void;
}

export interface Model {
  (inputs: Readonly<Record<string, ModelTensor>>): Promise<Readonly<Record<string, ModelTensor | undefined>>>;
  dispose(): Promise<unknown>;
}

interface FromFolder<T> {
  from_pretrained(folder: string, options: Readonly<Record<string, unknown>>): Promise<T>;
}

/** The part of @huggingface/transformers that the encoder and the cross-encoder use. */
export interface TransformersPeer {
  readonly AutoTokenizer: FromFolder<Tokeniser>;
  readonly AutoModel: FromFolder<Model>;
  readonly AutoModelForSequenceClassification: FromFolder<Model>;
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => ModelTensor;
}

/** Version of the installed peer. @param user what needs the peer @throws UnavailableError with the command that installs it. */
export function findPeerVersion(user = 'encoder transformers'): string {
  try {
    const entry = createRequire(import.meta.url).resolve(PEER);
    return JSON.parse(readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8')).version;
  } catch (error) {
    throw new UnavailableError(user, `${PEER} is not installed: ${INSTALL_PEER}`, { cause: error });
  }
}

/** @param user what needs the peer @throws UnavailableError when the peer is not installed, or when its native part does not load. */
export async function loadPeer(user = 'encoder transformers'): Promise<TransformersPeer> {
  findPeerVersion(user);
  try {
    return (await import('@huggingface/transformers' as string)) as TransformersPeer;
  } catch (error) {
    throw new UnavailableError(user, `${(error as Error).message}; ${INSTALL_PEER}`, {
      cause: error,
    });
  }
}
