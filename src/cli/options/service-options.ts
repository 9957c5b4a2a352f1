import { type Command, InvalidArgumentError } from 'commander';
import { collect } from './options.ts';

/** Reads whole numbers in a range. */
export const parseWhole = (least: number, most: number) => (text: string) => {
  const number = Number(text);
  if (text.trim() === '' || !Number.isInteger(number) || number < least || number > most)
    throw new InvalidArgumentError(`not a whole number from ${least} to ${most}; give one such as ${least}.`);
  return number;
};

/** Timers of Node end at once beyond this. */
const LONGEST_SECONDS = 2_000_000;
export const parseSeconds = parseWhole(1, LONGEST_SECONDS);

/** The options of every service: where it listens, under which names, and what bounds a request. */
export function addServiceOptions(command: Command, name: string, maxBody: number): Command {
  return command
    .option('--host <host>', 'where to listen; another one than this machine needs a proxy with TLS', '127.0.0.1')
    .option('--allow-host <name>', `a name of this ${name} in requests, such as of its proxy (repeatable)`, collect, [])
    .option('--port <port>', '0 takes a free one', parseWhole(0, 65_535), 0)
    .option('--max-body <bytes>', 'the largest request', parseWhole(1, 2 ** 30), maxBody)
    .option('--request-seconds <seconds>', 'the longest time in which a request arrives', parseSeconds, 10)
    .option('--ready-file <file>', `written with the address once the ${name} listens`);
}
