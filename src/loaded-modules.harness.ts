import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript-6';
import { SOURCE } from './entry-points.harness.ts';

/** Modules that an import of a file loads before it runs: neither types nor what is imported on first use. */
export interface Loaded {
  /** Files of src, with the file itself. */
  readonly modules: readonly string[];
  /** In the order of their names, without parts of Node. */
  readonly packages: readonly string[];
}

/** Imports of a file when it is loaded, a package by its whole specifier. */
function listImports(file: string): string[] {
  const { statements } = ts.createSourceFile(file, readFileSync(join(SOURCE, file), 'utf8'), ts.ScriptTarget.ES2023);
  return statements.flatMap((statement) => {
    const isImport = ts.isImportDeclaration(statement) && statement.importClause?.isTypeOnly !== true;
    const isExport = ts.isExportDeclaration(statement) && !statement.isTypeOnly && statement.moduleSpecifier;
    return isImport || isExport ? [(statement.moduleSpecifier as ts.StringLiteral).text] : [];
  });
}

/** @param entry a file of src. */
export function listLoaded(entry: string): Loaded {
  const modules = new Set([entry]);
  const packages = new Set<string>();
  for (const file of modules)
    for (const found of listImports(file)) {
      if (found.startsWith('.')) modules.add(normalize(join(dirname(file), found)));
      else if (!found.startsWith('node:')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(found)?.[0] as string);
    }
  return { modules: [...modules], packages: [...packages].sort() };
}
