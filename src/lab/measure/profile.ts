import { Session } from 'node:inspector/promises';
import { GCProfiler } from 'node:v8';
import { setGarbageClock } from '../../core/tensors/active-backend.ts';

/** Has the costs of all work tell how long V8 collected garbage, from now on. */
export function watchGarbage(): void {
  let profiler = new GCProfiler();
  profiler.start();
  let microseconds = 0;
  setGarbageClock(() => {
    for (const { cost } of profiler.stop()?.statistics ?? []) microseconds += cost;
    profiler = new GCProfiler();
    profiler.start();
    return microseconds / 1e6;
  });
}

/** The times that this process spends in each function until it is stopped. */
export class CpuProfile {
  readonly #session = new Session();

  private constructor() {
    this.#session.connect();
  }

  static async start(): Promise<CpuProfile> {
    const profile = new CpuProfile();
    await profile.#session.post('Profiler.enable');
    await profile.#session.post('Profiler.start');
    return profile;
  }

  /** @returns the text of a .cpuprofile file. */
  async stop(): Promise<string> {
    const { profile } = await this.#session.post('Profiler.stop');
    this.#session.disconnect();
    return JSON.stringify(profile);
  }
}
