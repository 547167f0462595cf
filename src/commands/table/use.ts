/** The conversions, credits, keys and certificate of an account, at a service. */
import type { Command } from '../command.ts';
import {
  AS_OF,
  KEY_BOUNDS,
  KEY_NAME,
  LIMIT,
  SERVICE_OPTIONS,
  SOURCES,
  STATUSES,
  ORDERS,
  HEADER,
} from '../options.ts';

const ID = { id: "the conversion's id, as 'conversions list' shows it" };

export const USE: readonly Command[] = [
  {
    name: 'conversions list',
    summary: 'List the conversions of your account, newest first unless asked otherwise.',
    examples: [
      'conversions list',
      'conversions list --status failed --limit 5',
      'conversions list --q "invoice 47" --tag "customer:Example Ltd"',
      'conversions list --as-of 2026-11-21T08:15:30Z',
    ],
    options: {
      header: HEADER,
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
      template: { value: 'id', help: 'made of this template' },
      source: { value: 'source', help: SOURCES.join(', '), choices: SOURCES },
      warnings: { help: 'only those with warnings' },
      from: { value: 'time', help: 'created then or later: an ISO 8601 time with its offset' },
      to: { value: 'time', help: 'created before' },
      order: { value: 'order', help: 'which come first: newest or oldest', choices: ORDERS },
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
    name: 'conversions zip',
    summary: 'Download the PDFs of up to 100 conversions as one ZIP file.',
    examples: ['conversions zip conv_01jd3v3p8z6s2q4w9x7y5t1r0k -o pdfs.zip'],
    positionals: ID,
    takesMany: true,
    options: {
      output: { value: 'file', short: 'o', help: 'the ZIP file to write', needed: true },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../conversions.ts')).conversionsZip(...given),
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
    name: 'conversions thumbnail',
    summary: 'Save a picture of the first page of a PDF, a PNG; it does not count as a download.',
    examples: ['conversions thumbnail conv_01jd3v3p8z6s2q4w9x7y5t1r0k -o page.png'],
    positionals: ID,
    options: {
      output: { value: 'file', short: 'o', help: 'the picture to write (default <id>.png)' },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../conversions.ts')).conversionsThumbnail(...given),
  },
  {
    name: 'conversions share',
    summary: 'Create a link by which anybody can download the file; it is shown only now.',
    examples: [
      'conversions share conv_01jd3v3p8z6s2q4w9x7y5t1r0k',
      'conversions share conv_01jd3v3p8z6s2q4w9x7y5t1r0k --expires-in 86400',
    ],
    positionals: ID,
    options: {
      'expires-in': {
        value: 'seconds',
        help: 'when the link expires (default: when the file is deleted, which is the longest)',
      },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../links.ts')).conversionsShare(...given),
  },
  {
    name: 'conversions links',
    summary: 'List the links to the file of a conversion, with their downloads, newest first.',
    examples: ['conversions links conv_01jd3v3p8z6s2q4w9x7y5t1r0k'],
    positionals: ID,
    options: { limit: LIMIT, ...SERVICE_OPTIONS },
    run: async (...given) => (await import('../links.ts')).conversionsLinks(...given),
  },
  {
    name: 'conversions unshare',
    summary: 'Revoke a link to the file of a conversion. This cannot be undone.',
    examples: [
      'conversions unshare conv_01jd3v3p8z6s2q4w9x7y5t1r0k link_01jd3v3p8z6s2q4w9x7y5t1r0k',
    ],
    positionals: { ...ID, link: "the id of the link, as 'conversions links' shows it" },
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../links.ts')).conversionsUnshare(...given),
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
    options: { header: HEADER, limit: LIMIT, 'as-of': AS_OF, ...SERVICE_OPTIONS },
    run: async (...given) => (await import('../usage.ts')).usage(...given),
  },
  {
    name: 'usage statement',
    summary: 'Save the statement of a month that is over, a PDF; it costs no credit.',
    examples: ['usage statement 2026-10 -o statement-2026-10.pdf'],
    positionals: { month: 'the month in UTC, such as 2026-10' },
    options: {
      output: {
        value: 'file',
        short: 'o',
        help: 'the file to write, or - for standard output (default statement-<month>.pdf)',
      },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../usage.ts')).usageStatement(...given),
  },
  {
    name: 'keys list',
    summary: 'List the valid API keys of your own account at a service, newest first.',
    examples: ['keys list'],
    options: { header: HEADER, limit: LIMIT, 'as-of': AS_OF, ...SERVICE_OPTIONS },
    run: async (...given) => (await import('../keys.ts')).keysList(...given),
  },
  {
    name: 'keys create',
    summary: 'Create an API key for your own account at a service; the full key is shown only now.',
    examples: [
      "keys create --name 'build server'",
      'keys create --name shop --scope convert --expires 2027-06-30 --address 203.0.113.0/24',
    ],
    options: { name: KEY_NAME, ...KEY_BOUNDS, ...SERVICE_OPTIONS },
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
    summary:
      'Remove the certificate that PDFs of your account are signed with. Its private key is destroyed; older copies of the keyring still have it. Revoke the certificate at its issuer if the key may be known.',
    examples: ['signature remove'],
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../signature.ts')).signatureRemove(...given),
  },
];
