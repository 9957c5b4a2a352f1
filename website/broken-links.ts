import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const readAttributes = (html: string, names: string) =>
  [...html.matchAll(new RegExp(` (?:${names})="([^"]*)"`, 'g'))].map(([, value]) => value as string);

/** Links and pictures of a built site that lead to no file, or to no element of one: `page: link`. */
export function listBrokenLinks(site: string): string[] {
  const pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'));
  const texts = new Map(pages.map((page) => [page, readFileSync(join(site, page), 'utf8')]));
  const ids = new Map([...texts].map(([page, html]) => [page, new Set(readAttributes(html, 'id'))]));
  return [...texts].flatMap(([page, html]) =>
    readAttributes(html, 'href|src')
      .filter((link) => {
        if (/^[a-z]+:/.test(link)) return false;
        const [path = '', anchor] = link.split('#');
        const file = path === '' ? page : relative(site, join(site, dirname(page), path));
        if (!existsSync(join(site, file))) return true;
        return anchor !== undefined && !ids.get(file)?.has(decodeURIComponent(anchor));
      })
      .map((link) => `${page}: ${link}`),
  );
}
