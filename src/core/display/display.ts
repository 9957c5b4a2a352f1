/**
 * How a value shows itself in a notebook. Deno's kernel calls the method with this symbol and sends the result to the front end, which shows the richest
 * representation that it knows. The method is not enumerable: JSON, copies and comparisons of a result do not see it.
 */
export const DISPLAY: unique symbol = Symbol.for('Jupyter.display');

/** One value in several representations, by MIME type. */
export interface MimeBundle {
  readonly 'text/plain': string;
  readonly 'text/html'?: string;
  readonly 'image/svg+xml'?: string;
  /** A figure for Plotly: `data` and `layout`. */
  readonly 'application/vnd.plotly.v1+json'?: object;
}

/** A value with a representation of its own in notebooks. */
export interface Displayable {
  [DISPLAY](): MimeBundle | Promise<MimeBundle>;
}

/**
 * Adds the method of {@link DISPLAY} to a result, out of sight of JSON and of comparisons.
 *
 * @param display called when a notebook shows the value, and not before.
 * @returns the same object.
 */
export function attachDisplay<T extends object>(value: T, display: (value: T) => MimeBundle | Promise<MimeBundle>): T {
  return Object.defineProperty(value, DISPLAY, { value: () => display(value), configurable: true, writable: true });
}

/** What a notebook shows of several displays, one below the other. */
export function joinBundles(bundles: readonly MimeBundle[]): MimeBundle {
  const [first] = bundles;
  if (first !== undefined && bundles.length === 1) return first;
  const list = (type: 'text/plain' | 'text/html') => bundles.map((bundle) => bundle[type] ?? '').filter(Boolean);
  return { 'text/plain': list('text/plain').join('\n\n'), 'text/html': list('text/html').join('\n') };
}
