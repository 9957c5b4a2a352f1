import { createRequire } from 'node:module';
import type { MultiBar, SingleBar } from 'cli-progress';
import { once } from '../values/once.ts';

/**
 * Lets signals and timers in. Tensor operations on wasm and cpu resolve their promises without ever returning to the
 * event loop, so that a long computation made of them does not notice Ctrl-C until it is over, unless it awaits this
 * now and then.
 */
export function letEventsIn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** The interval at which a long computation lets events in, and so notices Ctrl-C. */
const BREAK_MILLISECONDS = 50;

/**
 * For a loop of short steps: {@link letEventsIn} whenever the last time is some while ago, so that awaiting it at every
 * step costs next to nothing.
 */
export function createEventBreaks(): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < BREAK_MILLISECONDS) return;
    await letEventsIn();
    last = performance.now();
  };
}

/**
 * Characters that a terminal obeys instead of showing, line feed and tab aside: those of C0 and C1, and what turns the
 * direction of writing.
 */
const CONTROL = /(?![\n\t])[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A text whose control characters are written out, as `\u001b`, which JSON reads as the character. Names and texts of
 * data may hold any.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Writes to stdout what {@link escapeControls} makes of a text. */
export function printOut(text: string): void {
  process.stdout.write(escapeControls(text));
}

/** Writes to stderr what {@link escapeControls} makes of a text. */
export function printError(text: string): void {
  process.stderr.write(escapeControls(text));
}

/** Restores the cursor and the wrapping of lines of a terminal after a progress bar, if stderr is a terminal. */
export function restoreTerminal(): void {
  if (process.stderr.isTTY) process.stderr.write('\x1b[?25h\x1b[?7h');
}

/** A computation in short steps that can be interrupted between them. */
export type Steps<T> = Generator<void, T>;

/** Takes all steps at once. @param report receives the number of finished steps. */
export function finishSteps<T>(steps: Steps<T>, report: (done: number) => void = () => {}): T {
  for (let done = 1; ; done++) {
    const step = steps.next();
    if (step.done === true) return step.value;
    report(done);
  }
}

/** Takes all steps and lets events in between them. @param report receives the number of finished steps. */
export async function finishStepsWithBreaks<T>(steps: Steps<T>, report: (done: number) => void): Promise<T> {
  const pause = createEventBreaks();
  for (let done = 1; ; done++) {
    const step = steps.next();
    if (step.done === true) return step.value;
    report(done);
    await pause();
  }
}

/** Takes a step for each item, reports their number, and lets events in between them. @returns the results in order. */
export async function mapWithBreaks<T, R>(
  items: Iterable<T>,
  stage: Pick<Progress, 'update'>,
  work: (item: T, index: number) => R | Promise<R>,
): Promise<R[]> {
  const pause = createEventBreaks();
  const results: R[] = [];
  for (const item of items) {
    results.push(await work(item, results.length));
    stage.update(results.length);
    await pause();
  }
  return results;
}

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

/** The longest silence where no bar is drawn. */
const LINE_MILLISECONDS = 30_000;

/** The bars and lines of open stages. A bar's timer keeps the process alive, and hides the cursor. */
const shown = new Set<{ close(): void }>();

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

/** A time left: `about 40 s left`, `about 4 min left`. */
function formatTimeLeft(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  const [count, unit] = seconds < 120 ? [seconds, 's'] : seconds < 5400 ? [seconds / 60, 'min'] : [seconds / 3600, 'h'];
  return `about ${count.toFixed(unit === 'h' ? 1 : 0)} ${unit} left`;
}

/** A stage that is reported in lines. */
class LineStage {
  readonly #stage: string;
  readonly #total: number;
  readonly #started = performance.now();
  done = 0;

  constructor(stage: string, total: number) {
    this.#stage = stage;
    this.#total = total;
  }

  /** The count, and the time left if the rest takes as long a step as what is done. */
  describeRest(): string {
    const count = `${this.#stage}: ${Math.floor(this.done).toLocaleString('en')} of ${this.#total.toLocaleString('en')}`;
    if (this.done <= 0 || this.done >= this.#total) return count;
    const left = ((performance.now() - this.#started) * (this.#total - this.done)) / this.done;
    return `${count}, ${formatTimeLeft(left)}`;
  }

  describeEnd(remark = 'done'): string {
    return `${this.#stage}: ${remark} (${((performance.now() - this.#started) / 1000).toFixed(1)} s)`;
  }
}

/**
 * A line when a stage ends, and every 30 seconds a line of all stages that run within each other. A timer writes it of
 * work that waits, an update of work that leaves no time for a timer.
 */
class Lines {
  readonly #stream: ProgressStream;
  readonly #open = new Set<LineStage>();
  #timer: NodeJS.Timeout | null = null;
  #written = 0;

  constructor(stream: ProgressStream) {
    this.#stream = stream;
  }

  start(stage: string, total: number): Progress {
    if (this.#open.size === 0) {
      shown.add(this);
      this.#written = performance.now();
      this.#timer = setInterval(() => this.#writeRest(), 1000).unref();
    }
    const line = new LineStage(stage, total);
    this.#open.add(line);
    return {
      update: (done) => {
        line.done = done;
        this.#writeRest();
      },
      finish: (remark) => {
        this.#write(line.describeEnd(remark));
        if (this.#open.delete(line) && this.#open.size === 0) this.close();
      },
    };
  }

  #writeRest(): void {
    if (this.#open.size === 0 || performance.now() - this.#written < LINE_MILLISECONDS) return;
    this.#write(Array.from(this.#open, (line) => line.describeRest()).join('; '));
  }

  #write(line: string): void {
    this.#written = performance.now();
    this.#stream.write(escapeControls(`${line}\n`));
  }

  close(): void {
    shown.delete(this);
    this.#open.clear();
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** Ends the bars of all unfinished stages and shows the cursor again. Otherwise a stage that threw would keep its bar open. */
export function closeProgress(): void {
  for (const output of shown) output.close();
}

/** On a terminal one bar per stage, on stderr; elsewhere plain lines, every 30 seconds and at the end of a stage. */
export function createTerminalProgress(stream: ProgressStream = process.stderr): StartProgress {
  if (!stream.isTTY) {
    const lines = new Lines(stream);
    return (stage, total) => lines.start(stage, total);
  }
  const bars = new Bars(stream);
  return (stage, total) => {
    const started = performance.now();
    const bar = bars.start(stage, total);
    return {
      update(done) {
        bar.update(done);
        bars.draw();
      },
      finish: (remark) => bars.finish(bar, `${remark ?? ''} (${((performance.now() - started) / 1000).toFixed(1)} s)`),
    };
  };
}
