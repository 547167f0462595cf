/** What a stored request has from the moment of its acceptance: the rules of now say it again. */
import { RequestFacts } from '../domain/event-fields.ts';
import type { RequestDocument } from '../domain/request-document.ts';
import { checkLinkOffered, checkSigner } from './pdf.ts';
import type { RequestRules } from './validate.ts';
import type { ValidationIssues } from './validation.ts';

/** The facts that `onceMore` says again, and those of the first conversion alone. */
const NOT_REPEATED: ReadonlySet<string> = new Set([
  'retryOf',
  'rerenderOf',
  'batchId',
  'signedBy',
  'retentionOfAccount',
]);

/** What the caller said of the conversion beside its content. Its texts stay sealed: they are the same account's. */
function repeatedFacts(requested: RequestFacts): RequestFacts {
  const names = Object.keys(RequestFacts.properties).filter((name) => {
    const isOfAccount = name === 'retentionSeconds' && requested.retentionOfAccount === true;
    return !NOT_REPEATED.has(name) && !isOfAccount;
  });
  const all = requested as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.flatMap((name) => (name in all ? [[name, all[name]]] : [])));
}

/**
 * The facts and the document of a request that is asked for once more. Adds to `issues` what does not allow it any more.
 * @param requested the facts of the first one
 */
export function onceMore(
  issues: ValidationIssues,
  requested: RequestFacts,
  { verify_url: link, ...document }: RequestDocument,
  { signing, verifyUrl }: Pick<RequestRules, 'signing' | 'verifyUrl'>,
): { readonly facts: RequestFacts; readonly document: RequestDocument } {
  const isSigned = requested.signedBy !== undefined;
  if (isSigned) checkSigner(issues, signing);
  if (link !== undefined) checkLinkOffered(issues, verifyUrl !== undefined);
  return {
    facts: {
      ...repeatedFacts(requested),
      ...(isSigned && signing?.by && { signedBy: signing.by }),
    },
    document: {
      ...document,
      ...(link !== undefined && verifyUrl !== undefined && { verify_url: verifyUrl }),
    },
  };
}
