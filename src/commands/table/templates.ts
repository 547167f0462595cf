/** The commands for templates of an account at a service. */
import type { Command } from '../command.ts';
import { LIMIT, SERVICE_OPTIONS, HEADER } from '../options.ts';

const TEMPLATE = { id: "the template's id, as 'templates list' shows it" };
const ONE = 'tmpl_01jd3v3p8z6s2q4w9x7y5t1r0k';

export const TEMPLATES: readonly Command[] = [
  {
    name: 'templates list',
    summary: 'List the templates of your account, newest first.',
    examples: ['templates list'],
    options: { header: HEADER, limit: LIMIT, ...SERVICE_OPTIONS },
    run: async (...given) => (await import('../templates.ts')).templatesList(...given),
  },
  {
    name: 'templates show',
    summary: 'List the versions of a template, or print the HTML of one.',
    examples: [`templates show ${ONE}`, `templates show ${ONE} --version 3`],
    positionals: TEMPLATE,
    options: {
      header: HEADER,
      version: { value: 'number', help: 'print this version; with --json all that it holds' },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../templates.ts')).templatesShow(...given),
  },
  {
    name: 'templates save',
    summary: 'Save HTML with Liquid as a new template, or as another version of one.',
    examples: [
      'templates save invoice.html --name Invoice --schema schema.json --sample sample.json',
      `templates save invoice.html --id ${ONE}`,
    ],
    positionals: { file: 'the HTML, or - for standard input' },
    options: {
      name: { value: 'name', help: 'what a new template is called' },
      id: { value: 'id', help: 'the template that gets another version' },
      header: { value: 'file', help: 'Liquid for the top margin of each page' },
      footer: { value: 'file', help: 'Liquid for the bottom margin of each page' },
      schema: { value: 'file', help: 'the JSON Schema of the data' },
      sample: { value: 'file', help: 'data to try the template with' },
      options: { value: 'file', help: 'a JSON object of options, such as {"page_size": "A5"}' },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../templates.ts')).templatesSave(...given),
  },
  {
    name: 'templates rename',
    summary: 'Give a template another name.',
    examples: [`templates rename ${ONE} 'Invoice 2027'`],
    positionals: { ...TEMPLATE, name: 'the name' },
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../templates.ts')).templatesRename(...given),
  },
  {
    name: 'templates delete',
    summary: 'Delete a template with its versions; what was made of it stays.',
    examples: [`templates delete ${ONE}`],
    positionals: TEMPLATE,
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../templates.ts')).templatesDelete(...given),
  },
  {
    name: 'templates preview',
    summary: 'Print the HTML that a template makes of data; it costs nothing.',
    examples: [`templates preview ${ONE} --data invoice.json`],
    positionals: TEMPLATE,
    options: {
      data: { value: 'file', help: 'a JSON object, or - for standard input (default: the sample)' },
      version: { value: 'number', help: 'the version (default: the newest)' },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../templates.ts')).templatesPreview(...given),
  },
];
