/** How long a request for messages stays at the server. */
export const PULL_MS = 5000;
/** By then the server has ended a request, or the request is lost, and its consumer, maybe. */
const LOST_MS = PULL_MS + 2000;

/** What was asked for, and how much of it may still come. */
export class Pulls {
  /** Not long ago, by token. */
  readonly #sent = new Map<string, { readonly batch: number; readonly at: number }>();
  #tokens = 0;
  #asked = 0;

  /** How many messages may still come. */
  get asked(): number {
    return this.#asked;
  }

  /** @returns what tells this request from the others */
  ask(batch: number): string {
    this.#tokens += 1;
    const token = String(this.#tokens);
    this.#asked += batch;
    this.#sent.set(token, { batch, at: performance.now() });
    return token;
  }

  /** A message: it comes under the subject that it was published on, so of which request is not told. */
  came(): void {
    this.#asked = Math.max(0, this.#asked - 1);
  }

  /** @param left how many that request still waited for; default: all of them */
  ended(token: string, left = this.#sent.get(token)?.batch ?? 0): void {
    this.#sent.delete(token);
    this.#asked = Math.max(0, this.#asked - left);
  }

  /** Whether more is awaited than can still come. */
  areLost(): boolean {
    const since = performance.now() - LOST_MS;
    let mayCome = 0;
    for (const [token, { at, batch }] of this.#sent) {
      if (at < since) this.#sent.delete(token);
      else mayCome += batch;
    }
    return this.#asked > mayCome;
  }
}
