import { freezeDeeply } from '../../core/values/once.ts';

/**
 * How one attribute of a person is spoken of: `{s}` is the person, `{v}` the value, `{o}` the value before it. Half of
 * the corrections have words that mark a correction, half have none.
 */
export interface AttributeTexts {
  /** The predicate of the fact. */
  readonly predicate: string;
  readonly values: readonly string[];
  readonly state: readonly string[];
  /** Repeats the value in passing. */
  readonly mention: readonly string[];
  readonly correctMarked: readonly string[];
  readonly correctUnmarked: readonly string[];
  readonly ask: readonly string[];
  /** Speaks of the attribute without a value. */
  readonly echo: readonly string[];
}

export const ATTRIBUTES: readonly AttributeTexts[] = freezeDeeply([
  {
    predicate: 'home',
    values: ['Porto', 'Leeds', 'Graz', 'Turin', 'Lyon', 'Bergen', 'Ghent', 'Malaga'],
    state: ['{s} lives in {v}', '{s} has a flat in {v}', 'home for {s} is {v}', '{s} settled in {v} years ago'],
    mention: ['as {s} sits in {v}, the train takes a while', '{s} sends a picture of the market in {v}'],
    correctMarked: ['{s} no longer lives in {o}, it is {v} now', '{s} moved to {v}, so forget {o}'],
    correctUnmarked: [
      'the boxes are unpacked and {s} wakes up in {v}',
      'since last week the doorbell of {s} is in {v}',
    ],
    ask: ['Where does {s} live?', 'In which town is {s} at home?', 'Which place does {s} call home?'],
    echo: ['does anyone remember where {s} lives', 'I keep forgetting in which town {s} is at home'],
  },
  {
    predicate: 'employer',
    values: ['Northwind', 'Alder Bank', 'Kestrel Labs', 'Fjord Lines', 'Orchard Media', 'Pike Motors', 'Saffron Foods'],
    state: ['{s} works for {v}', '{s} has a job at {v}', '{v} employs {s}', '{s} is on the payroll of {v}'],
    mention: ['{s} is late, a meeting at {v} runs over', 'the badge of {s} says {v} in large letters'],
    correctMarked: ['{s} no longer works for {o}, the new employer is {v}', '{s} changed to {v} after years at {o}'],
    correctUnmarked: ['since Monday {s} writes mails from {v}', '{s} had a first day at {v}'],
    ask: ['Who does {s} work for?', 'What is the employer of {s}?', 'At which company does {s} have a job?'],
    echo: ['who does {s} work for again', 'somebody asked me at which company {s} has a job'],
  },
  {
    predicate: 'call day',
    values: ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'],
    state: [
      'the weekly call with {s} is on {v}',
      '{s} and I talk every {v}',
      '{v} is the day of the call with {s}',
      'our call with {s} takes place each {v}',
    ],
    mention: ['I prepared the notes for {v}, when we talk to {s}', 'no lunch on {v}, {s} calls'],
    correctMarked: ['the call with {s} moved to {v}', 'we talk to {s} on {v} instead of {o}'],
    correctUnmarked: [
      '{s} has a class on {o}, so let us speak each {v}',
      'the invitation of {s} shows {v} from now on',
    ],
    ask: [
      'On which day is the call with {s}?',
      'When do we talk to {s} each week?',
      'Which weekday is the call of {s}?',
    ],
    echo: ['on which day is the call with {s}', 'I never know when we talk to {s}'],
  },
  {
    predicate: 'instrument',
    values: ['cello', 'trumpet', 'harp', 'accordion', 'oboe', 'banjo', 'drums'],
    state: [
      '{s} plays the {v}',
      '{s} takes lessons on the {v}',
      'the instrument of {s} is the {v}',
      '{s} practises the {v} daily',
    ],
    mention: ['the neighbours complain about the {v} of {s}', '{s} looks for a case for the {v}'],
    correctMarked: ['{s} plays the {v} instead of the {o}', '{s} does not play the {o} anymore, it is the {v}'],
    correctUnmarked: ['{s} sold the {o} and fell in love with the {v}', 'at the concert {s} sat behind the {v}'],
    ask: ['What does {s} play?', 'Which instrument does {s} practise?', 'On what does {s} take lessons?'],
    echo: ['which instrument does {s} play', '{s} wants to practise more this year'],
  },
  {
    predicate: 'diet',
    values: ['nuts', 'milk', 'shellfish', 'gluten', 'eggs', 'soy', 'strawberries'],
    state: ['{s} cannot eat {v}', '{s} is allergic to {v}', 'no {v} for {s}, please', '{v} makes {s} ill'],
    mention: ['I read every label because of {s} and {v}', 'the cake is without {v}, so {s} can have some'],
    correctMarked: ['I was wrong about {s}: it is {v}, {o} is fine', 'correction: {s} must avoid {v}, {o} is harmless'],
    correctUnmarked: ['the new test of {s} shows {v} and clears {o}', '{s} ate {o} today, but stays away from {v}'],
    ask: ['What can {s} not eat?', 'Which food makes {s} ill?', 'To what is {s} allergic?'],
    echo: ['what was it that {s} cannot eat', 'ask {s} about food before you cook'],
  },
  {
    predicate: 'car',
    values: ['Skoda', 'Volvo', 'Fiat', 'Honda', 'Peugeot', 'Mazda', 'Opel'],
    state: ['{s} drives a {v}', 'the car of {s} is a {v}', '{s} owns an old {v}', '{s} parks a {v} in the yard'],
    mention: ['the {v} of {s} needs new tyres', '{s} cleaned the {v} on Sunday'],
    correctMarked: ['{s} no longer has the {o}, it is a {v} now', '{s} drives a {v} rather than the {o}'],
    correctUnmarked: ['{s} traded the {o} for a {v}', 'look for a {v} at the station, {s} has just bought it'],
    ask: ['What car does {s} drive?', 'Which car does {s} own?', 'What does {s} park in the yard?'],
    echo: ['what car does {s} drive', 'the car of {s} blocks the yard'],
  },
  {
    predicate: 'doctor',
    values: ['Dr Bauer', 'Dr Novak', 'Dr Silva', 'Dr Okoye', 'Dr Lindqvist', 'Dr Haddad', 'Dr Moreau'],
    state: ['the doctor of {s} is {v}', '{s} goes to {v}', '{s} is a patient of {v}', '{v} looks after {s}'],
    mention: ['{s} waited an hour at the practice of {v}', '{v} wrote a prescription for {s}'],
    correctMarked: ['{s} changed to {v}, {o} has retired', '{s} goes to {v} instead of {o}'],
    correctUnmarked: ['{o} closed the practice, and {v} took {s} over', 'the file of {s} is with {v} since spring'],
    ask: ['Who is the doctor of {s}?', 'To which doctor does {s} go?', 'Who looks after {s} when ill?'],
    echo: ['who is the doctor of {s}', '{s} should see a doctor about the cough'],
  },
  {
    predicate: 'language',
    values: ['Finnish', 'Greek', 'Welsh', 'Korean', 'Arabic', 'Polish', 'Basque'],
    state: [
      '{s} learns {v}',
      '{s} takes a course in {v}',
      'the language course of {s} is {v}',
      '{s} studies {v} at night',
    ],
    mention: ['{s} greeted me in {v}', 'the shelf of {s} is full of books in {v}'],
    correctMarked: ['{s} changed to {v}, {o} was too much', '{s} learns {v} rather than {o}'],
    correctUnmarked: ['{s} gave {o} up and sits in the {v} class', 'the homework of {s} is in {v} this term'],
    ask: ['Which language does {s} learn?', 'What does {s} study at night?', 'In which language is the course of {s}?'],
    echo: ['which language does {s} learn', '{s} praises the language course'],
  },
  {
    predicate: 'pet',
    values: ['a parrot', 'a beagle', 'two goldfish', 'a tortoise', 'a grey cat', 'a hamster', 'a rabbit'],
    state: ['{s} keeps {v}', 'the pet of {s} is {v}', '{s} has {v} at home', '{s} takes care of {v}'],
    mention: ['{s} cannot travel because of {v}', 'I fed {v} while {s} was away'],
    correctMarked: ['{s} no longer keeps {o}, it is {v} now', 'what {s} has is actually {v}, there is no {o}'],
    correctUnmarked: ['{o} went to the aunt, and {v} lives with {s}', '{s} came back from the shelter with {v}'],
    ask: ['What pet does {s} have?', 'Which animal does {s} keep?', 'What animal lives with {s}?'],
    echo: ['what pet does {s} have', '{s} loves every animal'],
  },
  {
    predicate: 'sport',
    values: ['rowing', 'fencing', 'climbing', 'judo', 'sailing', 'handball', 'archery'],
    state: ['{s} does {v}', '{s} trains for {v}', 'the sport of {s} is {v}', '{s} goes to {v} twice a week'],
    mention: ['{s} has sore arms from {v}', '{s} missed dinner, {v} took longer'],
    correctMarked: ['{s} does {v} instead of {o}', '{s} no longer goes to {o}, it is {v}'],
    correctUnmarked: ['{s} gave the gear for {o} away and took up {v}', 'you find {s} at {v} these evenings'],
    ask: ['Which sport does {s} do?', 'For what does {s} train?', 'What sport is {s} into?'],
    echo: ['which sport does {s} do', '{s} trains too much'],
  },
]);

