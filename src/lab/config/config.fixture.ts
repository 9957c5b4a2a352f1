import { ConfigurationError } from '../../core/errors/errors.ts';
import type { Plain } from '../composition/config-file.ts';
import { resolveConfig } from './config.ts';

/** The steps of a minimal arm. */
export const plain = [{ search: { bm25: {} } }];
/** A minimal config. */
export const least = {
  name: 'least',
  dataset: { name: 'spamassassin-threads' },
  embedding: { encoder: 'lsa' },
  evaluation: { baseline: 'plain' },
  arms: { plain },
};

/** `path: expected …, got …` of every fault. */
export function listResolveFaults(config: Plain): string[] {
  try {
    resolveConfig({ ...least, ...config }, 'test.yaml');
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.faults.map(({ path, expected, got, nearest }) => {
      return `${path}: expected ${expected}, got ${got}${nearest === undefined ? '' : `; ${nearest}?`}`;
    });
  }
}
