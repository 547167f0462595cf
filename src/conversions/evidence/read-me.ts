/** The text in a bundle of evidence that says how to check it. */
import { documentNames } from './bundle.ts';
import type { EvidenceFacts } from './report.ts';

const WHAT = [
  'the document, as it was delivered',
  'the request as it was stored, with all headers and cookies that were sent with it',
  'how the document was made',
];

export function readMe({
  origin,
  conversionId,
  cosigners,
  isTimestamped,
  absent,
  requested,
}: EvidenceFacts): string {
  const documents = documentNames(requested.options.format)
    .map((name, n) => (absent.has(name) ? '' : `  ${name.padEnd(14)} ${WHAT[n]}\n`))
    .join('');
  const missing = [...absent].map(([name, reason]) => `  ${name}: ${reason}\n`).join('');
  const witnesses = cosigners.map((name) => `  ${name}\n`).join('');
  return `EVIDENCE OF ${conversionId}

This bundle shows what the event log ${origin} holds about one conversion, and proves it.
Begin with report.html. It needs no network and no program but a browser or a printer.

TO CHECK IT

Get a verifier key of the log from the service that keeps it (GET /tlog/key), or from your own records.
Do not take it from this bundle. Then run one of these. Neither needs the network.

  pressledger verify-evidence BUNDLE.zip --key KEY
  node verify-evidence.mjs BUNDLE.zip --key KEY

The second is one file without dependencies, verifier/verify-evidence.mjs in the sources of Pressledger. It
is meant to be read. By hand, "sha256sum --check contents.txt" compares the unpacked files with the signed
list (it warns of lines that are not files). Any tool for signed notes, checkpoints and proofs of C2SP
(https://c2sp.org) checks checkpoint, contents.txt and the proofs in events.jsonl.

THE FILES

  report.html    what happened, to read and to print
${documents}  events.jsonl   the events: number in the log, canonical text, inclusion proof (tlog-proof)
  checkpoint     the number of events in the log and the root hash of its Merkle tree, signed
  log-key.txt    the log's verifier keys, to compare with the one that you have
  keys.json      what opens the hashes of this request and this manifest, and of no others
  contents.txt   the SHA-256 of each file, signed
${isTimestamped ? '  checkpoint.tst the RFC 3161 timestamp of the checkpoint\n' : ''}
${missing === '' ? 'No document is missing.\n' : `NOT IN THIS BUNDLE\n\n${missing}`}
${witnesses === '' ? '' : `WITNESSES\n\nThe checkpoint has the signatures of these. --witness KEY checks one.\n\n${witnesses}\n`}${
  isTimestamped ? TIMESTAMP : ''
}WHAT IS PROVED, AND WHAT IS NOT

Proved under the checkpoint: that the log holds these events, that the PDF, the request and the manifest are
the ones that they name, that a signed PDF has the signature that was made for it, of exactly its bytes, and
that the conversion's own events are here without a gap up to the last one.
Signed by the service, and no more: the sentences of report.html, the texts in it that are marked with a
dagger (the log has them encrypted), and this text.
Not shown: what happened after the last event in this bundle.

The bundle is as confidential as the document. Give it to those who may see the request and the PDF.
`;
}

const TIMESTAMP = `TIMESTAMP

checkpoint.tst says when the checkpoint was there, in the word of a timestamp authority. It is about the
checkpoint with the log's own signatures alone. CA.pem is the authority's certificate, from elsewhere.

  awk 'NR == 1 { origin = $1 } !/^— / || $2 == origin' checkpoint > signed
  openssl ts -verify -data signed -in checkpoint.tst -token_in -CAfile CA.pem

`;
