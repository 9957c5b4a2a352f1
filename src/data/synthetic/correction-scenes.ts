import type { Random } from '../../core/numbers/random.ts';
import type { CorrectionKind } from '../prepared/datasets.ts';
import { ATTRIBUTES, type AttributeTexts, ENDINGS, OPENINGS, PEOPLE } from './correction-texts.ts';

/** People who speak in a conversation, and people who are spoken of. */
const SPEAKERS = 4;
const SUBJECTS = 8;

/** A person's attribute, and the value that is stated. */
interface Fact {
  readonly subject: string;
  readonly attribute: AttributeTexts;
  readonly value: string;
}

/** A turn at its moment, from 0, the start of the conversation, to 1. */
export interface Said {
  readonly at: number;
  readonly author: string;
  readonly text: string;
  readonly fact: Fact | null;
}

/** A turn that states a fact. */
type Statement = Said & { readonly fact: Fact };

/** A question at its moment, with its answer key as turns. */
interface Question {
  readonly at: number;
  readonly text: string;
  readonly kind: string;
  readonly relevant: readonly Said[];
  readonly superseded: readonly Said[];
}

/** The turns and questions that a fact adds to a conversation. */
interface Scene {
  readonly said: readonly Said[];
  readonly questions: readonly Question[];
}

const pick = <T>(items: readonly T[], stream: Random) => items[stream.integer(items.length)] as T;
const between = (low: number, high: number, stream: Random) => low + (high - low) * stream.uniform();

function fill(template: string, { subject, value }: Fact, old = ''): string {
  return template.replaceAll('{s}', subject).replaceAll('{v}', value).replaceAll('{o}', old);
}

const startWithCapital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The people, texts and moments of one conversation. */
export class CorrectionDrawing {
  readonly #stream: Random;
  readonly #speakers: readonly string[];
  readonly #subjects: readonly string[];
  /** Pairs of subject and attribute that are left, in random order. */
  readonly #free: { readonly subject: string; readonly attribute: AttributeTexts }[];

