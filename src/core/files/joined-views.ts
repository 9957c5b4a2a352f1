/** Parts of fewer bytes are copied together: a call for each would cost more. */
const LEAST_PART = 2 ** 16;

/**
 * The bytes of arrays, one after the other, in few parts. Arrays that follow each other in one buffer are a view of it
 * if they have at least 64 KiB together; the rest is copied.
 */
export function joinViews(views: readonly ArrayBufferView[]): Uint8Array[] {
  const joined: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  const copySmall = () => {
    if (small.length > 0) joined.push(small.length === 1 ? (small[0] as Uint8Array) : Buffer.concat(small));
    small = [];
  };
  for (let i = 0; i < views.length; ) {
    const { buffer, byteOffset: start } = views[i] as ArrayBufferView;
    let end = start;
    for (; i < views.length; i++) {
      const next = views[i] as ArrayBufferView;
      if (next.buffer !== buffer || next.byteOffset !== end) break;
      end += next.byteLength;
    }
    const part = new Uint8Array(buffer, start, end - start);
    if (part.byteLength >= LEAST_PART) {
      copySmall();
      joined.push(part);
    } else small.push(part);
  }
  copySmall();
  return joined;
}
