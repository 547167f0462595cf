/** The commands that run, look at and use a service. */

import type { Command } from '../command.ts';
import { CONVERT_FLAGS } from '../convert-options.ts';
import {
  AS_OF,
  DEFAULT_SERVER,
  KEY_NAME,
  LIMIT,
  ROLES,
  SERVICE_OPTIONS,
  SOURCES,
  STATUSES,
} from '../options.ts';

const ID = { id: "the conversion's id, as 'conversions list' shows it" };

export const RUN: readonly Command[] = [
  {
    name: 'start',
    summary: 'Run the whole service in one process: API, process managers, renderer.',
    role: 'start',
    examples: ['start'],
    run: async (...given) => (await import('../start.ts')).start(...given),
  },
  {
    name: 'api',
    summary: 'Run the API and the process managers; renderers take jobs from NATS_URL.',
    role: 'api',
    examples: ['api'],
    run: async (...given) => (await import('../start.ts')).api(...given),
  },
  {
    name: 'renderer',
    summary: 'Run a renderer node, which takes jobs from NATS_URL.',
    role: 'renderer',
    examples: ['renderer'],
    run: async (...given) => (await import('../start.ts')).renderer(...given),
  },
];

export const LOOK: readonly Command[] = [
  {
    name: 'doctor',
    summary:
      'Check settings, stores, keys, Chrome and this machine, and say how to mend what is wrong.',
    examples: ['doctor', 'doctor --json', 'doctor --role renderer'],
    options: {
      role: {
        value: 'role',
        help: "check what 'pressledger <role>' needs: start (default), api or renderer",
        choices: ROLES,
      },
    },
    run: async (...given) => (await import('../doctor.ts')).doctor(...given),
  },
  {
    name: 'status',
    summary: 'Show nodes, slots, queue, rates, failures and lag, as they are now.',
    examples: ['status', 'status --json'],
    run: async (...given) => (await import('../status.ts')).status(...given),
  },
  {
    name: 'top',
    summary: 'Show the status again each second, until q or Ctrl-C.',
    examples: ['top'],
    run: async (...given) => (await import('../top.ts')).top(...given),
  },
];

export const CONVERT: readonly Command[] = [
  {
    name: 'convert',
    summary: 'Convert HTML files or URLs to PDF, on this machine or by a service.',
    examples: [
      'convert invoice.html -o invoice.pdf --page-size A5',
      'convert https://example.com/ -o example.pdf --server https://pdf.example.com',
      'convert - -o - --base . < invoice.html > invoice.pdf',
      'convert pages/ -o pdfs/',
    ],
    positionals: {
      'file-or-url': 'an HTML file, a folder of them, - for standard input, or an http(s) address',
    },
    takesMany: true,
    options: {
      output: {
        value: 'file',
        short: 'o',
        help: 'the PDF to write, or - for standard output; for several pages the folder of the PDFs',
        needed: true,
      },
      account: { value: 'email', help: 'the account here that pays (default: the first one)' },
      ...SERVICE_OPTIONS,
      base: {
        value: 'dir',
        help: "the folder whose files go with the HTML (default: the HTML file's own)",
      },
      strict: {
        help: 'exit with 1 and write no PDF if a resource could not be loaded',
      },
      ...CONVERT_FLAGS,
    },
    run: async (...given) => (await import('../convert.ts')).convert(...given),
  },
];

export const SIGN_IN: readonly Command[] = [
  {
    name: 'login',
    summary: 'Sign in to a service. It creates an API key, which the other commands use.',
    examples: [
      'login',
      'login --server https://pdf.example.com --email ann@example.com',
      'login --server localhost:8080 --api-key-stdin < key.txt',
    ],
    options: {
      server: {
        value: 'url',
        help: `the service; asked for if not given (default ${DEFAULT_SERVER})`,
      },
      email: { value: 'email', help: 'the sign-in address; asked for if not given' },
      'password-stdin': { help: 'read the password from standard input' },
      'api-key-stdin': { help: 'sign in with an API key, read from standard input' },
      name: { value: 'name', help: "the label of the new API key (default: this machine's name)" },
    },
    run: async (...given) => (await import('../login.ts')).login(...given),
  },
  {
    name: 'logout',
    summary: 'Sign out of the service, and revoke the API key that login has created.',
    examples: ['logout'],
    options: { 'keep-key': { help: 'forget the key on this machine only; it stays valid' } },
    run: async (...given) => (await import('../login.ts')).logout(...given),
  },
];