/** People who are spoken of, and people who speak. */
export const PEOPLE: readonly string[] = freezeDeeply([
  ...['Mira', 'Jonas', 'Leila', 'Tomas', 'Ines', 'Viktor', 'Sanna', 'Omar', 'Petra', 'Dario', 'Wanda', 'Kofi'],
  ...['Elin', 'Rafael', 'Yuki', 'Bruno', 'Nadia', 'Stefan', 'Aisha', 'Henrik', 'Carla', 'Milan', 'Freya', 'Hugo'],
]);

/** Turns without a fact. */
export const CHATTER: readonly string[] = freezeDeeply([
  'I saw {s} at the market, the queue was long',
  'the heating is loud again',
  '{s} says hello to everybody',
  'who brings the chairs on Sunday',
  'the printer is out of paper',
  '{s} found my umbrella',
  'let us paint the fence before it rains',
  'the film was two hours too long',
  '{s} and I walked along the river',
  'the bakery at the corner has closed for a week',
  'I lost my glasses once more',
  '{s} told a story about a lighthouse',
  'please close the windows when you leave',
  'the parcel came without a stamp',
  '{s} will be back on the first of the month',
  'we need a longer table for the party',
  'the clock in the hall is five minutes slow',
  '{s} laughed about the photograph',
  'my bicycle has a flat tyre',
  'the soup was a little salty',
]);

export const OPENINGS: readonly string[] = freezeDeeply(['', '', 'By the way, ', 'Hm, ', 'For the list: ', 'News: ']);
export const ENDINGS: readonly string[] = freezeDeeply(['.', '.', '!', ', I heard.', ', thanks for asking.']);
