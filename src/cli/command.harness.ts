import { main } from './program.ts';

/** The outcome of a command. */
interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The part of a folder's metrics.json that tests read. */
export interface StoredMetrics {
  readonly hash: string;
  readonly queries: number;
  readonly arms: readonly {
    readonly name: string;
    readonly metrics: Readonly<Record<string, { readonly mean: number }>>;
    readonly comparisons: Readonly<Record<string, { readonly difference: { readonly mean: number } }>> | null;
  }[];
}

/** Collects the output of a stream until the returned function is called, which returns it. */
function captureStream(stream: NodeJS.WriteStream): () => string {
  const { write } = stream;
  const chunks: string[] = [];
  stream.write = ((chunk: string | Uint8Array) => {
    chunks.push(String(chunk));
    return true;
  }) as typeof write;
  return () => {
    stream.write = write;
    return chunks.join('');
  };
}

/** Runs a command line in this process. */
export async function runRagpp(...argv: readonly string[]): Promise<Outcome> {
  const [stdout, stderr] = [captureStream(process.stdout), captureStream(process.stderr)];
  let code = Number.NaN;
  try {
    code = await main(argv);
  } finally {
    stdout();
    stderr();
  }
  return { code, stdout: stdout(), stderr: stderr() };
}
