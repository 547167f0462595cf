/** Hashes of what came encrypted, past the proxy's eyes: Chrome is asked for the bodies. */
import { createHash } from 'node:crypto';
import { unlessLate } from './deadline.ts';
import type { LoggedResource } from './resource-log.ts';
import type { Tab } from './tab.ts';

/** Decoded bytes of one body, and of all. Every body crosses the DevTools pipe as text once more. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const MAX_BYTES = 32 * 1024 * 1024;
const CAP_MS = 1_500;

export class BodyHashes {
  readonly #tab: Tab;
  readonly #asked: Promise<void>[] = [];
  #budget = MAX_BYTES;

  constructor(tab: Tab) {
    this.#tab = tab;
  }

  /** At once: bodies go with the document or worker that they are of. */
  ask(resource: LoggedResource): void {
    const { url, bytes } = resource;
    if (!/^https:/i.test(url) || bytes > MAX_BODY_BYTES || bytes > this.#budget) return;
    this.#budget -= bytes;
    // What Chrome no longer holds stays without a hash.
    this.#asked.push(this.#hash(resource).catch(() => {}));
  }

  /** Resolves when all are there, or have taken too long. */
  async settled(): Promise<void> {
    await unlessLate(Promise.all(this.#asked), CAP_MS);
  }

  async #hash(resource: LoggedResource): Promise<void> {
    const { requestId, session } = resource;
    const { body, base64Encoded } = await this.#tab.sendTo(session, 'Network.getResponseBody', {
      requestId,
    });
    const content = Buffer.from(body, base64Encoded ? 'base64' : 'utf8');
    resource.body = {
      sha256: createHash('sha256').update(content).digest('hex'),
      hashed: base64Encoded ? 'decoded' : 'text',
      bytes: content.length,
    };
  }
}
