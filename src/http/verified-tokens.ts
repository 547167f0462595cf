/** Access tokens whose signature was found good: what they say holds until they expire. */
import { hash } from 'node:crypto';

/** Some 300 bytes each. */
const MOST = 10_000;

/** Remembers what a check found, under the SHA-256 of what was checked, until that expires. */
export class VerifiedTokens<Claims extends { readonly expiresAt: number }> {
  readonly #claims = new Map<string, Claims>();

  /** @param check undefined: not valid, which is not remembered */
  async verify(
    token: string,
    now: number,
    check: () => Promise<Claims | undefined>,
  ): Promise<Claims | undefined> {
    const digest = hash('sha256', token, 'base64');
    const known = this.#claims.get(digest);
    if (known !== undefined && now < known.expiresAt) return known;
    const found = await check();
    if (found !== undefined) this.#remember(digest, found);
    else this.#claims.delete(digest);
    return found;
  }

  #remember(digest: string, claims: Claims): void {
    this.#claims.set(digest, claims);
    if (this.#claims.size <= MOST) return;
    const [oldest] = this.#claims.keys();
    if (oldest !== undefined) this.#claims.delete(oldest);
  }
}
