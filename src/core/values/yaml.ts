import { createRequire } from 'node:module';
import { once } from './once.ts';

const require = createRequire(import.meta.url);

/** The YAML library, loaded with its first use. */
export const yaml = once(() => require('yaml') as typeof import('yaml'));
