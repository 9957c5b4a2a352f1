import { Marked, type Tokens } from 'marked';
import { escapeHtml } from '../src/core/text/format.ts';

export interface RenderedPage {
  readonly title: string;
  readonly body: string;
  /** Headings of the second level. */
  readonly headings: readonly { readonly id: string; readonly text: string }[];
}

/** The anchor of a heading, as GitHub makes it. */
function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Anchors of a page; the second heading of one text gets `-1`, as on GitHub. */
function createAnchors(): (heading: string) => string {
  const seen = new Map<string, number>();
  return (heading) => {
    const anchor = toAnchor(heading);
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  };
}

/** A page of Markdown as HTML. @param resolve gives the address on the site of a link or picture. */
export function renderMarkdownPage(markdown: string, resolve: (target: string) => string): RenderedPage {
  const takeAnchor = createAnchors();
  const headings: { id: string; text: string }[] = [];
  let title = '';
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = takeAnchor(text);
        const plain = text.replaceAll('`', '');
        if (depth === 1) title ||= plain;
        if (depth === 2) headings.push({ id, text: plain });
        const label = `Link to ${escapeHtml(plain)}`;
        const anchor = depth === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="${label}">#</a>`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${anchor}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${escapeHtml(resolve(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        return `<img src="${escapeHtml(resolve(href))}" alt="${escapeHtml(text)}">`;
      },
      code({ text, lang }: Tokens.Code) {
        const language = escapeHtml((lang ?? '').split(' ')[0] as string);
        return `<pre tabindex="0"><code class="language-${language}">${escapeHtml(text)}</code></pre>\n`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  const body = html
    .replaceAll('<table>', '<div class="wide" tabindex="0" role="region" aria-label="table"><table>')
    .replaceAll('</table>', '</table></div>');
  return { title, body, headings };
}
