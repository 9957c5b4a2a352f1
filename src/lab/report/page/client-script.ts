import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { findOwnModule, IS_SOURCE } from '../../../core/code/package-root.ts';
import { UnavailableError } from '../../../core/errors/errors.ts';
import { readText } from '../../../core/files/files.ts';
import { freezeDeeply } from '../../../core/values/once.ts';

/** The kinds of pages, each with the name of the file where its script starts. */
export const CLIENT_PAGES = freezeDeeply(['run', 'comparison'] as const);

export type ClientPage = (typeof CLIENT_PAGES)[number];

const scripts = new Map<ClientPage, string>();

/**
 * The script of a kind of page: its entry in `client` and all that the entry imports, as one text. From source, esbuild
 * bundles it on first use. The built package has a file for each kind of page.
 *
 * @throws UnavailableError if the built package lacks the file.
 */
export function bundleClientScript(page: ClientPage): string {
  const script = scripts.get(page) ?? (IS_SOURCE ? bundleScript(page) : readScript(page));
  scripts.set(page, script);
  return script;
}

/** Loads esbuild here because the built package does not install it. */
function bundleScript(page: ClientPage): string {
  const { buildSync } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');
  const entry = findOwnModule(`lab/report/client/${page}`);
  const { outputFiles } = buildSync({
    entryPoints: [entry],
    absWorkingDir: dirname(entry), // the comments of the bundle name files relative to it
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent', // an error of the build is thrown
  });
  return (outputFiles[0] as { readonly text: string }).text;
}

function readScript(page: ClientPage): string {
  const file = findOwnModule(`lab/report/client/${page}`);
  if (!existsSync(file))
    throw new UnavailableError(`script of the page of a ${page}`, `no file ${file}; run npm run build`);
  return readText(file);
}
