/** Checks of the XML of an invoice: what is taken, and the words for what is not. */
import { readFile } from 'node:fs/promises';
import { test } from 'tap';
import { issueOfInvoice } from '../../../src/requests/invoice.ts';

const NAMESPACE = 'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100';
const GUIDELINE = 'urn:cen.eu:en16931:2017';
const SAMPLE = new URL('../../../samples/e-invoice/invoice.xml', import.meta.url);
const GUIDE = new URL('../../../docs/documents.md', import.meta.url);

const invoice = (id: string, declaration = '<?xml version="1.0" encoding="UTF-8"?>'): Buffer =>
  Buffer.from(
    `${declaration}<r:CrossIndustryInvoice xmlns:r="${NAMESPACE}" xmlns:a="urn:a"><a:ExchangedDocumentContext>` +
      `<a:GuidelineSpecifiedDocumentContextParameter><a:ID>${id}</a:ID></a:GuidelineSpecifiedDocumentContextParameter>` +
      '</a:ExchangedDocumentContext></r:CrossIndustryInvoice>',
  );
const deep = (levels: number): Buffer => {
  const within = '<a:b>'.repeat(levels - 1) + '</a:b>'.repeat(levels - 1);
  return Buffer.from(invoice(GUIDELINE).toString().replace('</r:', `${within}</r:`));
};
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

void test('elements are at most 100 levels deep', (t) => {
  t.equal(issue(deep(100)), undefined);
  t.equal(issue(deep(101)), 'Its elements lie within each other too deeply.');
  t.end();
});

void test('the schema of the profile is not checked, as the guide says', async (t) => {
  const sample = await readFile(SAMPLE, 'utf8');
  const broken = {
    'a missing element': sample.replace('<ram:TypeCode>380</ram:TypeCode>', ''),
    'a misplaced element': sample.replace(/(<ram:ID>4711<\/ram:ID>)(\s*)(.*)/, '$3$2$1'),
    'a value of the wrong type': sample.replace('80.00', 'eighty'),
  };
  for (const [what, xml] of Object.entries({ ...broken, nothing: sample })) {
    t.equal(xml === sample, what === 'nothing', `the XML has ${what}`);
    t.equal(issue(Buffer.from(xml)), undefined, `${what} is taken`);
  }
  const guide = await readFile(GUIDE, 'utf8');
  t.match(
    guide,
    /not checked \| the XML schema of the profile: elements that are missing, unknown or in the wrong place/,
  );
});
