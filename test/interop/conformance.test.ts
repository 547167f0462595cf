/** What a PDF claims to be, checked by veraPDF and Mustang: documents of the corpus, and the invoice of examples/. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import tap, { test } from 'tap';
import { INVOICE_PROFILES, type InvoiceProfile } from '../../src/domain/invoice-profiles.ts';
import type {
  Conformance,
  PdfRequest,
  RequestDocument,
} from '../../src/domain/request-document.ts';
import { digestAround, fillSignature } from '../../src/pdf/signature.ts';
import { issueOfInvoice } from '../../src/requests/invoice.ts';
import { signDigest } from '../../src/signing/cms.ts';
import { openPkcs12 } from '../../src/signing/identity.ts';
import { BUSINESS } from '../renderer/corpus/business.ts';
import { CONTENT } from '../renderer/corpus/content.ts';
import { LAYOUT } from '../renderer/corpus/layout.ts';
import { PAGED } from '../renderer/corpus/paged.ts';
import { SCRIPTED } from '../renderer/corpus/scripted.ts';
import { makeSigner, P12_PASSWORD } from '../support/certificates.ts';
import { lacks } from '../support/lacks.ts';
import { openPdf } from '../support/pdf.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { accountId } from '../support/samples.ts';
import { JPEG, png } from '../support/tiny-images.ts';

const TOOLS = join(import.meta.dirname, '../pdf-tools');
const EXAMPLE = join(import.meta.dirname, '../../samples/e-invoice');
const CORPUS = [...BUSINESS, ...PAGED, ...LAYOUT, ...CONTENT, ...SCRIPTED];
/** More than a hundred of them: a test file has so much time. */
const DOCUMENTS = CORPUS.filter((_, n) => n % 5 < 3);
/** By conformance: veraPDF's name of it. */
const FLAVOURS = {
  'pdfa-2b': '2b',
  'pdfa-2u': '2u',
  'pdfa-3b': '3b',
  'pdfa-3u': '3u',
  'pdfa-3a': '3a',
  'pdfua-1': 'ua1',
} as const;

const classes = (tool: string) => ['-cp', join(TOOLS, tool, 'lib', '*')] as const;
const VERAPDF = 'org.verapdf.apps.GreenfieldCliWrapper';
const CHECK = join(TOOLS, 'mustang/Check.java');

const noVeraPdf = lacks('veraPDF', ['java', ...classes('verapdf'), VERAPDF, '--version']);
const noMustang = lacks('Mustang', ['java', ...classes('mustang'), CHECK]);

/** @throws what the program said, unless its status is 0 */
async function java(tool: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('java', [...classes(tool), ...args], {
    maxBuffer: 2 ** 28,
    timeout: 400_000,
  });
  return stdout;
}

interface Report {
  readonly report: {
    readonly jobs: readonly {
      readonly itemDetails: { readonly name: string };
      readonly validationResult?: readonly { readonly compliant: boolean }[];
    }[];
  };
}

/** Has veraPDF check files, and names those that are not what they claim. */
async function faulty(flavour: string, files: readonly string[]): Promise<readonly string[]> {
  const said = await java('verapdf', VERAPDF, '--format', 'json', '-f', flavour, ...files).catch(
    // Its status is 1 where one is not valid.
    (error: unknown) => String(Reflect.get(Object(error), 'stdout')),
  );
  const { jobs } = (JSON.parse(said) as Report).report;
  if (jobs.length !== files.length) throw new Error(`veraPDF looked at ${jobs.length} files`);
  return jobs
    .filter(({ validationResult }) => validationResult?.[0]?.compliant !== true)
    .map(({ itemDetails }) => itemDetails.name);
}

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());
const account = accountId();

/** Prints documents as what each can be of what is asked for, and returns the files by what they claim. */
async function print(
  folder: string,
  documents: typeof DOCUMENTS,
  conformance: readonly Conformance[],
  { verify_url, ...work }: PdfRequest & Pick<RequestDocument, 'verify_url'> = {},
): Promise<ReadonlyMap<Conformance, readonly string[]>> {
  mkdirSync(folder, { recursive: true });
  const claims = new Map<Conformance, string[]>(conformance.map((each) => [each, []]));
  for (const [n, { html, frame, options }] of documents.entries()) {
    const pdf = { ...work, conformance, conformance_required: false };
    const request = { html, ...frame, ...(verify_url && { verify_url }), pdf };
    const made = { print_background: true, ...options, tagged: true };
    const result = await renderer.render(request, made, 60_000, account);
    if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
    const path = join(folder, `${n}.pdf`);
    writeFileSync(path, await readFile(result.path));
    await rm(result.path);
    for (const claim of result.conformance ?? []) claims.get(claim)?.push(path);
  }
  return claims;
}

void test('veraPDF agrees with every claim', { skip: noVeraPdf }, async (t) => {
  const folder = t.testdir();
  const few = DOCUMENTS.filter((_, n) => n % 14 === 0);
  const rounds: readonly (readonly [Conformance[], typeof DOCUMENTS, number])[] = [
    [['pdfa-3u', 'pdfua-1'], DOCUMENTS, 70],
    [['pdfa-2b'], few, 8],
    [['pdfa-2u'], few, 8],
    [['pdfa-3b'], few, 8],
    [['pdfa-3a'], few, 5],
  ];
  for (const [asked, documents, least] of rounds) {
    const claims = await print(join(folder, asked.join('-')), documents, asked);
    for (const [claim, files] of claims) {
      t.ok(files.length >= least, `${files.length} of ${documents.length} claim ${claim}`);
      t.strictSame(await faulty(FLAVOURS[claim], files), [], `and are ${claim}`);
    }
  }
});

