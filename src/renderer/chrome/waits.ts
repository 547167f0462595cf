/** The waits for a document: how long each took, for its manifest. */
import type { ManifestWait } from '../../domain/render-manifest.ts';

/** The waits for a document, and which of them were given up. */
export class Waits {
  readonly list: ManifestWait[] = [];

  note(what: ManifestWait['for'], ms: number, capped = false): void {
    this.list.push({ for: what, ms, ...(capped ? { capped } : {}) });
  }

  /** @param held tells by the result if the wait ended as it should; default: always */
  async measure<T>(
    what: ManifestWait['for'],
    wait: Promise<T>,
    held: (result: T) => boolean = () => true,
  ): Promise<T> {
    const started = performance.now();
    const result = await wait;
    this.note(what, performance.now() - started, !held(result));
    return result;
  }
}
