/** Asks for the conversion of a stored request once more. */
import type { CommandContext } from '../actors/system.ts';
import { UnencryptedText } from '../documents/encryption.ts';
import { RequestFacts } from '../domain/event-fields.ts';
import type { EventOf } from '../domain/events.ts';
import {
  type AcceptanceDependencies,
  type AcceptedConversion,
  requestConversion,
} from './request-conversion.ts';
import { readStoredRequest } from './stored-request.ts';

/** What the first conversion is told apart by: the new one has its own. */
const NOT_REPEATED: ReadonlySet<string> = new Set(['retryOf', 'rerenderOf', 'batchId']);

/** What the caller said of the conversion beside its content. Its texts stay sealed: they are the same account's. */
function repeatedFacts(requested: EventOf<'ConversionRequested'>['data']): RequestFacts {
  const names = Object.keys(RequestFacts.properties).filter((name) => !NOT_REPEATED.has(name));
  const all = requested as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.flatMap((name) => (name in all ? [[name, all[name]]] : [])));
}

/**
 * Accepts a new conversion of the same request, which is decrypted and stored for it.
 * @param requested of the conversion that has ended
 * @param as what the new one is to that: once more, or to be compared with its PDF
 * @throws {BlobNotFound} the request is deleted
 * @throws {BlobStoreUnavailable} it is damaged
 * @throws {ServiceError} `insufficient_credits`, `service_unavailable`
 * @throws {KeyErased} the account was erased
 */
export async function retryConversion(
  deps: AcceptanceDependencies,
  requested: EventOf<'ConversionRequested'>['data'],
  as: 'retryOf' | 'rerenderOf',
  how: { readonly idempotencyKey?: string; readonly trace?: string | undefined },
  context: CommandContext,
): Promise<AcceptedConversion> {
  const { accountId, conversionId, source, options } = requested;
  const content = await readStoredRequest(deps, requested);
  const request = {
    accountId,
    source,
    options,
    facts: { ...repeatedFacts(requested), [as]: conversionId },
    document: new UnencryptedText(content.toString('utf8')),
    ...how,
  };
  return await requestConversion(deps, request, context);
}
