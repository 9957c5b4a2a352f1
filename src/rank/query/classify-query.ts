import { readQuestionText } from '../../model/text/question-text.ts';
import { type QueryMoment, readTimes } from '../../model/text/times/question-times.ts';

/** The kind of answer that a question asks for. */
type QueryCategory = 'factual' | 'procedural' | 'exploratory' | 'analytical';

/** A cue of a category: the first of {@link CATEGORY_CUES} that a question has decides. */
export interface CategoryCue {
  readonly category: QueryCategory;
  /** Its name in the answer. */
  readonly rule: string;
  readonly expression: RegExp;
}

const PERSON = '(?:i|we|you|one|people|someone|my \\w+|our \\w+)';
const WAY =
  '(?:\\w+ )?(?:steps?|instructions?|procedure|process|workflow|routine|protocol|recipe for|(?:way|trick|command|method) to)';

/** In lower case. Texts have single spaces. */
const CATEGORY_CUES: readonly CategoryCue[] = [
  {
    category: 'procedural',
    rule: 'how to',
    expression:
      /\b(?:how to|(?:show|tell|teach|remind) (?:me|us) how|walk (?:me|us) through|guide (?:me|us)|explain how)\b/,
  },
  { category: 'analytical', rule: 'why', expression: /\b(?:why|how come)\b/ },
  {
    category: 'analytical',
    rule: 'comparison',
    expression:
      /\b(?:compared?|comparison|versus|vs|differ(?:s|ed|ent|ently|ences?)?|trade-?offs?|pros and cons|(?:dis)?advantages|strengths|weaknesses|(?:better|worse|more|less|fewer|rather|\w{3,}er) (?:\w+ ){0,4}than|(?:which|who|what) (?:\w+ ){0,5}(?:better|worse|more|less)\b|^should (?:i|we) (?:\w+ ){1,6}or\b)/,
  },
  {
    category: 'analytical',
    rule: 'cause',
    expression:
      /\b(?:caus(?:e|es|ed|ing)|reasons?|explains|explained|what (?:drives|drove|makes|made|led|went wrong|explained)|factors?|contribut(?:e|es|ed|ing)|impact|effects? (?:of|on)|affect(?:s|ed)?|influenc(?:e|es|ed)|depends? on|correlat\w+|relation between|relationship between)\b/,
  },
  {
    category: 'analytical',
    rule: 'change',
    expression:
      /\b(?:trends?|what (?:has |have )?changed|patterns?|evolv(?:e|ed|es)|evolution|over time|over the years|(?:have|has) (?:\w+ ){1,4}(?:changed|developed|grown|declined|improved)|becom(?:e|es|ing) (?:\w+ )?(?:more|less|worse|better|\w+er))\b/,
  },
  {
    category: 'analytical',
    rule: 'evaluation',
    expression: /\b(?:analy[sz]e|analysis|evaluate|assess|would \w+ suit)\b/,
  },
  {
    category: 'factual',
    rule: 'quantity',
    expression: /^how (?:many|much|often|long|old|far|tall|big|large|late|early|soon|frequently|recently)\b/,
  },
  {
    category: 'exploratory',
    rule: 'state',
    expression:
      /^how (?:(?:have|has|had) (?:\w+ ){1,3}been (?:feeling|doing|going)|(?:do|does|did) \w+ (?:feel|like)|(?:is|are|was|were) (?:\w+ ){1,4}(?:doing|going|coming along)|(?:is|are|was|were)(?: \w+){1,3}\?*$)/,
  },
  {
    category: 'procedural',
    rule: 'how',
    expression: new RegExp(
      `^how (?:do|does|did|can|could|should|would|shall|must|have ${PERSON} been|(?:is|are|was|were) (?:\\w+ ){1,4}\\w+(?:ed|en|t|d)\\b)`,
    ),
  },
  {
    category: 'procedural',
    rule: 'steps',
    expression: new RegExp(
      `(?:\\b(?:what|which)(?:'s| is| are| was| were)?(?: the| our| my| your| a)? (?:\\w+ )?${WAY}|\\b(?:give|need|list|show)(?: me| us)?(?: the)? (?:steps|instructions)|^steps (?:to|for)\\b|\\bwhat(?:'s| is) the (?:best|easiest|fastest|recommended|usual|right|correct|proper|safest) way\\b)`,
    ),
  },
  {
    category: 'procedural',
    rule: 'what to do',
    expression: new RegExp(
      `\\bwhat (?:do|does|should|must|can|could) ${PERSON} (?:usually |normally |need to |have to )?do(?: to| when| if| for|\\?|$)`,
    ),
  },
  {
    category: 'exploratory',
    rule: 'request to tell',
    expression:
      /^(?:(?:please|can you|could you|would you) )*(?:(?:tell|remind|show|give) (?:me|us)|explain (?:the|our|my|what))\b|\b(?:overview|summar(?:y|ies|i[sz]e)|sum up|recap|highlights?|catch (?:me|us) up|up to speed|describe|what can you tell|introduction|background|list everything|any(?:thing)? (?:news|updates|progress|new|thoughts|ideas|interesting|else))\b/,
  },
  {
    category: 'exploratory',
    rule: 'open question',
    expression: new RegExp(
      `\\b(?:what do ${PERSON} (?:know|have on|say|think)|what (?:should|can|else) (?:\\w+ ){1,3}(?:know|tell|see|expect)|what(?:'s| is| has been| was| have \\w+ been) (?:new|going on|up to|happening|doing)|what(?: \\w+){1,4} been (?:up to|doing|saying)|the latest on|what happened (?:with|to|around|in)|what kinds? of|what is \\w+ like|what (?:\\w+ )?(?:ideas|topics|tips|stories|themes)|which (?:tips|topics|ideas)|what are (?:some|the recent|the latest))\\b`,
    ),
  },
];

