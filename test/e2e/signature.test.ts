import { createHash, X509Certificate } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import type { PdfOptions } from '../../client/src/conversion-options.ts';
import type { Conversion } from '../../client/src/types.ts';
import { verifyEvidence } from '../../verifier/verify-evidence.mjs';
import { makeSigner, P12_PASSWORD } from '../support/certificates.ts';
import { runCli } from '../support/cli.ts';
import { readLog } from '../support/invariants.ts';
import { openPdf } from '../support/pdf.ts';
import { type Service, startService } from '../support/service.ts';
import { pdfOfObjects } from '../support/written-pdf.ts';
import { pdfsig, verifySignature } from '../support/signed-pdf.ts';
import { startTimestampAuthority } from '../support/timestamp-authority.ts';

const HTML =
  '<!doctype html><html lang=en><title>Contract</title><h1>Contract</h1><p>Signed. <a href="https://example.com/">A link</a>';
const FIELD = { x: '120mm', y: '250mm', width: '70mm', height: '20mm' };
const VALID = /Signature is Valid/;

const convert = async (service: Service, pdf: PdfOptions): Promise<Conversion> => {
  const client = service.client();
  return await client.wait((await client.create({ html: HTML, pdf })).id);
};
const fileOf = async (service: Service, record: Conversion): Promise<Buffer> =>
  await buffer(await service.client().download(record));
const completed = ({ place }: Service) =>
  readLog(place.dataDir).filter(({ type }) => type === 'ConversionCompleted');

