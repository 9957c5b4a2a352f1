/** A fact about a person: how a memory has it, how a response may, and the value in other words. */
export interface FactKind {
  readonly question: (name: string) => string;
  readonly memory: (name: string, value: string) => string;
  readonly reply: (name: string, value: string) => string;
  readonly values: readonly (readonly [value: string, inOtherWords: string])[];
}

/** What is invented. No two values share a content word, but memories of one kind share their frame. */
export const FACT_KINDS: readonly FactKind[] = [
  {
    question: (name) => `Which pet does ${name} have?`,
    memory: (name, value) => `${name} adopted ${value} from the shelter behind the station last spring`,
    reply: (name, value) => `At home there is ${value}, which ${name} took in`,
    values: [
      ['a nervous greyhound', 'a shy racing dog'],
      ['two grey parrots', 'a pair of talking birds'],
      ['a one-eyed cat', 'an animal that purrs'],
      ['a slow tortoise', 'an old reptile with a shell'],
    ],
  },
  {
    question: (name) => `What is ${name} allergic to?`,
    memory: (name, value) => `The doctor told ${name} to keep away from ${value} after the rash in June`,
    reply: (name, value) => `${name} should not go near ${value}`,
    values: [
      ['roasted hazelnuts', 'a kind of nut'],
      ['penicillin tablets', 'a common antibiotic'],
      ['birch pollen', 'what trees give off in early months'],
      ['shellfish broth', 'seafood soup'],
    ],
  },
  {
    question: (name) => `How does ${name} get to work?`,
    memory: (name, value) => `Since the move ${name} goes to the office by ${value}, about half an hour each way`,
    reply: (_, value) => `The commute is by ${value}`,
    values: [
      ['a folding bicycle', 'two small wheels'],
      ['the harbour ferry', 'boat'],
      ['a yellow tram', 'public rails'],
      ['an electric scooter', 'something with a battery'],
    ],
  },
  {
    question: (name) => `Which project is ${name} busy with?`,
    memory: (name, value) => `${name} has to finish ${value} before the board meets in autumn`,
    reply: (name, value) => `Mostly ${value}, with a deadline, as far as ${name} said`,
    values: [
      ['the payroll migration', 'moving how salaries are paid'],
      ['a museum catalogue', 'a list of exhibits'],
      ['the sonar firmware', 'code for an underwater device'],
      ['a vineyard audit', 'checking the books of a winery'],
    ],
  },
  {
    question: (name) => `What does ${name} do at the weekend?`,
    memory: (name, value) => `On Saturdays ${name} is out with friends for ${value} and comes back late`,
    reply: (_, value) => `Usually ${value}`,
    values: [
      ['cave diving', 'swimming underground'],
      ['choir rehearsals', 'singing with others'],
      ['archery lessons', 'learning to shoot arrows'],
      ['restoring clocks', 'repairing old timepieces'],
    ],
  },
  {
    question: (name) => `Where did ${name} grow up?`,
    memory: (name, value) => `${name} spent childhood in ${value}, where the family ran a small shop`,
    reply: (_, value) => `That was ${value}, I believe`,
    values: [
      ['Trondheim', 'a Norwegian town'],
      ['Valparaiso', 'a Chilean port'],
      ['Gdansk', 'a city on the Baltic'],
      ['Nagasaki', 'the west of Japan'],
    ],
  },
  {
    question: (name) => `What did ${name} cook for the guests?`,
    memory: (name, value) =>
      `For the dinner with the neighbours ${name} made ${value} and everybody asked for the recipe`,
    reply: (_, value) => `The guests had ${value}`,
    values: [
      ['saffron risotto', 'yellow rice'],
      ['smoked trout', 'fish'],
      ['pumpkin ravioli', 'stuffed pasta'],
      ['lentil curry', 'a spicy stew'],
    ],
  },
  {
    question: (name) => `What was broken in the flat of ${name}?`,
    memory: (name, value) => `${name} waited three days for somebody who could repair ${value}`,
    reply: (_, value) => `It was ${value} that needed repair`,
    values: [
      ['the dishwasher pump', 'a kitchen machine'],
      ['the balcony door', 'the way outside'],
      ['the boiler valve', 'the heating'],
      ['the skylight hinge', 'a roof window'],
    ],
  },
];

export const NAMES = ['Ines', 'Tomas', 'Wren', 'Bashir', 'Odile', 'Kofi', 'Marit', 'Lorenzo', 'Yuki', 'Pavel'];

/** Sentences around an answer. Some share a word with the frame of a memory that was not used. */
export const FILLERS = [
  'Let me know if you would like more details.',
  'I hope this helps.',
  'That is what I could find.',
  'If it matters, I can ask again before the next meeting.',
  'The station has its own opening hours, which I do not know.',
  'Please check with the doctor if you are not sure.',
  'It may have changed since the move.',
  'I would ask the neighbours too.',
];

/** Responses that use nothing. */
export const EMPTY_REPLIES = [
  'I am afraid I do not know that.',
  'Nothing that I remember answers this.',
  'I cannot say; it was never mentioned.',
];