/** Cues that the order or the moment of events matters, without a time that can be computed. */
const TIME_CUES =
  /(?:^|\b(?:and|know|remember|exactly|since|until) )when\b|\b(?:(?:what|which) (?:time|year|month|week|day|season)|how many (?:years|months|weeks|days|hours|minutes)|more recently|how (?:long|often|soon|recently|frequently)|latest|newest|most recent|(?:last|first|next) time|last (?:see|saw|seen|met|spoke|talk\w*)|(?:the )?first|still|currently|current|right now|these days|the other day|ago|over time|over the years|trends?|used to|becom\w+|seasonal|since|the next|changed|evolved?|earlier|previously|anymore|so far|(?:what|which|the) date)\b/;

/** A kind of party that records are about. */
const PARTY =
  /\b(?:customers?|clients?|suppliers?|vendors?|partners?|sponsors?|volunteers?|employees|colleagues|contractors|competitors|investors|patients|tenants)\b/;

/** Business records whose current state is in a database. */
const RECORD_NOUN =
  /\b(?:orders|sales|revenue|turnover|invoices?|payments?|refunds?|stock|inventory|warehouse|shipments?|deliver(?:y|ies)|subscriptions?|balance|sold|sells?|in stock)\b/;
/** Verbs of trade, which mean a record where no first person is their subject. */
const TRADE_VERB =
  /\b(?:order|ordered|bought|buy|purchased?|sold|paid|pay|pays|return|returned|cancel|cancelled|shipped|spend|spending|spent|price)\b/;
const FIRST_PERSON = /\b(?:i|my|me)\b/;

const LINK =
  '(?:am|is|are|was|were|be|do|does|did|has|have|had|can|could|will|would|about|by|for|from|in|of|on|to|with)';
/** A count of parties, which is a count of rows: `how many active customers`. */
const COUNTED_PARTY = new RegExp(
  `\\b(?:how many|number of|count)(?: of (?:our|my|the|all))? (?:(?!${LINK}\\b)\\w+ ){0,2}?${PARTY.source.slice(2)}`,
);
/** A habit or a preference, which is learned from many records. `More than usual` compares records with a habit. */
const HABIT =
  /(?<!\b(?:than|as) )\b(?:usually|usual|normally|typical(?:ly)?|generally|habits?|routine(?:ly)?|tends? to|as a rule|prefers?|preferred|preferences?|favou?rite)\b/;
