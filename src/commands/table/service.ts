/** The commands that run, look at and sign in to a service, convert and verify. */

import type { Command } from '../command.ts';
import { CONVERT_FLAGS } from '../convert-options.ts';
import { DEFAULT_SERVER, ROLES, SERVICE_OPTIONS, TEST_OPTION } from '../options.ts';

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
      'convert --template tmpl_01jd3v3p8z6s2q4w9x7y5t1r0k --data invoice.json -o invoice.pdf',
    ],
    positionals: {
      'file-or-url':
        'an HTML file, a folder of them, - for standard input, or an http(s) address; none with --template',
    },
    optionalPositionals: 1,
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
      template: { value: 'id', help: 'a stored template instead of a file, such as tmpl_…@3' },
      data: {
        value: 'file',
        help: 'the JSON object that the template is filled with, or - for standard input',
      },
      base: {
        value: 'dir',
        help: "the folder whose files go with the HTML (default: the HTML file's own)",
      },
      test: TEST_OPTION,
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
      account: {
        value: 'id',
        help: 'the account to sign in to, if you belong to several (default: your own)',
      },
      otp: {
        value: 'code',
        help: 'a code of your authenticator, or a recovery code; asked for if it is needed',
      },
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