  constructor(stream: Random) {
    this.#stream = stream;
    const people = stream.shuffle([...PEOPLE]);
    this.#speakers = people.slice(0, SPEAKERS);
    this.#subjects = people.slice(SPEAKERS, SPEAKERS + SUBJECTS);
    this.#free = stream.shuffle(
      this.#subjects.flatMap((subject) => ATTRIBUTES.map((attribute) => ({ subject, attribute }))),
    );
  }

  speaker(other?: string): string {
    return pick(
      this.#speakers.filter((name) => name !== other),
      this.#stream,
    );
  }

  /** A fact that the conversation has not used. */
  takeFact(fits: (pair: { readonly subject: string; readonly attribute: AttributeTexts }) => boolean): Fact {
    const [pair] = this.#free.splice(this.#free.findIndex(fits), 1);
    const { subject, attribute } = pair as Omit<Fact, 'value'>;
    return { subject, attribute, value: pick(attribute.values, this.#stream) };
  }

  /** @param others earlier facts, whose values do not come back. */
  withOtherValue(fact: Fact, ...others: readonly Fact[]): Fact {
    const said = [fact, ...others].map(({ value }) => value);
    const free = fact.attribute.values.filter((value) => !said.includes(value));
    return { ...fact, value: pick(free, this.#stream) };
  }

  /** A turn between two moments. */
  say(templates: readonly string[], fact: Fact, low: number, high: number, author: string, old?: string): Statement {
    return { ...this.#draw(fill(pick(templates, this.#stream), fact, old), low, high, author), fact };
  }

  chat(templates: readonly string[], subject = pick(this.#subjects, this.#stream), high = 1): Said {
    const text = pick(templates, this.#stream).replaceAll('{s}', subject);
    return { ...this.#draw(text, 0, high, this.speaker()), fact: null };
  }

  #draw(text: string, low: number, high: number, author: string) {
    const written = startWithCapital(`${pick(OPENINGS, this.#stream)}${text}${pick(ENDINGS, this.#stream)}`);
    return { at: between(low, high, this.#stream), author, text: written };
  }

  ask(kind: string, fact: Fact, low: number, high: number, key: Pick<Question, 'relevant' | 'superseded'>): Question {
    const text = fill(pick(fact.attribute.ask, this.#stream), fact);
    return { at: between(low, high, this.#stream), text, kind, ...key };
  }

  /** A statement of another person's or of another kind, and what a reader could confuse it with. */
  drawNeighbours({ subject, attribute }: Fact): Said[] {
    const other = this.takeFact((pair) => pair.attribute === attribute && pair.subject !== subject);
    const second = this.takeFact((pair) => pair.subject === subject && pair.attribute !== attribute);
    const corrected = this.withOtherValue(other);
    return [
      this.say(attribute.state, other, 0, 0.4, this.speaker()),
      this.#correct(other, corrected, 0.4, 0.7, this.speaker()),
      this.say(second.attribute.state, second, 0, 0.7, this.speaker()),
    ];
  }

  #correct({ attribute, value: old }: Fact, fact: Fact, low: number, high: number, author: string): Statement {
    const isMarked = this.#stream.uniform() < 0.5;
    return this.say(isMarked ? attribute.correctMarked : attribute.correctUnmarked, fact, low, high, author, old);
  }

  /** Corrects a fact: three of four times its first speaker does. */
  #correctSaid(last: Statement, first: Statement, low: number, high: number): Statement {
    const speaker = this.#stream.uniform() < 0.75 ? first.author : this.speaker(first.author);
    return this.#correct(last.fact, this.withOtherValue(last.fact, first.fact), low, high, speaker);
  }

  /** A fact that is corrected once or twice; asked before the first correction and after the last. */
  drawSuperseded(fact: Fact): Scene {
    const { attribute } = fact;
    const stated = this.say(attribute.state, fact, 0, 0.35, this.speaker());
    const old = [stated];
    if (this.#stream.uniform() < 0.7) old.push(this.say(attribute.mention, fact, 0.36, 0.45, this.speaker()));
    const before = this.ask('before', fact, 0.46, 0.5, { relevant: [...old], superseded: [] });
    let correction = this.#correctSaid(stated, stated, 0.5, 0.6);
    if (this.#stream.uniform() < 0.5) {
      old.push(correction);
      correction = this.#correctSaid(correction, stated, 0.61, 0.7);
    }
    const after = this.ask('superseded', fact, 0.79, 1.1, { relevant: [correction], superseded: old });
    return { said: [...old, correction], questions: [before, after] };
  }

  /** Two people state different values and nobody corrects the other: both statements answer. */
  drawContradictory(fact: Fact): Scene {
    const { attribute } = fact;
    const first = this.say(attribute.state, fact, 0, 0.35, this.speaker());
    const other = this.withOtherValue(fact);
    const said = [first, this.say(attribute.state, other, 0.36, 0.78, this.speaker(first.author))];
    return { said, questions: [this.ask('contradictory', fact, 0.79, 1.1, { relevant: said, superseded: [] })] };
  }

  drawAdjacent(fact: Fact): Scene {
    const stated = this.say(fact.attribute.state, fact, 0, 0.35, this.speaker());
    const key = { relevant: [stated], superseded: [] };
    const said = [stated, ...this.drawNeighbours(fact)];
    return { said, questions: [this.ask('adjacent', fact, 0.79, 1.1, key)] };
  }

  /** A fact without a statement. */
  drawAbsent(fact: Fact): Scene {
    const said = this.drawNeighbours(fact);
    return { said, questions: [this.ask('absent', fact, 0.79, 1.1, { relevant: [], superseded: [] })] };
  }

  drawScene(kind: CorrectionKind): Scene {
    const fact = this.takeFact(({ subject, attribute }) => this.#hasNeighbours(subject, attribute));
    const draw = {
      superseded: (about: Fact) => this.drawSuperseded(about),
      contradictory: (about: Fact) => this.drawContradictory(about),
      adjacent: (about: Fact) => this.drawAdjacent(about),
      absent: (about: Fact) => this.drawAbsent(about),
    }[kind];
    const scene = draw(fact);
    const echo = this.#stream.uniform() < 0.5 ? [this.chat(fact.attribute.echo, fact.subject, 0.78)] : [];
    return { ...scene, said: [...scene.said, ...echo] };
  }

  /** True if the attribute of another person and another attribute of the person are free. */
  #hasNeighbours(subject: string, attribute: AttributeTexts): boolean {
    return (
      this.#free.some((pair) => pair.attribute === attribute && pair.subject !== subject) &&
      this.#free.some((pair) => pair.subject === subject && pair.attribute !== attribute)
    );
  }
}
