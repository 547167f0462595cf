import type { EventOf } from '../../domain/events.ts';
import { Broken } from './difference.ts';
import type { Conversion, StreamState } from './states.ts';

/**
 * What a completed conversion says of equal bytes is what the hashes say.
 * @param compared the stream of the conversion that it was compared with
 * @throws {Broken}
 */
export function checkComparison(
  { accountId, pdf }: Conversion,
  { rerender }: EventOf<'ConversionCompleted'>['data'],
  compared: StreamState | undefined,
): void {
  if (rerender === undefined) return;
  const original = compared?.conversion;
  if (original?.pdf === undefined || original.accountId !== accountId) {
    throw new Broken('an earlier PDF of its account that it was compared with', 'none');
  }
  const isEqual = original.pdf === pdf;
  if (rerender.equal !== isEqual) {
    throw new Broken(`equal: ${isEqual}, by the hashes`, `equal: ${rerender.equal}`);
  }
}
