import type { z } from 'zod';
import { Registry } from '../core/registry.ts';
import type { Column } from './candidate-pool.ts';
import type { Signal } from './signal.ts';

/** A signal that a plugin adds to those of relevance. */
export interface AddedSignal {
  readonly name: string;
  /** Unknown keys are refused. */
  readonly options: z.ZodObject;
  /** The indexes whose lists are the signal's own, for fusions of lists. */
  readonly indexes: readonly string[];
  /** @param given that the schema of the options lets through. */
  create(given: Readonly<Record<string, unknown>>): Signal;
  /** @throws PluginError for a score below 0, where the score itself is decayed or summed. */
  assertNotNegative(column: Column): void;
}

/** The signals of the plugins of this process. */
export const ADDED_SIGNALS = new Registry<string, AddedSignal>([], ({ name }) => name);
