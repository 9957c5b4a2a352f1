import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
// The interface of TypeScript 7 may change in every version, so package.json names one.
import { isVariableDeclaration, type JSDoc, type Node } from 'typescript/unstable/ast';
import { API, type Emitter, type Symbol as Name, type Project, SymbolFlags } from 'typescript/unstable/sync';

/** A name that a module of the package exports. */
export interface ApiExport {
  readonly name: string;
  readonly kind: 'function' | 'class' | 'interface' | 'type' | 'constant' | 'namespace';
  /** The declaration without comments, bodies and private members. */
  readonly declaration: string;
  /** Its docstring without tags; empty if it has none. */
  readonly summary: string;
  /** Its tags, in their order: `param` with its name, `returns`, `throws`. */
  readonly tags: readonly { readonly tag: string; readonly text: string }[];
  /** The file of `src` that declares it; null for a name of another package. */
  readonly file: string | null;
}

/** A module that users import. */
export interface ApiModule {
  /** `rag-plusplus`, `rag-plusplus/core`, ... */
  readonly specifier: string;
  /** Its file of `src`. */
  readonly file: string;
  readonly summary: string;
  /** In the order of their names. */
  readonly exports: readonly ApiExport[];
}

interface Manifest {
  readonly name: string;
  readonly exports: Record<string, string | { readonly types: string }>;
}

function listEntries(root: string): { specifier: string; file: string }[] {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string' ? [] : [{ specifier: name + path.slice(1), file: target.types.replace('./dist/', '') }],
  );
}

/**
 * What the modules of the package export, from the declarations that the build writes.
 *
 * @param root the folder of the project. @throws Error if the project does not compile.
 */
export function readApi(root: string): ApiModule[] {
  const parent = join(root, 'node_modules/.cache'); // declarations find the packages that they name
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'api-'));
  try {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    // One thread: the order of the members of a union is that in which checkers meet them.
    const settings = ['-p', join(root, 'tsconfig.build.json'), '--singleThreaded', '--outDir', folder];
    execFileSync(process.execPath, [compiler, ...settings], { stdio: 'pipe' });
    return readModules(folder, listEntries(root));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves the modules and packages that declarations import. */
const compilerOptions = {
  ...{ target: 'es2023', module: 'nodenext', moduleResolution: 'nodenext' },
  ...{ strict: true, skipLibCheck: true, types: ['node'] },
};

function readModules(folder: string, entries: readonly { specifier: string; file: string }[]): ApiModule[] {
  const config = join(folder, 'tsconfig.json');
  writeFileSync(config, JSON.stringify({ compilerOptions, files: entries.map(({ file }) => file) }));
  const api = new API({ cwd: folder });
  try {
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error(`the compiler opens no project: ${config}; correct its compilerOptions`);
    return entries.map((entry) => readModule(project, folder, entry));
  } finally {
    api.close();
  }
}

function readModule(
  project: Project,
  folder: string,
  { specifier, file }: { specifier: string; file: string },
): ApiModule {
  const source = project.program.getSourceFile(join(folder, file));
  const symbol = source && project.checker.getSymbolAtLocation(source);
  if (!symbol) throw new Error(`${specifier} exports nothing: ${file}; correct "exports" in package.json`);
  const exports = project.checker.getExportsOfModule(symbol).map((exported) => describe(project, exported, folder));
  const summary = cleanComment(/^\/\*[\s\S]*?\*\//.exec(source.text)?.[0] ?? '');
  const own = `src/${file.replace(/\.d\.ts$/, '.ts')}`;
  return { specifier, file: own, summary, exports: exports.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

const cleanComment = (text: string) =>
  text
    .replace(/^\s*\/\*\*?|\*\/$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .trim();

function describe({ checker, emitter }: Project, exported: Name, folder: string): ApiExport {
  const symbol = exported.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const file = symbol.declarations[0]?.path ?? '';
  const own = file.startsWith(folder);
  const statements = own ? findStatements(symbol) : [];
  return {
    name: exported.name,
    kind: findKind(symbol),
    declaration: own
      ? printDeclarations(emitter, statements)
      : `export * as ${exported.name} from '${findPackage(file)}';`,
    summary: [...new Set(statements.map(readSummary))].join('\n'),
    tags: symbol.getJsDocTags(checker).map(({ name, text = '' }) => ({ tag: name, text: joinLinks(text) })),
    file: own ? `src${file.slice(folder.length).replace(/\.d\.ts$/, '.ts')}` : null,
  };
}

function findStatements({ declarations }: Name): Node[] {
  const nodes = declarations.map((handle) => {
    const node = handle.resolve() as Node;
    return isVariableDeclaration(node) ? node.parent.parent : node;
  });
  return [...new Set(nodes)];
}

/** The text of a docstring before its tags, with the names that it links. */
function readSummary(statement: Node): string {
  const comment = statement.jsDoc?.at(-1) as JSDoc | undefined;
  if (comment === undefined) return '';
  const { text } = statement.getSourceFile();
  return cleanComment(text.slice(comment.pos, comment.tags?.[0]?.pos ?? comment.end));
}

/** The compiler keeps the start of a line inside a link. */
const joinLinks = (text: string) => text.replace(/\{@link\s+\* /g, '{@link ');

function findKind({ flags }: Name): ApiExport['kind'] {
  if (flags & SymbolFlags.Function) return 'function';
  if (flags & SymbolFlags.Class) return 'class';
  if (flags & SymbolFlags.Interface) return 'interface';
  if (flags & SymbolFlags.TypeAlias) return 'type';
  return flags & SymbolFlags.Variable ? 'constant' : 'namespace';
}

const findPackage = (file: string) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(file)?.[1] ?? file;

function printDeclarations(emitter: Emitter, statements: readonly Node[]): string {
  return statements
    .map((statement) => emitter.printNode(statement))
    .join('\n')
    .replace(/^(?:export )?(?:declare )?/gm, (words) => words.replace('declare ', ''))
    .replace(/^ +(?:private |#).*\n/gm, '');
}
