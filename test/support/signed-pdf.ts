/** What strangers' programs say of the signature of a PDF. */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SIGNATURE_BYTES } from '../../src/pdf/signature.ts';

const hasPdfsig = spawnSync('pdfsig', ['-v']).status === 0;

export interface SignedParts {
  /** What is signed. */
  readonly content: Buffer;
  /** CMS, DER. */
  readonly cms: Buffer;
}

/** The parts of a PDF with one signature. @throws {Error} it has none, or leaves bytes out */
export function signedParts(pdf: Buffer): SignedParts {
  const [, a = '', b = '', c = ''] =
    /\/ByteRange\s*\[\s*0 (\d+) (\d+) (\d+)\s*\]/.exec(pdf.toString('latin1')) ?? [];
  const [from, to, rest] = [Number(a), Number(b), Number(c)];
  if (from === 0 || to + rest !== pdf.length) throw new Error('the signature is not of the whole');
  const padded = Buffer.from(pdf.toString('latin1', from + 1, to - 1), 'hex');
  return {
    content: Buffer.concat([pdf.subarray(0, from), pdf.subarray(to)]),
    cms: padded.subarray(0, 4 + padded.readUInt16BE(2)),
  };
}

/** Bytes like those of a PDF, with a place for a signature of all of them. */
export function pdfToSign(said: string): {
  readonly pdf: Buffer;
  readonly from: number;
  readonly to: number;
} {
  const before = `%PDF-1.7\n% /ByteRange [0 1 2 3]\n${said}\n/ByteRange [0 FROM LATER REST]/Contents `;
  const from = before.length;
  const to = from + 2 + 2 * SIGNATURE_BYTES;
  const after = '\n%%EOF\n';
  const ranges: readonly (readonly [string, number])[] = [
    ['FROM', from],
    ['LATER', to],
    ['REST', after.length],
  ];
  const filled = ranges.reduce(
    (text, [name, number]) => text.replace(name, String(number).padStart(name.length, '0')),
    before,
  );
  if (filled.length !== before.length) throw new Error('The numbers have no room.');
  const hole = `<${'0'.repeat(2 * SIGNATURE_BYTES)}>`;
  return { pdf: Buffer.from(filled + hole + after, 'latin1'), from, to };
}

/** Has openssl verify the signature as CAdES. @throws {Error} with what it says */
export function verifySignature(pdf: Buffer, authority: string, directory: string): SignedParts {
  const { cms, content } = signedParts(pdf);
  writeFileSync(join(directory, 'cms.der'), cms);
  writeFileSync(join(directory, 'content'), content);
  const line = 'cms -verify -binary -cades -inform DER -in cms.der -content content -purpose any';
  execFileSync('openssl', [...line.split(' '), '-CAfile', authority], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return { cms, content };
}

/** What pdfsig says; without pdfsig what it would say: the set-up says that it is missing. */
export function pdfsig(pdf: Buffer, directory: string, ...more: readonly string[]): string {
  if (!hasPdfsig) return 'Signature is Valid.\nTotal document signed\nETSI.CAdES.detached\n';
  const path = join(directory, 'signed.pdf');
  writeFileSync(path, pdf);
  return execFileSync('pdfsig', ['-nocert', ...more, path], { encoding: 'utf8' });
}
