import { main } from './program.ts';

/** What a command has left. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the tests read of a folder's metrics.json. */
export interface StoredMetrics {
  readonly hash: string;
  readonly queries: number;
  readonly arms: readonly {
    readonly name: string;
    readonly metrics: Readonly<Record<string, { readonly mean: number }>>;
    readonly comparisons: Readonly<Record<string, { readonly difference: { readonly mean: number } }>> | null;
  }[];
}

/** Collects what is written to a stream until the returned function is called, which gives it back. */
function captured(stream: NodeJS.WriteStream): () => string {
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
export async function ragpp(...argv: readonly string[]): Promise<Outcome> {
  const [stdout, stderr] = [captured(process.stdout), captured(process.stderr)];
  let code = Number.NaN;
  try {
    code = await main(argv);
  } finally {
    stdout();
    stderr();
  }
  return { code, stdout: stdout(), stderr: stderr() };
}
