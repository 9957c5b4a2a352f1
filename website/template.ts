import { dirname, relative } from 'node:path/posix';
import { escapeHtml } from '../src/core/text/format.ts';
import type { RenderedPage } from './markdown.ts';

/** A part of the navigation of the site, with addresses from its root. */
export interface Menu {
  readonly title: string;
  readonly entries: readonly { readonly title: string; readonly address: string }[];
}

/** A link from one address of the site to another. */
export function relateAddress(from: string, to: string): string {
  const [path = '', anchor] = to.split('#');
  const link = relative(dirname(from), path);
  return anchor === undefined ? link : `${link}#${anchor}`;
}

export const STYLE = `
:root { color-scheme: light dark; --paper: #fdfcfa; --raised: #f3f0ea; --ink: #1c1b19; --quiet: #5f5b53; --rule: #dedad2; --link: #12608f; }
@media (prefers-color-scheme: dark) { :root { --paper: #161614; --raised: #22221f; --ink: #e9e6df; --quiet: #a8a398; --rule: #393732; --link: #7dbbe8; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 ui-sans-serif, system-ui, "Segoe UI", Arial, "Liberation Sans", sans-serif; overflow-wrap: anywhere; }
.page { display: grid; grid-template: "pages main" auto / 16rem minmax(0, 1fr); gap: 3rem; max-width: 1280px; margin: 0 auto; padding: 1.5rem 2rem 5rem; }
nav { font-size: .88rem; }
main { grid-area: main; }
nav.site { grid-area: pages; position: sticky; top: 1.5rem; align-self: start; max-height: calc(100vh - 3rem); overflow-y: auto; }
nav h2 { font-size: .8rem; margin: 1.1rem 0 .2rem; color: var(--quiet); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { padding: .1rem 0; }
nav a { text-decoration: none; }
nav a[aria-current] { color: var(--ink); font-weight: 600; }
summary { cursor: pointer; }
summary, .name { font-weight: 600; margin: 0; }
main { max-width: 78ch; min-width: 0; }
h1, h2, h3, h4 { font-family: Charter, Cambria, Georgia, "Liberation Serif", serif; line-height: 1.2; text-wrap: balance; }
h2 { margin-top: 2.4rem; }
a { color: var(--link); }
.anchor { color: var(--quiet); text-decoration: none; opacity: 0; font-weight: 400; }
:is(h2, h3, h4):hover .anchor, .anchor:focus { opacity: 1; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre { font-family: ui-monospace, Menlo, Consolas, "Liberation Mono", monospace; font-size: .88em; }
pre { background: var(--raised); padding: .8rem 1rem; overflow-x: auto; overflow-wrap: normal; }
:not(pre) > code { background: var(--raised); padding: .05em .25em; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .88rem; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--rule); }
td:first-child code { white-space: nowrap; }
td:last-child { min-width: 12rem; }
img { max-width: 100%; height: auto; }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid var(--rule); color: var(--quiet); }
.to-pages { display: none; }
@media (max-width: 800px) {
  .page { display: block; padding: 1rem; }
  .to-pages { display: block; font-size: .88rem; }
  nav.site { position: static; max-height: none; margin-top: 3rem; border-top: 1px solid var(--rule); padding-top: 1rem; }
  td:first-child code { white-space: normal; }
  td:first-child { min-width: 7rem; overflow-wrap: anywhere; }
}
`;

function renderList(entries: Menu['entries'], address: string): string {
  const items = entries.map((entry) => {
    const current = entry.address === address ? ' aria-current="page"' : '';
    return `<li><a href="${relateAddress(address, entry.address)}"${current}>${escapeHtml(entry.title)}</a></li>`;
  });
  return `<ul>${items.join('')}</ul>`;
}

function renderMenus(menus: readonly Menu[], address: string): string {
  return menus.map(({ title, entries }) => `<h2>${escapeHtml(title)}</h2>${renderList(entries, address)}`).join('');
}

function renderHeadings(headings: RenderedPage['headings'], address: string): string {
  if (headings.length < 3) return '';
  const entries = headings.map(({ id, text }) => ({ title: text, address: `${address}#${id}` }));
  return `<nav aria-label="On this page"><details><summary>On this page</summary>${renderList(entries, address)}</details></nav>`;
}

/** A whole page of the site. @param address from the root of the site. */
export function renderPage({ title, body, headings }: RenderedPage, address: string, menus: readonly Menu[]): string {
  const [heading = '', ...rest] = body.split(/(?<=<\/h1>)/);
  const [top, main] = heading.includes('<h1') ? [heading, rest.join('')] : ['', body];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – rag-plusplus</title>
<link rel="stylesheet" href="${relateAddress(address, 'style.css')}">
</head>
<body>
<div class="page">
<main>
<a class="to-pages" href="#pages">All pages</a>
${top}${renderHeadings(headings, address)}${main}
</main>
<nav class="site" id="pages" aria-label="Pages"><p class="name">rag-plusplus</p>${renderMenus(menus, address)}</nav>
</div>
</body>
</html>
`;
}
