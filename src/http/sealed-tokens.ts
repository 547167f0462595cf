/** Short-lived texts that clients keep for the service and can neither read nor change: encrypted JWTs. */
import { EncryptJWT, jwtDecrypt } from 'jose';
import type { Clock } from '../time/clock.ts';

export interface SealedTokens {
  /** @param expiresAt milliseconds since the epoch */
  seal(
    purpose: string,
    content: Readonly<Record<string, unknown>>,
    expiresAt: number,
  ): Promise<string>;
  /** Undefined unless the text is ours, for this purpose and not expired. Never throws. */
  open(purpose: string, text: string): Promise<Readonly<Record<string, unknown>> | undefined>;
}

const ALGORITHMS = { alg: 'dir', enc: 'A256GCM' } as const;

/**
 * @param key 32 bytes
 * @param issuer names the deployment: texts of another one with the same key are refused
 */
export function createSealedTokens(key: Buffer, issuer: string, clock: Clock): SealedTokens {
  return {
    seal: (purpose, content, expiresAt) =>
      new EncryptJWT({ content })
        .setProtectedHeader(ALGORITHMS)
        .setIssuer(issuer)
        .setAudience(purpose)
        .setExpirationTime(new Date(expiresAt))
        .encrypt(key),
    async open(purpose, text) {
      try {
        const { payload } = await jwtDecrypt<{ content?: Record<string, unknown> }>(text, key, {
          keyManagementAlgorithms: [ALGORITHMS.alg],
          contentEncryptionAlgorithms: [ALGORITHMS.enc],
          issuer,
          audience: purpose,
          currentDate: new Date(clock.now()),
          requiredClaims: ['exp'],
        });
        return payload.content;
      } catch {
        return undefined;
      }
    },
  };
}
