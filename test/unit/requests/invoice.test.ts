/** Checks of the XML of an invoice: what is taken, and the words for what is not. */
import { test } from 'tap';
import { issueOfInvoice } from '../../../src/requests/invoice.ts';

const NAMESPACE = 'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100';
const GUIDELINE = 'urn:cen.eu:en16931:2017';

const invoice = (id: string, declaration = '<?xml version="1.0" encoding="UTF-8"?>'): Buffer =>
  Buffer.from(
    `${declaration}<r:CrossIndustryInvoice xmlns:r="${NAMESPACE}" xmlns:a="urn:a"><a:ExchangedDocumentContext>` +
      `<a:GuidelineSpecifiedDocumentContextParameter><a:ID>${id}</a:ID></a:GuidelineSpecifiedDocumentContextParameter>` +
      '</a:ExchangedDocumentContext></r:CrossIndustryInvoice>',
  );
const issue = (content: Buffer): string | undefined => issueOfInvoice(content, 'EN 16931');

void test('the guideline is found in each way that XML has to write it', (t) => {
  for (const id of [
    GUIDELINE,
    ` ${GUIDELINE}\n`,
    `<![CDATA[${GUIDELINE}]]>`,
    'urn:cen.eu:<![CDATA[en16931]]>:2017',
    'urn:cen.eu:en&#49;6931:2017',
    `<!-- which? -->${GUIDELINE}`,
  ]) {
    t.equal(issue(invoice(id)), undefined, id);
  }
  t.end();
});

void test('each refusal says what is wrong', (t) => {
  const ascii = '<?xml version="1.0" encoding="US-ASCII"?>';
  t.equal(issue(invoice(GUIDELINE, ascii)), undefined, 'ASCII is UTF-8, too');
  t.equal(issue(invoice(GUIDELINE, '')), undefined, 'no declaration says UTF-8');
  t.equal(
    issue(invoice(`<!-- ä -->${GUIDELINE}`, ascii)),
    'Says that it is in US-ASCII, and is not.',
  );
  t.equal(
    issue(invoice(GUIDELINE, ascii.replace('US-ASCII', 'ISO-8859-1'))),
    'Must be in UTF-8, and say so: its declaration says ISO-8859-1.',
  );
  t.equal(
    issue(Buffer.concat([Buffer.from('\n'), invoice(GUIDELINE)])),
    'Must begin with its XML declaration: remove the white space before <?xml.',
  );
  for (const broken of ['<', 'text', '<a></b>', '<a><?xml version="1.0"?></a>']) {
    const said = issue(Buffer.from(broken));
    t.match(said, /^Must be well-formed XML: [^]*[^.]\.$/, broken);
  }
  for (const root of ['Invoice', 'CreditNote']) {
    const ubl = `<${root} xmlns="urn:oasis:names:specification:ubl:schema:xsd:${root}-2"/>`;
    t.match(issue(Buffer.from(ubl)), /^Is in UBL\. .*: convert it, or send it in attachments\.$/);
  }
  t.end();
});