/** Words before a person whose reason is asked for, which no record holds. `Why are sales down` asks about records. */
const WHY_SOMEONE = /\b(?:why|how come)(?: (?:do|does|did|has|have|had)(?:n't| not)?)? /g;

/** Words with capitals that name no entity: calendars, formats, and questions' own words. */
export const NOT_NAMES: ReadonlySet<string> = new Set(
  (
    'i january february march april may june july august september october november december monday tuesday wednesday thursday ' +
    'friday saturday sunday spring summer autumn fall winter christmas easter q1 q2 q3 q4 h1 h2 am pm utc json xml html csv pdf sql http url api id ' +
    'vat faq ok tv pc new year who what which when where why how'
  ).split(' '),
);

/** What kind of question it is. The names are those of the retrieval design that the strategies come from. */
export interface QueryType {
  /** The kind of answer: a fact, the steps of a process, an overview, or a reason, comparison or trend. */
  readonly category: QueryCategory;
  /** True if it names things or persons, or a kind of party such as customers. */
  readonly entityFocused: boolean;
  /** True if it names a time, or depends on the order of events. */
  readonly timeFocused: boolean;
  /** True if it is about a process. */
  readonly procedural: boolean;
  /** True if its answer needs current business records. */
  readonly requiresDomainDb: boolean;
}

/** What was found in the question before. */
export interface QuestionFindings {
  /** The things and persons that it names, known or not, as it writes them. */
  readonly names: readonly string[];
  /** True if it has a time range. */
  readonly hasTime: boolean;
}

/** True if a text of `readQuestionText` asks for a time or depends on the order of events. */
function hasTimeCue(text: string): boolean {
  return TIME_CUES.test(text.toLowerCase().replace(CONTRACTED, '$1 is'));
}

/**
 * True if a question names a time, asks for one, or depends on the order of events: `timeFocused` of `understand`.
 *
 * @throws as `findTimeRange`.
 */
export function asksForTime(question: string, moment: QueryMoment): boolean {
  const text = readQuestionText(question);
  return hasTimeCue(text) || readTimes(text, moment).range !== null;
}

const CONTRACTED = /\b(what|how|who|when|where|why)'s\b/g;
const PROCESS = /\b(?:process|procedure|workflow)\b/;

/** True if a text asks why someone whom it names did something. `Why did Acme's orders fall` asks about orders. */
function asksWhyNamed(words: string, names: readonly string[]): boolean {
  return Array.from(words.matchAll(WHY_SOMEONE)).some(({ index, 0: cue }) => {
    const rest = words.slice(index + cue.length).replace(/^the /, '');
    return names.some((name) => rest.startsWith(`${name.toLowerCase()} `));
  });
}

/**
 * The type of an English question by cue words.
 *
 * @param text of `readQuestionText`.
 * @returns the type, and the name of the cue that decided the category: `no cue` for a factual question.
 */
export function classifyQuery(text: string, { names, hasTime }: QuestionFindings): { type: QueryType; rule: string } {
  const words = text.toLowerCase().replace(CONTRACTED, '$1 is');
  const cue = CATEGORY_CUES.find(({ expression }) => expression.test(words));
  const category = cue?.category ?? 'factual';
  const procedural = category === 'procedural' || PROCESS.test(words);
  const hasNames = names.length > 0;
  const isTrade = TRADE_VERB.test(words) && hasNames && !FIRST_PERSON.test(words);
  const type: QueryType = {
    category,
    entityFocused: hasNames || (!procedural && PARTY.test(words)),
    timeFocused: hasTime || hasTimeCue(text),
    procedural,
    requiresDomainDb:
      !procedural &&
      !HABIT.test(words) &&
      !asksWhyNamed(words, names) &&
      (RECORD_NOUN.test(words) || COUNTED_PARTY.test(words) || isTrade),
  };
  return { type, rule: cue?.rule ?? 'no cue' };
}
