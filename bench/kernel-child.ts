import { createHttpAuthority } from '../src/kernel/client/http-authority.ts';
import { createKernelService } from '../src/kernel/service/kernel-service.ts';
import {
  drawAnchors,
  type KernelData,
  openBenchKernel,
  type Percentiles,
  summarisePercentiles,
} from './kernel-data.ts';
import { type HostileTask, sendHostile } from './kernel-hostile.ts';
import { measureRetrieval, type RetrievalTask, type ServedKernel } from './kernel-retrieval.ts';
import { measureSigning } from './kernel-signing.ts';

/** Questions over HTTP, `connections` at once, for `seconds`. */
export interface ClientTask {
  readonly baseUrl: string;
  readonly policyRef: string;
  readonly turns: number;
  readonly seed: number;
  readonly connections: number;
  readonly seconds: number;
  /** Of drawAnchors. */
  readonly skew: number;
}

export interface ClientFigures extends Percentiles {
  readonly perSecond: number;
  /** The mean number of turns of a slice. */
  readonly turns: number;
}

export type KernelTask =
  | { readonly serve: KernelData }
  | { readonly client: ClientTask }
  | { readonly hostile: HostileTask }
  | { readonly retrieval: RetrievalTask }
  | { readonly signing: Omit<KernelData, 'cacheEntries'> & { readonly repeats: number } };

/** Serves until the process that started it is gone. */
async function serve(data: KernelData): Promise<ServedKernel> {
  const { kernel } = openBenchKernel(data);
  const baseUrl = await createKernelService(kernel).app.listen({ port: 0, host: '127.0.0.1' });
  process.on('disconnect', () => process.exit(0));
  return { baseUrl, policyRef: kernel.policyRefs[0]!, publicKey: kernel.keys[0]!.publicKey };
}

const WARM_UP = 200;

async function measureClient({
  baseUrl,
  policyRef,
  turns,
  seed,
  connections,
  seconds,
  skew,
}: ClientTask): Promise<ClientFigures> {
  const authority = createHttpAuthority({ baseUrl, timeoutSeconds: 60, maxConnections: connections });
  const anchors = drawAnchors(turns, 100_000, seed, skew);
  const asOf = Date.UTC(2100, 0, 1);
  let asked = 0;
  const ask = () => authority.slice({ policyRef, scope: { anchorTurnId: anchors[asked++ % anchors.length]! }, asOf });
  for (let i = 0; i < WARM_UP; i++) await ask();
  const times: number[] = [];
  let returned = 0;
  const start = performance.now();
  const end = start + 1000 * seconds;
  const askOn = async () => {
    while (performance.now() < end) {
      const before = performance.now();
      const { turnIds } = await ask();
      returned += turnIds.length;
      times.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: connections }, askOn));
  const perSecond = (1000 * times.length) / (performance.now() - start);
  authority.close();
  return { perSecond, turns: returned / times.length, ...summarisePercentiles(times) };
}

const task = JSON.parse(process.argv[2]!) as KernelTask;
if ('serve' in task) process.send!(await serve(task.serve));
else if ('client' in task) process.send!(await measureClient(task.client), () => process.exit(0));
else if ('hostile' in task) process.send!(await sendHostile(task.hostile), () => process.exit(0));
else if ('retrieval' in task) process.send!(await measureRetrieval(task.retrieval), () => process.exit(0));
else process.send!(await measureSigning(task.signing));