export const USE: readonly Command[] = [
  {
    name: 'conversions list',
    summary: 'List the conversions of your account, newest first.',
    examples: [
      'conversions list',
      'conversions list --status failed --limit 5',
      'conversions list --q "invoice 47" --tag "customer:Example Ltd"',
      'conversions list --as-of 2026-11-21T08:15:30Z',
    ],
    options: {
      q: { value: 'words', help: 'words of the name, title, URL, reference or tags, or an id' },
      status: { value: 'status', help: STATUSES.join(', '), choices: STATUSES },
      reference: { value: 'text', help: 'the whole reference' },
      tag: {
        value: 'name:value',
        help: 'a tag, or its name for any value; may be given several times',
        many: true,
      },
      key: { value: 'id', help: "asked for with this API key ('keys list' shows its id)" },
      batch: { value: 'id', help: 'asked for in this batch' },
      source: { value: 'source', help: SOURCES.join(', '), choices: SOURCES },
      warnings: { help: 'only those with warnings' },
      from: { value: 'time', help: 'created then or later: an ISO 8601 time with its offset' },
      to: { value: 'time', help: 'created before' },
      limit: LIMIT,
      'as-of': AS_OF,
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../conversions.ts')).conversionsList(...given),
  },
  {
    name: 'conversions get',
    summary: 'Show one conversion: status, times, link to the PDF or reason of failure.',
    examples: ['conversions get conv_01jd3v3p8z6s2q4w9x7y5t1r0k'],
    positionals: ID,
    options: { 'as-of': AS_OF, ...SERVICE_OPTIONS },
    run: async (...given) => (await import('../conversions.ts')).conversionsGet(...given),
  },
  {
    name: 'conversions download',
    summary: 'Download the PDF of a conversion, as soon as it has completed.',
    examples: [
      'conversions download conv_01jd3v3p8z6s2q4w9x7y5t1r0k -o invoice.pdf',
      'conversions download conv_01jd3v3p8z6s2q4w9x7y5t1r0k -o - | lp',
    ],
    positionals: ID,
    options: {
      output: {
        value: 'file',
        short: 'o',
        help: 'the file to write, or - for standard output (default <id>.pdf, or the ending of its format)',
      },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../conversions.ts')).conversionsDownload(...given),
  },
  {
    name: 'conversions picture',
    summary: 'Save the picture of the page of a failed conversion, a JPEG.',
    examples: ['conversions picture conv_01jd3v3p8z6s2q4w9x7y5t1r0k -o page.jpg'],
    positionals: ID,
    options: {
      output: { value: 'file', short: 'o', help: 'the picture to write (default <id>.jpg)' },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../conversions.ts')).conversionsPicture(...given),
  },
  {
    name: 'conversions delete',
    summary:
      'Cancel conversions that are unfinished, or delete what is stored of those that have ended.',
    examples: [
      'conversions delete conv_01jd3v3p8z6s2q4w9x7y5t1r0k',
      'conversions delete conv_01jd3v3p8z6s2q4w9x7y5t1r0k conv_01jd3v3p8z6s2q4w9x7y5t1r0m',
    ],
    positionals: ID,
    takesMany: true,
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../conversions.ts')).conversionsDelete(...given),
  },
  {
    name: 'conversions retry',
    summary: 'Convert the request of a conversion once more, for one credit, while it is stored.',
    examples: ['conversions retry conv_01jd3v3p8z6s2q4w9x7y5t1r0k'],
    positionals: ID,
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../conversions.ts')).conversionsRetry(...given),
  },
  {
    name: 'conversions rerender',
    summary:
      'Render the request of a completed conversion again, for one credit, and compare the PDFs.',
    examples: ['conversions rerender conv_01jd3v3p8z6s2q4w9x7y5t1r0k --wait'],
    positionals: ID,
    options: {
      wait: { help: 'wait for the result; the exit status is 1 if a page differs' },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../conversions.ts')).conversionsRerender(...given),
  },
  {
    name: 'conversions open',
    summary: "Show the PDF of a conversion with the system's viewer.",
    examples: ['conversions open conv_01jd3v3p8z6s2q4w9x7y5t1r0k'],
    positionals: ID,
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../conversions.ts')).conversionsOpen(...given),
  },
  {
    name: 'usage',
    summary: 'Show your plan and credits, the ledger, and the requests left this minute.',
    examples: ['usage', 'usage --limit 100 --json', 'usage --as-of 2026-11-21T08:15:30Z'],
    options: { limit: LIMIT, 'as-of': AS_OF, ...SERVICE_OPTIONS },
    run: async (...given) => (await import('../usage.ts')).usage(...given),
  },
  {
    name: 'keys list',
    summary: 'List the valid API keys of your own account at a service, newest first.',
    examples: ['keys list'],
    options: { limit: LIMIT, 'as-of': AS_OF, ...SERVICE_OPTIONS },
    run: async (...given) => (await import('../keys.ts')).keysList(...given),
  },
  {
    name: 'keys create',
    summary: 'Create an API key for your own account at a service; the full key is shown only now.',
    examples: ["keys create --name 'build server'"],
    options: { name: KEY_NAME, ...SERVICE_OPTIONS },
    run: async (...given) => (await import('../keys.ts')).keysCreate(...given),
  },
  {
    name: 'keys revoke',
    summary: 'Revoke an API key of your own account at a service. This cannot be undone.',
    examples: ['keys revoke key_01jd3v3p8z6s2q4w9x7y5t1r0k'],
    positionals: { id: "the key's id, as 'keys list' shows it" },
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../keys.ts')).keysRevoke(...given),
  },
  {
    name: 'signature set',
    summary:
      'Set the certificate that PDFs of your account are signed with; its key is kept sealed.',
    examples: ['signature set ada.p12 --password-stdin < password.txt'],
    positionals: { file: 'a PKCS#12 file (.p12, .pfx) with the certificate and its key' },
    options: {
      'password-stdin': { help: 'read the password of the file from standard input' },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../signature.ts')).signatureSet(...given),
  },
  {
    name: 'signature show',
    summary: 'Show whose certificate signs PDFs of your account, and when it expires.',
    examples: ['signature show'],
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../signature.ts')).signatureShow(...given),
  },
  {
    name: 'signature remove',
    summary: 'Remove the certificate that PDFs of your account are signed with.',
    examples: ['signature remove'],
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../signature.ts')).signatureRemove(...given),
  },
];

export const VERIFY: readonly Command[] = [
  {
    name: 'verify-pdf',
    summary: 'Tell whether the service has made a PDF, when, and for which conversion.',
    examples: [
      'verify-pdf invoice.pdf',
      'verify-pdf invoice.pdf --server https://pdf.example.com --json',
    ],
    positionals: { file: 'the PDF' },
    options: {
      account: { value: 'email', help: 'look only at conversions of this account here' },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../verify-pdf.ts')).verifyPdf(...given),
  },
  {
    name: 'verify-evidence',
    summary: "Verify a file that 'evidence' has written, without any service.",
    examples: [
      'verify-evidence evidence.zip --key log.key',
      'verify-evidence evidence.zip --key log.key --witness witness.key --json',
    ],
    positionals: { file: 'the ZIP file' },
    options: {
      key: {
        value: 'key',
        help: 'the verifier key of the log, or a file that holds it; from your records or the service, never from the ZIP file',
        needed: true,
      },
      witness: {
        value: 'key',
        help: 'the verifier key of a witness that must have cosigned, or a file of several',
      },
    },
    run: async (...given) => (await import('../evidence.ts')).verifyEvidence(...given),
  },
];

export const OTHER: readonly Command[] = [
  {
    name: 'version',
    summary: 'Show the version.',
    examples: ['version'],
    run: async (...given) => (await import('../version.ts')).version(...given),
  },
];
