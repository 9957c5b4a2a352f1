import { z } from 'zod';
import {
  createHttpService,
  type HttpService,
  type HttpServiceOptions,
  readBody,
  ServiceMetrics,
} from '../../core/service/http-service.ts';
import type { Kernel } from '../authority/kernel.ts';
import { sliceExportSchema, sliceRequestSchema } from '../signatures/slice-export.ts';
import { kernelRefusals } from './refusal.ts';

/** The largest body by default: while one is read and checked, others wait. */
export const LARGEST_BODY = 2 ** 19;

/** No request has more. */
const [MOST_KEYS, DEEPEST] = [100, 8];

/** Upper bounds of the buckets of the turns of a slice. */
const TURNS = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 10_000, 100_000];

/** What bounds a request. */
export interface KernelServiceOptions extends Pick<HttpServiceOptions, 'requestSeconds' | 'hosts' | 'onError'> {
  /** The largest body. 512 KiB by default, which is some 12,000 ids: others wait while it is read and checked. */
  readonly maxBodyBytes?: number;
}

const verifyRequestSchema = z.strictObject({
  slice: sliceExportSchema,
  /** The moment of use in milliseconds since 1970; null: now. */
  at: z.number('a moment in milliseconds since 1970').min(0).nullable().default(null),
});

/** Paths and methods, and what each answers. */
function addPaths(app: HttpService['app'], kernel: Kernel, observeTurns: (turns: number) => void): void {
  app.post('/slice', async ({ body }) => {
    const slice = await kernel.slice(readBody(sliceRequestSchema, body, kernelRefusals));
    observeTurns(slice.turnIds.length);
    return slice;
  });
  app.post('/slice/verify', async ({ body }) => {
    const { slice, at } = readBody(verifyRequestSchema, body, kernelRefusals);
    await kernel.verify(slice, at);
    return { valid: true };
  });
  app.get('/keys', async () => ({ keys: kernel.keys }));
  app.get('/health', async () => ({
    ...{ status: 'ok', corpusVersion: kernel.corpusVersion },
    ...{ policies: kernel.policyRefs, turns: kernel.turnCount },
  }));
}

/** A kernel behind HTTP. */
export function createKernelService(kernel: Kernel, options: KernelServiceOptions = {}): HttpService {
  const { maxBodyBytes = LARGEST_BODY, ...bounds } = options;
  const metrics = new ServiceMetrics('kernel');
  const turns = metrics.addHistogram('slice_turns', 'Turns of a slice; its count is that of the slices.', TURNS);
  metrics.addCounter('cache_hits_total', 'Slices whose turns were known.', () => kernel.cacheUse.hits);
  metrics.addCounter('cache_misses_total', 'Slices whose turns were walked.', () => kernel.cacheUse.misses);
  const limits = { mostBytes: maxBodyBytes, mostKeys: MOST_KEYS, deepest: DEEPEST };
  const service = createHttpService({ ...bounds, refusals: kernelRefusals, limits, metrics });
  addPaths(service.app, kernel, (count) => turns.observe(count));
  return service;
}
