import { attachDisplay, type Displayable, formatCell, stateShown } from '../../core/display/display.ts';
import { buildThreadBundle, type Conversation } from './conversation.ts';

/**
 * A conversation as a tree of replies with a note before some turns, for a notebook: the last value of a cell.
 *
 * @param marks by turn id, such as a score or a rank.
 */
export function showThread(
  conversation: Conversation,
  marks: ReadonlyMap<string, number | string> = new Map(),
): Displayable {
  const texts = new Map([...marks].map(([id, mark]) => [id, stateShown(formatCell(mark))]));
  return attachDisplay({}, () => buildThreadBundle(conversation, texts)) as Displayable;
}
