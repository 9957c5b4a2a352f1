/** A tool as a client sees it. */
export interface ClientTool {
  readonly name: string;
  readonly inputSchema: { readonly properties: object; readonly required?: readonly string[] };
  readonly annotations: object;
}

/** The part of the official client that is used. */
export interface McpClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ readonly tools: readonly ClientTool[] }>;
  callTool(call: { readonly name: string; readonly arguments: object }): Promise<{
    readonly content: readonly [{ readonly text: string }];
    readonly structuredContent?: Readonly<Record<string, unknown>>;
    readonly isError?: boolean;
  }>;
  close(): Promise<void>;
}
