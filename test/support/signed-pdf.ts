/** What strangers' programs say of the signature of a PDF. */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
