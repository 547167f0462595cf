/** Asks for the conversion of a stored request once more. */
import type { CommandContext } from '../actors/system.ts';
import { UnencryptedText } from '../documents/encryption.ts';
import type { KeyTerms } from '../domain/acceptance.ts';
import type { RequestFacts } from '../domain/event-fields.ts';
import type { EventOf } from '../domain/events.ts';
import type { RequestDocument } from '../domain/request-document.ts';
import {
  type AcceptanceDependencies,
  type AcceptedConversion,
  requestConversion,
} from './request-conversion.ts';

/**
 * Accepts a new conversion of the same request, which is stored for it.
 * @param requested of the conversion that has ended
 * @param again its facts and its document, as the rules of now have them
 * @param as what the new one is to that: once more, or to be compared with its PDF
 * @throws {ServiceError} `insufficient_credits`, `service_unavailable`
 * @throws {KeyErased} the account was erased
 */
export async function retryConversion(
  deps: AcceptanceDependencies,
  requested: EventOf<'ConversionRequested'>['data'],
  again: { readonly facts: RequestFacts; readonly document: RequestDocument },
  as: 'retryOf' | 'rerenderOf',
  how: {
    readonly idempotencyKey?: string;
    readonly terms: KeyTerms;
    readonly trace?: string | undefined;
  },
  context: CommandContext,
): Promise<AcceptedConversion> {
  const { accountId, conversionId, source, options, isTest } = requested;
  const request = {
    accountId,
    source,
    options,
    facts: { ...again.facts, [as]: conversionId },
    document: new UnencryptedText(JSON.stringify(again.document)),
    ...how,
    // What repeats a test is one.
    terms: { ...how.terms, isTest: (how.terms.isTest ?? false) || isTest === true },
  };
  return await requestConversion(deps, request, context);
}
