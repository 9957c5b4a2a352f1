import { letEventsIn } from '../core/event-loop.ts';
import type { StartProgress } from '../core/progress.ts';
import { countComponentsOf } from '../trajectory/complexity.ts';

/** Texts between two looks at the event loop, about 0.1 s. */
const AT_ONCE = 100;

/** The number of semantic components of each text. */
export async function textComponents(texts: readonly string[], progress: StartProgress): Promise<Int32Array> {
  const stage = progress('trajectory', texts.length);
  const components = new Int32Array(texts.length);
  for (let start = 0; start < texts.length; start += AT_ONCE) {
    components.set(countComponentsOf(texts.slice(start, start + AT_ONCE)), start);
    stage.update(start);
    await letEventsIn();
  }
  stage.finish(`${texts.length} texts`);
  return components;
}