void test('PDFs are signed with the certificate of their account, or that of the service', async (t) => {
  const [own, seal] = [makeSigner(t, { key: 'rsa2048' }), makeSigner(t)];
  const { directory } = own;
  const sealPath = join(directory, 'seal.p12');
  writeFileSync(sealPath, seal.p12);
  const service = await startService(t, {
    RATE_LIMIT_PRO: '100000',
    SEAL_P12: sealPath,
    SEAL_P12_PASSWORD: P12_PASSWORD,
  });

  const sealed = await convert(service, { sign: true });
  t.match(sealed, { status: 'completed' });
  const pdf = await fileOf(service, sealed);
  t.equal(createHash('sha256').update(pdf).digest('hex'), sealed.sha256, 'the log proves it');
  verifySignature(pdf, seal.authority, directory);
  t.match(pdfsig(pdf, directory), VALID);
  t.match(pdfsig(pdf, directory), /Total document signed/);
  t.match(pdfsig(pdf, directory), /ETSI\.CAdES\.detached/);
  t.match((await openPdf(pdf)).text, /Signed\./);
  const { fingerprint256 } = new X509Certificate(readFileSync(join(seal.directory, 'own.pem')));
  const certificate = fingerprint256.replaceAll(':', '').toLowerCase();
  t.strictSame(sealed.pdf, { signature: { level: 'B-B', certificate } });
  const { items } = await service.client().listConversions();
  t.strictSame(items[0]?.pdf, sealed.pdf, 'the list says it too');
  const told = JSON.stringify({ signature: { level: 'B-B', certificate } }).slice(1, -1);
  t.match(completed(service)[0]?.data, told);

  await service.client().signature.set(own.p12, P12_PASSWORD);
  const plans: readonly PdfOptions[] = [
    { sign: { reason: 'Approved (§ 5)', location: 'Köln' } },
    { sign: { location: 'Köln', field: FIELD }, optimize: true },
    { sign: true, conformance: ['pdfa-3u', 'pdfua-1'] },
    { sign: true, encrypt: { user_password: 'open' }, optimize: true },
    { sign: true, optimize: true, rotate: 90 },
  ];
  const records: string[] = [];
  for (const plan of plans) {
    const record = await convert(service, plan);
    records.push(record.id);
    const what = JSON.stringify(plan);
    t.match(record, { status: 'completed', pdf: { signature: { level: 'B-B' } } }, what);
    t.strictSame(record.pdf?.conformance, plan.conformance, what);
    const file = await fileOf(service, record);
    verifySignature(file, own.authority, directory);
    const password = plan.encrypt === undefined ? [] : ['-upw', 'open'];
    t.match(pdfsig(file, directory, ...password), VALID, what);
    t.match(pdfsig(file, directory, ...password), /Total document signed/, what);
    if (typeof plan.sign === 'object' && plan.optimize !== true) {
      t.match(file.toString('latin1'), /\/Location <FEFF004B00F6006C006E>/);
    }
  }

  const logKey = (await (await fetch(`${service.url}/tlog/key`)).text()).trim();
  for (const id of [sealed.id, ...records]) {
    const headers = { 'X-API-Key': service.firstStart.apiKey };
    const bundle = await fetch(`${service.url}/api/v1/conversions/${id}/evidence/`, { headers });
    const zip = new Uint8Array(await bundle.arrayBuffer());
    t.match((await verifyEvidence(zip, [logKey])).proved, ['document.pdf'], 'its signature too');
  }
  const sealedPath = join(directory, 'sealed.pdf');
  writeFileSync(sealedPath, pdf);
  const asked = await runCli(service.place, ['verify-pdf', sealedPath]);
  t.match(
    asked.stdout,
    `  signed (PAdES B-B) by the certificate with the SHA-256 ${certificate}\n`,
  );

  const client = service.client();
  const again = await client.rerender(records[1] ?? '');
  t.strictSame((await client.wait(again.id)).rerender, { equal: false, pages: [] });
  const turned = [{ type: 'rotate', rotate: 90 }] as const;
  const { id } = await client.documents.create([{ conversion: sealed.id }], turned);
  const work = await client.wait(id);
  t.strictSame(work.warnings, [
    'The file was signed: its signature does not hold for the result, and was removed.',
  ]);
  t.notOk((await fileOf(service, work)).includes('/ByteRange'), 'no reader finds a signature');

  const form = '/AcroForm<</Fields[4 0 R]>>';
  const there = pdfOfObjects([
    `<</Type/Catalog/Pages 2 0 R${form}>>`,
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 1200 900]/Annots[4 0 R]>>',
    '<</Type/Annot/Subtype/Widget/FT/Tx/T(Signature)/V(Ada)/Rect[0 0 50 50]/P 3 0 R>>',
  ]);
  const sources = [{ file: there.toString('base64') }, { conversion: sealed.id }];
  for (const [sign, steps] of [
    [true, []],
    // Beyond A4, which is the size of other pages than this one.
    [{ reason: 'Seen', field: { ...FIELD, page: 1, x: '300mm' } }, [{ type: 'optimize' }]],
    [{ location: 'Köln' }, [...turned, { type: 'encrypt', user_password: 'open' }]],
  ] as const) {
    const accepted = await client.documents.create(sources, steps, { pdf: { sign } });
    const signed = await client.wait(accepted.id);
    t.match(signed, { status: 'completed', pdf: { signature: { level: 'B-B' } } });
    const file = await fileOf(service, signed);
    const password = steps.length > 1 ? ['-upw', 'open'] : [];
    t.match(pdfsig(file, directory, ...password), VALID);
    t.match(pdfsig(file, directory, ...password), /Total document signed/);
    const headers = { 'X-API-Key': service.firstStart.apiKey };
    const at = `${service.url}/api/v1/conversions/${accepted.id}/evidence/`;
    const zip = new Uint8Array(await (await fetch(at, { headers })).arrayBuffer());
    t.match((await verifyEvidence(zip, [logKey])).proved, ['document.pdf']);
    if (steps.length === 0)
      t.match(file.toString('latin1'), /\/T \(Signature 2\)/, 'a name of its own');
  }

  const changed = Buffer.from(pdf);
  changed[200] = (changed[200] ?? 0) ^ 1;
  t.throws(() => verifySignature(changed, seal.authority, directory), 'a changed byte is noticed');
});

void test('a timestamp is added, or there is no PDF', async (t) => {
  const authority = await startTimestampAuthority(t);
  const own = makeSigner(t);
  const service = await startService(t, { TSA_URL: authority.url, CHECKPOINT_SECONDS: '86400' });
  await service.client().signature.set(own.p12, P12_PASSWORD);
  const record = await convert(service, { sign: true });
  t.match(record, { status: 'completed', pdf: { signature: { level: 'B-T' } } });
  const pdf = await fileOf(service, record);
  const { cms } = verifySignature(pdf, own.authority, own.directory);
  t.ok(cms.includes(Buffer.from('060b2a864886f70d010910020e', 'hex')), 'it has a timestamp');
  t.match(pdfsig(pdf, own.directory), VALID);
  t.match(completed(service)[0]?.data, /"level":"B-T"/);

  authority.instead = (_, response) => void response.writeHead(503).end();
  t.match(await convert(service, { sign: true }), {
    status: 'failed',
    failure_code: 'not_signed',
    error_message: /^The PDF could not be signed, because the timestamp authority .* gave no/,
  });
});
