/** Kinds of preferences: how a question names it, how the fact does, and what it may be. */
export const PREFERENCES = Object.freeze([
  {
    asked: 'payment terms',
    predicate: 'pays within',
    objects: ['14 days', '30 days', '60 days', 'the day of delivery'],
  },
  { asked: 'day of delivery', predicate: 'wants parcels on', objects: ['Mondays', 'Tuesdays', 'Thursdays', 'Fridays'] },
  { asked: 'way of contact', predicate: 'is reached by', objects: ['phone', 'mail', 'chat', 'letter'] },
  { asked: 'packaging', predicate: 'wants goods in', objects: ['crates', 'paper', 'reused boxes', 'pallets'] },
] as const);

/** What a customer may have written or called about. */
export const EVENTS = Object.freeze([
  'complained about a damaged box',
  'asked for an offer of larger amounts',
  'reported a wrong colour',
  'praised the quick answer of the hotline',
  'asked to move the delivery to another street',
  'returned two broken lamps',
  'asked whether the catalogue is printed',
  'announced a new person for purchases',
  'wanted a copy of an old receipt',
  'asked about the origin of the wood',
] as const);

/** Situations, the trigger of a procedure in other words, and what to do: the first is proven, the second is not. */
export const SITUATIONS = Object.freeze([
  {
    asked: 'rush orders',
    trigger: 'goods are needed within a day',
    actions: ['call the night courier', 'ask for patience'],
  },
  {
    asked: 'late payments',
    trigger: 'an account is overdue for a month',
    actions: ['phone before a letter', 'send a letter'],
  },
  { asked: 'returns', trigger: 'goods come back opened', actions: ['check them before the refund', 'refund at once'] },
  {
    asked: 'new customers',
    trigger: 'a first purchase is large',
    actions: ['ask for half in advance', 'deliver on account'],
  },
  {
    asked: 'stock-outs',
    trigger: 'an article is missing for a week',
    actions: ['offer the next size', 'wait for the maker'],
  },
  {
    asked: 'complaints',
    trigger: 'someone is angry on the phone',
    actions: ['repeat what they said', 'pass the call on'],
  },
  {
    asked: 'price increases',
    trigger: 'a maker becomes dearer',
    actions: ['tell regular buyers first', 'change the list'],
  },
  {
    asked: 'wrong addresses',
    trigger: 'a parcel cannot be handed over',
    actions: ['ask by chat the same day', 'store the parcel'],
  },
] as const);

export const SEGMENTS = Object.freeze([
  'a large buyer of lamps',
  'a small buyer of shelves',
  'a steady buyer of chairs',
  'a new buyer of tables',
] as const);
export const BUSINESSES = Object.freeze([
  'Books',
  'Media',
  'Foods',
  'Tools',
  'Travel',
  'Theatre',
  'Bikes',
  'Gardens',
] as const);
export const PRODUCTS = Object.freeze(['lamp', 'shelf', 'chair', 'table'] as const);

/** What pages of a handbook say besides their rule. */
export const HANDBOOK_SENTENCES = Object.freeze([
  'Whoever opens a box notes the day on its side.',
  'The shelf at the window stays free for goods that wait for a decision.',
  'A second person counts whatever is worth more than a day of sales.',
  'Labels are written by hand only where the printer is out of order.',
  'Fragile pieces are carried one at a time, also in the last hour.',
  'The storage room is aired in the morning and closed at noon.',
  'Photographs of damage are kept with the receipt for two years.',
  'Samples are lent for a week and entered in the blue book.',
  'Whatever comes from abroad is weighed before it is unpacked.',
  'The list of makers hangs behind the counter and is renewed in spring.',
] as const);
