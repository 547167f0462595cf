/**
 * What a signature adds to the processor time of a conversion, of the service and its Chromes: `signature.ts [ROUNDS]
 * [DOCUMENTS] [KINDS]`, where KINDS is how the names of some begin. In each round each kind of request converts the same
 * document so many times, one after the other, and the kinds take turns in being the first. Many short rounds even out
 * what else the machine does. The bar: a signature that no page shows adds at most 10 ms.
 */
import type { PdfOptions } from '../client/src/conversion-options.ts';
import { makeP12, P12_PASSWORD } from '../test/support/certificates.ts';
import { letter } from './documents.ts';
import { inTemporaryDirectory, median, percentile, print } from './measure.ts';
import { processorTime } from './processor-time.ts';
import { startService, untilCompleted } from './running-service.ts';

const BAR_MS = 10;
const CONFORMING = ['pdfa-3u', 'pdfua-1'] as const;
const FIELD = { x: '120mm', y: '250mm', width: '70mm', height: '20mm' };
const SIGN = { reason: 'Approved', location: 'Berlin' };

interface Kind {
  readonly name: string;
  readonly pdf: PdfOptions;
  /** The kind that it is compared with. */
  readonly without?: string;
}
const [rounds = '30', documents = '5', beginning = ''] = process.argv.slice(2);
const ALL: readonly Kind[] = [
  { name: 'plain', pdf: {} },
  { name: 'plain, signed', pdf: { sign: SIGN }, without: 'plain' },
  { name: 'plain, signed and seen', pdf: { sign: { ...SIGN, field: FIELD } }, without: 'plain' },
  { name: 'conforming', pdf: { conformance: [...CONFORMING] } },
  {
    name: 'conforming, signed',
    pdf: { conformance: [...CONFORMING], sign: SIGN },
    without: 'conforming',
  },
  {
    name: 'conforming, signed and seen',
    pdf: { conformance: [...CONFORMING], sign: { ...SIGN, field: FIELD } },
    without: 'conforming',
  },
];

const KINDS = ALL.filter(({ name }) => name.startsWith(beginning));
const signers = await Promise.all(
  (['p256', 'rsa2048'] as const).map(async (key) => {
    let p12: Buffer = Buffer.alloc(0);
    await inTemporaryDirectory(async (directory) => {
      p12 = makeP12(directory, { key });
    });
    return { key, p12 };
  }),
);

await inTemporaryDirectory(async (directory) => {
  const service = await startService(directory, { RENDER_CONCURRENCY: '1' });
  const { client, pid } = service;
  const convert = async (pdf: PdfOptions): Promise<void> => {
    const { id } = await client.create({ html: letter(1), pdf });
    await untilCompleted(client, id);
  };
  for (const { key, p12 } of signers) {
    await client.signature.set(p12, P12_PASSWORD);
    for (const { pdf } of KINDS) await convert(pdf);
    const spent = new Map<string, number[]>(KINDS.map(({ name }) => [name, []]));
    for (let round = 0; round < Number(rounds); round += 1) {
      const first = round % KINDS.length;
      for (const { name, pdf } of [...KINDS.slice(first), ...KINDS.slice(0, first)]) {
        const before = processorTime(pid);
        for (let n = 0; n < Number(documents); n += 1) await convert(pdf);
        spent.get(name)?.push((processorTime(pid) - before) / Number(documents));
      }
    }
    print(`certificate ${key}, ${rounds} rounds of ${documents} documents, ms of processor time`);
    for (const { name, without } of KINDS) {
      const own = spent.get(name) ?? [];
      const base = without === undefined ? [] : (spent.get(without) ?? []);
      const added = own.map((each, n) => each - (base[n] ?? each));
      const range = `half of them ${percentile(added, 0.25).toFixed(1)} to ${percentile(added, 0.75).toFixed(1)}`;
      const bar = name.endsWith('signed') ? `, bar ${BAR_MS}` : '';
      const more = without ? `: adds ${median(added).toFixed(1)} (${range}${bar})` : '';
      print(`  ${name.padEnd(27)} ${median(own).toFixed(1).padStart(6)}${more}`);
    }
  }
  await service.stop();
});
