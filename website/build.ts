import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { ValidationError } from '../src/core/errors/errors.ts';
import { escapeHtml } from '../src/core/text/format.ts';
import type { ApiModule } from './api/declarations.ts';
import { writeApiPages } from './api/pages.ts';
import { CONTENTS, readContents } from './contents.ts';
import { type RenderedPage, renderMarkdownPage } from './markdown.ts';
import { writeReference } from './reference.ts';
import { type Menu, relateAddress, renderPage, STYLE } from './template.ts';

const isMarkdown = (file: string) => file.endsWith('.md');
const isPicture = (file: string) => /\.(png|svg)$/.test(file);

/** Where a file of the project is on the site. Files that are no pages are shown as text. */
function toAddress(file: string): string {
  if (file === 'README.md') return 'index.html';
  if (isMarkdown(file)) return file.replace(/\.md$/, '.html').replace(/README\.html$/, 'index.html');
  return isPicture(file) ? file : `files/${file}.html`;
}

/** The target of a link as a file of the project with its anchor; null for other places. */
function resolveTarget(file: string, target: string): { path: string; anchor: string } | null {
  if (/^[a-z]+:/.test(target)) return null;
  const [path = '', anchor] = target.split('#');
  const found = path === '' ? file : posix.normalize(posix.join(posix.dirname(file), path)).replace(/\/$/, '');
  return { path: found, anchor: anchor === undefined ? '' : `#${anchor}` };
}

/** A file of the project, or the names in a folder, as a page. */
function renderFile(root: string, file: string): RenderedPage {
  const path = join(root, file);
  const text = statSync(path).isDirectory() ? readdirSync(path).join('\n') : readFileSync(path, 'utf8');
  const body = `<h1>${escapeHtml(file)}</h1>\n<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>`;
  return { title: file, body, headings: [] };
}

/**
 * Builds the site: the pages of the contents, the pages and files that they link to, and the reference.
 *
 * @param root the folder of the project. @param target the folder of the site; what it holds is deleted. @param api the public interface, for its reference.
 * @returns the number of pages.
 * @throws ValidationError for a link to a file that does not exist.
 */
export function buildSite(root: string, target: string, api: readonly ApiModule[] = []): number {
  const sections = readContents(root);
  const reference = writeReference(root);
  const apiPages = writeApiPages(api);
  const generated = new Map([...reference, ...apiPages].map(({ file, markdown }) => [file, markdown]));
  const menus: Menu[] = [
    ...sections.map(({ title, pages }) => ({
      title,
      entries: pages.map((page) => ({ title: page.title, address: toAddress(page.file) })),
    })),
    {
      title: 'Reference',
      entries: [...reference, ...apiPages.slice(0, 1).map(({ file }) => ({ title: 'Code', file }))].map(
        ({ title, file }) => ({ title, address: toAddress(file) }),
      ),
    },
  ];
  const waiting = [CONTENTS, ...sections.flatMap(({ pages }) => pages.map(({ file }) => file)), ...generated.keys()];
  const done = new Set<string>();
  const write = (address: string, text: string) => {
    mkdirSync(dirname(join(target, address)), { recursive: true });
    writeFileSync(join(target, address), text);
  };

  /** The address of a link; its file becomes part of the site. */
  function follow(file: string, link: string): string {
    const found = resolveTarget(file, link);
    if (found === null) return link;
    if (!generated.has(found.path) && !existsSync(join(root, found.path)))
      throw new ValidationError(`${file}: broken link: ${link}; correct the link or add the file`, { file, link });
    waiting.push(found.path);
    return relateAddress(toAddress(file), toAddress(found.path) + found.anchor);
  }

  function writeFile(file: string): void {
    const address = toAddress(file);
    if (isPicture(file)) {
      mkdirSync(dirname(join(target, address)), { recursive: true });
      copyFileSync(join(root, file), join(target, address));
      return;
    }
    const page = isMarkdown(file)
      ? renderMarkdownPage(generated.get(file) ?? readFileSync(join(root, file), 'utf8'), (link) => follow(file, link))
      : renderFile(root, file);
    write(address, renderPage(page, address, menus));
  }

  rmSync(target, { recursive: true, force: true });
  write('style.css', STYLE);
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    if (done.has(file)) continue;
    done.add(file);
    writeFile(file);
  }
  return done.size;
}
