/** Checks the XML of an electronic invoice: well-formed, without what expands or loads, and of the profile it is said to be. */
import { SaxesParser } from 'saxes';
import { INVOICE_PROFILES, type InvoiceProfile } from '../domain/invoice-profiles.ts';

const ROOT = 'CrossIndustryInvoice';
const UBL = 'urn:oasis:names:specification:ubl:schema:xsd:';
const NAMESPACE = 'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100';
/** The place of the guideline, by the local names of the elements. */
const GUIDELINE = `${ROOT}/ExchangedDocumentContext/GuidelineSpecifiedDocumentContextParameter/ID`;
/** No invoice has elements so deeply within each other. */
const MAX_DEPTH = 100;
const MAX_SHOWN = 200;

class InvoiceIssue extends Error {
  override readonly name = 'InvoiceIssue';
}

interface Seen {
  readonly root: string;
  readonly namespace: string;
  readonly guideline: string;
}

const refuse = (issue: string): never => {
  throw new InvoiceIssue(issue);
};

/** @throws {InvoiceIssue} */
function readInvoice(text: string): Seen {
  const parser = new SaxesParser<{ xmlns: true }>({ xmlns: true });
  const path: string[] = [];
  let [root, namespace, guideline] = ['', '', ''];
  parser.on('error', ({ message }) =>
    refuse(`Must be well-formed XML: ${message.replace(/\.$/, '')}.`),
  );
  parser.on('xmldecl', ({ encoding = 'utf-8' }) => {
    const isAscii = /^(us-)?ascii$/i.test(encoding);
    if (isAscii && /[^\0-\x7f]/.test(text)) refuse(`Says that it is in ${encoding}, and is not.`);
    if (!isAscii && !/^utf-8$/i.test(encoding)) {
      refuse(`Must be in UTF-8, and say so: its declaration says ${shown(encoding)}.`);
    }
  });
  parser.on('doctype', () =>
    refuse('Must not have a document type: entities could be defined in it.'),
  );
  parser.on('opentag', (tag) => {
    path.push(tag.local);
    if (path.length > MAX_DEPTH) refuse('Its elements lie within each other too deeply.');
    if (path.length === 1) [root, namespace] = [tag.local, tag.uri];
  });
  parser.on('closetag', () => {
    path.pop();
  });
  const hear = (part: string): void => {
    if (path.length === 4 && path.join('/') === GUIDELINE) guideline += part;
  };
  parser.on('text', hear);
  parser.on('cdata', hear);
  parser.write(text).close();
  return { root, namespace, guideline: guideline.trim() };
}

const profileOf = (guideline: string): string | undefined =>
  Object.entries(INVOICE_PROFILES).find(([, { guidelines }]) =>
    guidelines.some((each) => each === guideline),
  )?.[0];

const shown = (text: string): string => text.slice(0, MAX_SHOWN).toWellFormed();

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @returns what is wrong with the XML, if anything is */
export function issueOfInvoice(content: Buffer, profile: InvoiceProfile): string | undefined {
  let text: string;
  try {
    text = utf8.decode(content);
  } catch {
    return 'Must be in UTF-8.';
  }
  if (/^\s+<\?xml\b/.test(text)) {
    return 'Must begin with its XML declaration: remove the white space before <?xml.';
  }
  try {
    const { root, namespace, guideline } = readInvoice(text);
    if (namespace.startsWith(UBL)) {
      return 'Is in UBL. Factur-X, ZUGFeRD and XRechnung in a PDF need UN/CEFACT CII: convert it, or send it in attachments.';
    }
    if (root !== ROOT || namespace !== NAMESPACE) {
      return `Must be a ${ROOT} of ${NAMESPACE} (UN/CEFACT CII).`;
    }
    const named = profileOf(guideline);
    if (named === profile) return undefined;
    if (named !== undefined) {
      return `Names the guideline ${shown(guideline)}, which is that of the profile ${named}.`;
    }
    return guideline === ''
      ? 'Names no guideline: its profile is not known.'
      : `Names the guideline ${shown(guideline)}, which is not that of the profile ${profile}.`;
  } catch (error) {
    if (error instanceof InvoiceIssue) return error.message;
    throw error;
  }
}
