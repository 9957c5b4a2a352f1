import { escapeHtml } from '../../../core/text/format.ts';

/** HTML that is safe to put into a page. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

export type Content = Markup | string | number | readonly Content[];

/** Template of HTML: escapes all values, except markup that was made the same way. Lists are joined. */
export function html(parts: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  const texts = contents.map((content, at) => renderContent(content) + (parts[at + 1] as string));
  return new Markup((parts[0] as string) + texts.join(''));
}

function renderContent(content: Content): string {
  if (content instanceof Markup) return content.text;
  if (typeof content === 'object') return content.map(renderContent).join('');
  return escapeHtml(String(content));
}

/** A value as JSON that may stand inside a script element: no text in it can end the element or open a comment. */
export function encodeScriptJson(value: unknown): Markup {
  const escaped = JSON.stringify(value).replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return new Markup(escaped);
}