const contentOf = (uri: string): string => uri.replace(/^data:[^,]*,/, '');
const DRAFT = '<p style="font: 40pt serif; color: red; rotate: -30deg">Draft</p>';

/** Work on printed PDFs that leaves their tags. */
const WORK: readonly (readonly [string, PdfRequest])[] = [
  ['turned', { rotate: 270 }],
  ['stamped by HTML', { stamp: { html: DRAFT, opacity: 0.3 } }],
  ['stamped by a PNG', { stamp: { image: contentOf(png(9, 9, [200, 0, 0])), pages: '1' } }],
  ['turned, stamped by a JPEG', { rotate: 90, stamp: { image: contentOf(JPEG), opacity: 0.5 } }],
];

void test('a PDF that is worked on is still what it claims', {
  skip: noVeraPdf,
}, async (t) => {
  const folder = t.testdir();
  const few = DOCUMENTS.filter((_, n) => n % 20 === 0);
  const all = new Map<Conformance, string[]>();
  for (const [what, work] of WORK) {
    for (const asked of [['pdfa-3a', 'pdfua-1'], ['pdfa-2b']] as const) {
      const claims = await print(join(folder, `${what}, ${asked[0]}`), few, asked, work);
      for (const [claim, files] of claims) {
        t.ok(files.length >= 3, `${files.length} of ${few.length}, ${what}, claim ${claim}`);
        all.set(claim, [...(all.get(claim) ?? []), ...files]);
      }
    }
  }
  for (const [claim, files] of all) t.strictSame(await faulty(FLAVOURS[claim], files), [], claim);
});

void test('a PDF with a link to its public check is still what it claims', {
  skip: noVeraPdf,
}, async (t) => {
  const folder = t.testdir();
  // The link needs room in the bottom margin.
  const few = DOCUMENTS.filter(({ options }, n) => n % 20 === 0 && !options?.margin_bottom);
  const verify_url = 'https://pdf.example.com/verify';
  for (const asked of [['pdfa-3u', 'pdfua-1'], ['pdfa-2b']] as const) {
    const claims = await print(join(folder, asked[0]), few, asked, { verify_url });
    for (const [claim, files] of claims) {
      t.ok(files.length >= 3, `${files.length} of ${few.length} claim ${claim}`);
      for (const file of files) {
        const { pages } = await openPdf(readFileSync(file));
        const shown = pages.every(({ text }) => text.includes(verify_url));
        t.ok(shown, 'each page shows the address');
      }
      t.strictSame(await faulty(FLAVOURS[claim], files), [], `and are ${claim}`);
    }
  }
});

void test('a signed PDF is still what it claims', { skip: noVeraPdf }, async (t) => {
  const folder = t.testdir();
  const { p12 } = makeSigner(t);
  const identity = await openPkcs12(p12, P12_PASSWORD);
  const files: string[] = [];
  let visible = 0;
  for (const [n, { html, frame }] of DOCUMENTS.slice(0, 6).entries()) {
    const conformance = ['pdfa-3u', 'pdfua-1'] as const;
    const place = { x: '20mm', y: '10mm', width: '90mm', height: '20mm' };
    const sign = { reason: 'Approved', location: 'Köln', ...(n % 2 === 0 && { field: place }) };
    const pdf = { conformance, conformance_required: false, sign };
    const options = { print_background: true };
    const signer = 'Ada Lovelace 社 שלום';
    const request = { html, ...frame, pdf };
    const result = await renderer.render(request, options, 60_000, account, signer);
    if (result.kind !== 'completed' || result.signature === undefined) throw new Error(result.kind);
    if (result.conformance?.length !== 2) continue;
    const content = await readFile(result.path);
    const cms = await signDigest(identity, digestAround(content, result.signature));
    fillSignature(content, result.signature, cms);
    visible += result.signature.signer === undefined ? 0 : 1;
    files.push(join(folder, `${n}.pdf`));
    writeFileSync(files.at(-1) ?? '', content);
  }
  t.ok(files.length >= 3);
  t.ok(visible >= 2, `${visible} are seen`);
  for (const flavour of ['3u', 'ua1']) t.strictSame(await faulty(flavour, files), [], flavour);
});

void test('an electronic invoice is valid', { skip: noMustang }, async (t) => {
  const folder = t.testdir();
  const html = readFileSync(join(EXAMPLE, 'page.html'), 'utf8');
  await java('mustang', join(TOOLS, 'mustang/Invoices.java'), folder);
  const profiles = Object.keys(INVOICE_PROFILES) as InvoiceProfile[];
  const invoices = [
    { profile: 'EN 16931' as const, xml: readFileSync(join(EXAMPLE, 'invoice.xml')) },
    ...profiles.map((profile) => ({ profile, xml: readFileSync(join(folder, `${profile}.xml`)) })),
  ];
  const paths: string[] = [];
  for (const [n, { profile, xml }] of invoices.entries()) {
    t.equal(issueOfInvoice(xml, profile), undefined, `${profile} is taken`);
    const invoice = { xml: xml.toString('base64'), profile };
    const pdf = { conformance: ['pdfa-3b', 'pdfua-1'] as const, invoice };
    const bytes = await renderer.bytes({ html, pdf }, { print_background: true }, account);
    const path = join(folder, `${n}.pdf`);
    writeFileSync(path, bytes);
    paths.push(path);
  }
  const said = await java('mustang', CHECK, ...paths);
  const valid = said.match(/<summary status="valid"\/>\s*<\/validation>/g);
  t.equal(valid?.length, invoices.length, 'Mustang says so of each');
  for (const guideline of ['minimum', 'basicwl', 'basic', 'extended', 'xrechnung_3.0']) {
    t.match(said, `:${guideline}<`);
  }
});
