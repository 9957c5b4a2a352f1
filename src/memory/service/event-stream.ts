import type { ServerResponse } from 'node:http';
import type { Memory } from '../engine/memory.ts';

/** Bytes that may wait for a client before it is given up. */
const MOST_WAITING = 2 ** 20;
/** The most ids of one event. */
const MOST_IDS = 1000;
/** Between two lines that keep a connection open. */
const PULSE_MILLISECONDS = 15_000;

/** Clients that read the changes of a memory as server-sent events. */
export class EventStreams {
  readonly #memory: Memory;
  readonly #open = new Map<ServerResponse, () => void>();

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** The number of clients. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Sends a client each change from now on: `change` with its number and ids, `conservation` with a broken law. A
   * client that reads too slowly gets `end` with the reason, and is closed.
   */
  add(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const send = (event: string, data: object) => {
      if (response.writableLength > MOST_WAITING) this.#end(response, `more than ${MOST_WAITING} bytes were not read`);
      else response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    };
    const stops = [
      this.#memory.watch((ids) =>
        send('change', { sequence: this.#memory.sequence, count: ids.length, ids: ids.slice(0, MOST_IDS) }),
      ),
      this.#memory.conservation.watch((violation) => send('conservation', violation)),
    ];
    const pulse = setInterval(() => response.write(':\n\n'), PULSE_MILLISECONDS);
    const stop = () => {
      clearInterval(pulse);
      for (const end of stops) end();
      this.#open.delete(response);
    };
    this.#open.set(response, stop);
    response.once('close', stop);
    response.write(`event: open\ndata: ${JSON.stringify(this.#memory.position)}\n\n`);
  }

  #end(response: ServerResponse, reason: string): void {
    this.#open.get(response)?.();
    response.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
  }

  /** Ends every stream. */
  close(): void {
    for (const response of [...this.#open.keys()]) this.#end(response, 'the memory is closing');
  }
}
