import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-6';

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

/** TypeScript 7 has no interface for programs, so the declarations that it writes are read by TypeScript 6. */
const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  skipLibCheck: true,
  types: ['node'],
};

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

function readModules(folder: string, entries: readonly { specifier: string; file: string }[]): ApiModule[] {
  const program = ts.createProgram(
    entries.map(({ file }) => join(folder, file)),
    compilerOptions,
  );
  const checker = program.getTypeChecker();
  return entries.map(({ specifier, file }) => {
    const source = program.getSourceFile(join(folder, file));
    const symbol = source && checker.getSymbolAtLocation(source);
    if (!symbol) throw new Error(`${specifier} exports nothing: ${file}; correct "exports" in package.json`);
    const exports = checker.getExportsOfModule(symbol).map((exported) => describe(checker, exported, folder));
    const comment = ts.getLeadingCommentRanges(source.text, 0)?.[0];
    const summary = comment ? cleanComment(source.text.slice(comment.pos, comment.end)) : '';
    const own = `src/${file.replace(/\.d\.ts$/, '.ts')}`;
    return { specifier, file: own, summary, exports: exports.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  });
}

const cleanComment = (text: string) =>
  text
    .replace(/^\/\*\*?|\*\/$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .trim();

function describe(checker: ts.TypeChecker, exported: ts.Symbol, folder: string): ApiExport {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const declarations = (symbol.declarations ?? []).map((one) =>
    ts.isVariableDeclaration(one) ? (one.parent.parent as ts.VariableStatement) : one,
  );
  const file = declarations[0]?.getSourceFile().fileName ?? '';
  const own = file.startsWith(folder);
  return {
    name: exported.name,
    kind: findKind(symbol),
    declaration: own ? printDeclarations(declarations) : `export * as ${exported.name} from '${findPackage(file)}';`,
    summary: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
    tags: symbol.getJsDocTags(checker).map(({ name, text }) => ({ tag: name, text: ts.displayPartsToString(text) })),
    file: own ? `src${file.slice(folder.length).replace(/\.d\.ts$/, '.ts')}` : null,
  };
}

function findKind({ flags }: ts.Symbol): ApiExport['kind'] {
  if (flags & ts.SymbolFlags.Function) return 'function';
  if (flags & ts.SymbolFlags.Class) return 'class';
  if (flags & ts.SymbolFlags.Interface) return 'interface';
  if (flags & ts.SymbolFlags.TypeAlias) return 'type';
  return flags & ts.SymbolFlags.Variable ? 'constant' : 'namespace';
}

const findPackage = (file: string) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(file)?.[1] ?? file;

const printer = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed });

function printDeclarations(declarations: readonly ts.Node[]): string {
  return [...new Set(declarations)]
    .map((one) => printer.printNode(ts.EmitHint.Unspecified, one, one.getSourceFile()))
    .join('\n')
    .replace(/^(?:export )?(?:declare )?/gm, (words) => words.replace('declare ', ''))
    .replace(/^ +(?:private |#).*\n/gm, '');
}
