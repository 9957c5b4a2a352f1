import { DISPLAY, type Displayable, type MimeBundle } from './display.ts';

/** What a notebook shows of a value; the call of Deno's kernel. */
export async function readDisplay(value: unknown): Promise<MimeBundle> {
  return (value as Displayable)[DISPLAY]();
}
