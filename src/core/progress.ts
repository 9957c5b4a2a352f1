import { SingleBar } from 'cli-progress';

/** Shows how far one stage of the work is. */
export interface Progress {
  update(done: number): void;
  /** Ends the stage with an optional remark, such as a count. */
  finish(remark?: string): void;
}

export type StartProgress = (stage: string, total: number) => Progress;

/** Shows nothing: the default of every library function. */
export const silent: StartProgress = () => ({ update() {}, finish() {} });

/** On a terminal a bar a stage, on stderr; elsewhere one plain line when the stage ends. */
export function terminalProgress(stream: NodeJS.WriteStream = process.stderr): StartProgress {
  return (stage, total) => {
    const started = performance.now();
    const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
    if (!stream.isTTY)
      return { update() {}, finish: (remark) => void stream.write(`${stage}: ${remark ?? 'done'} (${seconds()})\n`) };
    const bar = new SingleBar({
      stream,
      format: `${stage.padEnd(24)} {bar} {percentage}% {eta_formatted} {remark}`,
      hideCursor: true,
      barCompleteChar: '█',
      barIncompleteChar: '░',
      barsize: 24,
      etaBuffer: 50,
    });
    bar.start(Math.max(total, 1), 0, { remark: '' });
    return {
      update: (done) => bar.update(done),
      finish(remark) {
        bar.update(Math.max(total, 1), { remark: `${remark ?? ''} (${seconds()})` });
        bar.stop();
      },
    };
  };
}
