/** A question mark that ends a sentence; one inside an address such as `x.org/?id=7` does not. */
const ASKS = /\s(?<=\?[?!"')\]]*\s)|$(?<=\?[?!"')\]]*)/;

/** Whether a message asks something, to report questions and statements apart. */
export function queryKind(text: string): 'question' | 'statement' {
  return ASKS.test(text) ? 'question' : 'statement';
}
