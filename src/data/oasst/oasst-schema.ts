import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { check } from '../../core/validation/validation.ts';
import { describeDepthFault, id } from '../jsonl/jsonl-rows.ts';

/** A message of a tree, as the file has it. What is not named here is not read. */
export interface OasstMessage {
  readonly message_id: string;
  readonly text: string;
  readonly role: 'prompter' | 'assistant';
  readonly deleted?: boolean | null | undefined;
  /** True if a model wrote it. */
  readonly synthetic?: boolean | null | undefined;
  readonly replies?: readonly OasstMessage[] | null | undefined;
}

const message: z.ZodType<OasstMessage> = z.lazy(() =>
  z.object({
    message_id: id,
    text: z.string(),
    role: z.enum(['prompter', 'assistant']),
    deleted: z.boolean().nullish(),
    synthetic: z.boolean().nullish(),
    replies: z.array(message).nullish(),
  }),
);

const tree = z.object({ message_tree_id: id, prompt: message });

/** A conversation of OpenAssistant: a prompt with its answers, their answers, and so on. */
export interface OasstTree {
  readonly message_tree_id: string;
  readonly prompt: OasstMessage;
}

/**
 * The tree of a line.
 *
 * @param where the line, for errors.
 * @throws ValidationError for a line that holds no tree, with its faults.
 */
export function parseOasst(line: string, where: string): OasstTree {
  const tooDeep = describeDepthFault(line);
  if (tooDeep !== null)
    throw new ValidationError(`${where}: ${tooDeep}: ${line.slice(0, 80)}; remove the tree or shorten it`, { where });
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch (error) {
    throw new ValidationError(
      `${where}: not JSON: ${line.slice(0, 80)}; name a file of message trees`,
      { where },
      { cause: error },
    );
  }
  const result = check(tree, row);
  if ('value' in result) return result.value;
  const [first] = result.faults;
  const more = result.faults.length > 1 ? ` (and ${result.faults.length - 1} more)` : '';
  throw new ValidationError(
    `${where}: ${first?.path}: expected ${first?.expected}${more}, got ${first?.got}; correct the tree`,
    {
      where,
      faults: result.faults,
    },
  );
}
