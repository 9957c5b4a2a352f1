import type { SampleChat } from './export-queries.harness.ts';

/** A node of the tree of a chat. */
export interface SampleNode {
  readonly id: string;
  readonly parent: string | null;
  readonly message: unknown;
}

/** A message as an export has it. */
export function writeChatGptMessage(role: string, text: string, seconds: number | null, more: object = {}): object {
  return {
    author: { role, name: null, metadata: {} },
    create_time: seconds,
    update_time: null,
    content: { content_type: 'text', parts: [text] },
    status: 'finished_successfully',
    end_turn: role === 'assistant' ? true : null,
    weight: 1,
    metadata: {},
    recipient: 'all',
    channel: null,
    ...more,
  };
}

/** A chat as an export has it. */
export function writeChatGptChat(
  id: string,
  start: number | null,
  nodes: readonly SampleNode[],
  more: object = {},
): object {
  const mapping = Object.fromEntries(
    nodes.map(({ id: nodeId, parent, message }) => [
      nodeId,
      {
        id: nodeId,
        message: message === null ? null : { id: nodeId, ...(message as object) },
        parent,
        children: nodes.filter((node) => node.parent === nodeId).map((node) => node.id),
      },
    ]),
  );
  return {
    title: 'A chat',
    create_time: start,
    update_time: start,
    mapping,
    moderation_results: [],
    current_node: nodes.at(-1)?.id ?? null,
    conversation_id: id,
    is_archived: false,
    default_model_slug: 'gpt-4o',
    id,
    ...more,
  };
}

/** Chats as a conversations.json: each below a node without a message and a hidden message of the system, as in every export. */
export function encodeChatGptExport(chats: readonly SampleChat[]): string {
  return JSON.stringify(
    chats.map(({ id, messages }) => {
      const hidden = writeChatGptMessage('system', '', null, {
        metadata: { is_visually_hidden_from_conversation: true },
      });
      const nodes = messages.map((one) => ({
        id: one.id,
        parent: one.parentId ?? 'system',
        message: writeChatGptMessage(one.role === 'person' ? 'user' : 'assistant', one.text, one.time / 1000),
      }));
      const top = [
        { id: 'client-created-root', parent: null, message: null },
        { id: 'system', parent: 'client-created-root', message: hidden },
      ];
      return writeChatGptChat(id, (messages[0]?.time ?? 0) / 1000, [...top, ...nodes]);
    }),
  );
}
