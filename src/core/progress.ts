import { createRequire } from 'node:module';
import type { MultiBar, SingleBar } from 'cli-progress';
import { once } from './once.ts';
import { escapeControls } from './terminal.ts';

/** Shows the progress of one stage of the work. */
export interface Progress {
  update(done: number): void;
  /** Ends the stage with an optional remark, such as a count. */
  finish(remark?: string): void;
}

/** Starts showing a stage of `total` steps. */
export type StartProgress = (stage: string, total: number) => Progress;

/** What of a stream progress is written to: not the type of @types/node, which a program may lack. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Shows nothing: the default of every library function. */
export const ignoreProgress: StartProgress = () => ({ update() {}, finish() {} });

const require = createRequire(import.meta.url);

/** Loaded with the first bar, which most processes never show. */
const library = once(() => require('cli-progress') as typeof import('cli-progress'));

const BAR = {
  format: '{stage} {bar} {percentage}% {eta_formatted} {remark}',
  hideCursor: true,
  barCompleteChar: '█',
  barIncompleteChar: '░',
  barsize: 24,
  etaBuffer: 50,
};
const REDRAW_MILLISECONDS = 100;

/** The bars now on terminals: a bar's timer keeps the process alive, and hides the cursor. */
const shown = new Set<Bars>();

/** The bars of stages that run within each other, one line each. They are drawn on update, since the work between two updates leaves no time for a timer. */
class Bars {
  readonly #stream: ProgressStream;
  readonly #open = new Set<SingleBar>();
  #bars: MultiBar | null = null;
  #drawn = 0;

  constructor(stream: ProgressStream) {
    this.#stream = stream;
  }

  start(stage: string, total: number): SingleBar {
    this.#bars ??= new (library().MultiBar)({ ...BAR, stream: this.#stream as NodeJS.WritableStream });
    shown.add(this);
    const bar = this.#bars.create(Math.max(total, 1), 0, { stage: escapeControls(stage).padEnd(24), remark: '' });
    this.#open.add(bar);
    return bar;
  }

  draw(): void {
    if (performance.now() - this.#drawn < REDRAW_MILLISECONDS) return;
    this.#drawn = performance.now();
    this.#bars?.update();
  }

  finish(bar: SingleBar, remark: string): void {
    if (!this.#open.delete(bar)) return; // closed before it was finished
    bar.update(bar.getTotal(), { remark: escapeControls(remark) });
    bar.stop();
    if (this.#open.size > 0) this.#bars?.update();
    else this.close();
  }

  close(): void {
    shown.delete(this);
    this.#open.clear();
    this.#bars?.stop();
    this.#bars = null;
  }
}

/** Ends the bars of all unfinished stages and shows the cursor again. Otherwise a stage that threw would keep its bar open. */
export function closeProgress(): void {
  for (const bars of shown) bars.close();
}

/** On a terminal one bar per stage, on stderr; elsewhere one plain line at the end of the stage. */
export function createTerminalProgress(stream: ProgressStream = process.stderr): StartProgress {
  const bars = new Bars(stream);
  return (stage, total) => {
    const started = performance.now();
    const formatElapsedSeconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
    if (!stream.isTTY)
      return {
        update() {},
        finish: (remark) =>
          void stream.write(escapeControls(`${stage}: ${remark ?? 'done'} (${formatElapsedSeconds()})\n`)),
      };
    const bar = bars.start(stage, total);
    return {
      update(done) {
        bar.update(done);
        bars.draw();
      },
      finish: (remark) => bars.finish(bar, `${remark ?? ''} (${formatElapsedSeconds()})`),
    };
  };
}
