import { importOptional } from '../../core/code/optional-packages.ts';
import { projectVersion } from '../../core/code/package-root.ts';
import { RagPlusPlusError } from '../../core/errors/errors.ts';
import { parse } from '../../core/validation/validation.ts';
import { MEMORY_TOOLS, type MemoryTool, type ToolSetting } from './tools.ts';

/** The answer of a tool to a model. */
interface ToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent?: object;
  readonly isError?: true;
}

/** The part of the official package that is used. */
interface McpPackage {
  readonly McpServer: new (
    facts: { readonly name: string; readonly version: string },
    options: { readonly instructions: string },
  ) => {
    registerTool(
      name: string,
      description: { description: string; inputSchema: unknown; annotations: object },
      run: (input: unknown) => Promise<ToolResult>,
    ): unknown;
  };
  createMcpHandler(create: () => unknown, options: McpOptions): McpEndpoint;
}

interface StdioPackage {
  serveStdio(create: () => unknown, options: McpOptions): { close(): Promise<void> };
}

interface McpOptions {
  readonly onerror: (error: Error) => void;
}

/** The tools of a memory over HTTP. */
export interface McpEndpoint {
  fetch(request: Request, options?: { readonly parsedBody?: unknown }): Promise<Response>;
  close(): Promise<void>;
}

const PACKAGES = ['@modelcontextprotocol/server'] as const;
const WHAT = 'MCP';

const INSTRUCTIONS =
  'A memory of conversations. Assemble before you answer, remember what was decided, and record the outcome of records that you used.';

const ANNOTATIONS = {
  reads: { readOnlyHint: true, openWorldHint: false },
  adds: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  removes: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
} as const;

const say = (text: string) => [{ type: 'text' as const, text }];

/** An error of ours is for the model, which can act on it; any other is a bug, whose text may hold anything. */
async function runTool(
  tool: MemoryTool,
  input: unknown,
  setting: ToolSetting,
  options: McpOptions,
): Promise<ToolResult> {
  try {
    const answer = await tool.run(parse(tool.input, input, tool.name), setting);
    return { content: say(JSON.stringify(answer)), structuredContent: answer };
  } catch (error) {
    if (error instanceof RagPlusPlusError) return { content: say(`[${error.code}] ${error.message}`), isError: true };
    options.onerror(error as Error);
    return { content: say('unexpected error; the log of the service has it'), isError: true };
  }
}

/** Makes a server for each connection or request; all work with one memory. */
function createFactory({ McpServer }: McpPackage, setting: ToolSetting, options: McpOptions) {
  return () => {
    const server = new McpServer({ name: 'rag-plusplus', version: projectVersion() }, { instructions: INSTRUCTIONS });
    for (const tool of MEMORY_TOOLS)
      server.registerTool(
        tool.name,
        { description: tool.description, inputSchema: tool.input, annotations: ANNOTATIONS[tool.effect] },
        (input) => runTool(tool, input, setting, options),
      );
    return server;
  };
}

const loadMcp = () =>
  importOptional(() => import('@modelcontextprotocol/server' as string) as Promise<McpPackage>, WHAT, PACKAGES);

/**
 * The tools of a memory for the Model Context Protocol over HTTP.
 *
 * @param onError gets faults of the protocol and bugs.
 * @throws UnavailableError if the package is missing.
 */
export async function createMcpEndpoint(setting: ToolSetting, onError: (error: Error) => void): Promise<McpEndpoint> {
  const mcp = await loadMcp();
  const options = { onerror: onError };
  return mcp.createMcpHandler(createFactory(mcp, setting, options), options);
}

/**
 * The same over standard input and output, to which nothing else may be written.
 *
 * @returns what ends it.
 * @throws UnavailableError if the package is missing.
 */
export async function serveMcpOverStdio(
  setting: ToolSetting,
  onError: (error: Error) => void,
): Promise<() => Promise<void>> {
  const mcp = await loadMcp();
  const { serveStdio } = (await import('@modelcontextprotocol/server/stdio' as string)) as StdioPackage;
  const options = { onerror: onError };
  const handle = serveStdio(createFactory(mcp, setting, options), options);
  return () => handle.close();
}
