/** A question mark that ends a sentence; one inside an address such as `x.org/?id=7` does not. */
const ASKS = /\s(?<=\?[?!"')\]]*\s)|$(?<=\?[?!"')\]]*)/;

/** Whether a message asks a question; reports separate questions and statements. */
export function classifyQuery(text: string): 'question' | 'statement' {
  return ASKS.test(text) ? 'question' : 'statement';
}
