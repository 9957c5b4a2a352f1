import { ValidationError } from '../../core/errors/errors.ts';

/** In characters: a longer element has surely lost its end. */
const LONGEST_ELEMENT = 2 ** 26;

/**
 * Splits a stream of text into the contents of one kind of element, such as `<DOC>`. Elements do not nest; text between them is left out. Tags may stand anywhere
 * in a line and across two chunks. Costs time linear in the text and memory for one element.
 */
export class ElementSplitter {
  readonly #tag: string;
  readonly #where: string;
  readonly #boundary: RegExp;
  /** The parts of the open element; null between elements. */
  #parts: string[] | null = null;
  #length = 0;
  #count = 0;
  /** The end of the last chunk that may begin a tag. */
  #rest = '';

  /** @param where the file, for errors. */
  constructor(tag: string, where: string) {
    this.#tag = tag;
    this.#where = where;
    this.#boundary = new RegExp(`(</?${tag}>)`, 'i');
  }

  /** @returns the contents of the elements that end in this chunk. @throws ValidationError for an element that is not closed. */
  push(chunk: string): string[] {
    const text = this.#rest + chunk;
    const bracket = text.lastIndexOf('<');
    const isOpen = bracket >= 0 && text.length - bracket < this.#tag.length + '</>'.length;
    const end = isOpen ? bracket : text.length;
    this.#rest = text.slice(end);
    const elements: string[] = [];
    for (const [i, part] of text.slice(0, end).split(this.#boundary).entries()) {
      if (i % 2 === 0) this.#add(part);
      else if (!part.startsWith('</')) this.#open();
      else if (this.#parts !== null) {
        elements.push(this.#parts.join(''));
        this.#parts = null;
      }
    }
    return elements;
  }

  /** @throws ValidationError for an element that is not closed. */
  finish(): void {
    if (this.#boundary.test(this.#rest)) this.#open();
    if (this.#parts !== null) throw this.#createUnclosedError();
  }

  #open(): void {
    if (this.#parts !== null) throw this.#createUnclosedError();
    this.#parts = [];
    this.#length = 0;
    this.#count++;
  }

  #add(part: string): void {
    if (this.#parts === null) return;
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length > LONGEST_ELEMENT) throw this.#createUnclosedError();
  }

  #createUnclosedError(): ValidationError {
    const { count, tag, where } = { count: this.#count, tag: this.#tag, where: this.#where };
    return new ValidationError(`<${tag}> number ${count} has no </${tag}> in: ${where}; correct the file`, {
      where,
      count,
    });
  }
}

/** A text without tags, and the tag that is open; null for none. */
export interface TaggedText {
  /** In capitals. */
  readonly tag: string | null;
  readonly text: string;
}

/** A tag or a comment; `a < b` is none. */
const TAG = /(<[/!]?[A-Za-z-][^<>]*>)/;

/**
 * The texts of an element between its tags, in order.
 *
 * @param named the tags that count, each up to its end; without them every tag counts, up to the next one.
 */
export function splitAtTags(element: string, named?: ReadonlySet<string>): TaggedText[] {
  const texts: TaggedText[] = [];
  let tag: string | null = null;
  for (const [i, part] of element.split(TAG).entries()) {
    if (i % 2 === 1) tag = followTag(tag, part, named);
    else if (part.trim() !== '') texts.push({ tag, text: decodeEntities(part) });
  }
  return texts;
}

/** The tag that is open after another tag. */
function followTag(open: string | null, tag: string, named: ReadonlySet<string> | undefined): string | null {
  const [, slash, written] = /^<(\/?)([A-Za-z][\w-]*)/.exec(tag) ?? [];
  if (written === undefined) return open; // a comment
  const name = written.toUpperCase();
  if (named === undefined) return slash === '' ? name : null;
  if (open === null) return slash === '' && named.has(name) ? name : null;
  return slash === '/' && name === open ? null : open;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** Decodes numbers and the names that every SGML knows; others stay as they are. */
function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : entity;
  });
}
