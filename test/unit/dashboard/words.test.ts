/** The words of the pages: what is shown is asked for in the catalogues, and they have it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import { test } from 'tap';
import { type ApiDocument, type Field, fieldsOf } from '../../../dashboard/src/request/schema.ts';
import { t as words } from '../../../dashboard/src/words/words.ts';
import { readConfig } from '../../../src/config/config.ts';
import { buildDocument } from '../../../src/http/openapi/document.ts';
import { ROUTES } from '../../../src/http/routes.ts';

const ROOT = join(import.meta.dirname, '../../../dashboard/src');
const german = JSON.parse(readFileSync(join(ROOT, 'words/de.json'), 'utf8')) as Readonly<
  Record<string, string>
>;

/** What is shown as it is in every language: code, keys, names. */
const SAME_EVERYWHERE = new Set(['code', 'kbd', 'pre', 'bdi']);
const NAMES = /^(Pressledger|PDFs?|API|ZIP|CSV|JSON|HTML|URL|SHA-256|UTC|Esc|Ctrl)$/;
/** Headers of requests, which are the only other names with a capital that objects have. */
const HEADERS = /^(Accept|Prefer)$/;
/** The properties of elements that a person reads. */
const READ = /^(action|aria-label|heading|label|lead|of|text|title|what)$/;

type Node = Readonly<Record<string, unknown>> & { readonly type?: string };

interface Found {
  readonly asked: Set<string>;
  readonly bare: string[];
  readonly computed: string[];
}

function look(node: unknown, file: string, found: Found, isCode = false): void {
  if (Array.isArray(node)) {
    for (const each of node) look(each, file, found, isCode);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const { type, callee, value } = node as Node;
  if (type === 'JSXText' && typeof value === 'string' && !isCode) {
    const text = value.trim();
    if (/\p{L}{2}/u.test(text) && !NAMES.test(text)) found.bare.push(`${file}: ${text}`);
  }
  if (type === 'JSXAttribute' && typeof (value as Node | null)?.['value'] === 'string') {
    const property = String(((node as Node)['name'] as Node)['value']);
    const text = String((value as Node)['value']);
    if (READ.test(property) && !NAMES.test(text)) found.bare.push(`${file}: ${property}="${text}"`);
  }
  if (type === 'KeyValueProperty') {
    const key = (node as Node)['key'] as Node;
    const text = String(key['value']);
    const isShown = key.type === 'Identifier' && /^[A-Z][a-z]+$/.test(text) && !HEADERS.test(text);
    if (isShown) found.bare.push(`${file}: ${text}:`);
  }
  const name = (callee as Node | undefined)?.['value'];
  if (type === 'CallExpression' && (name === 't' || name === 'rich')) {
    const [first] = (node as Node)['arguments'] as readonly { readonly expression: Node }[];
    const text = first?.expression;
    if (text?.type === 'StringLiteral') found.asked.add(String(text['value']));
    else found.computed.push(`${file}: ${name}(…)`);
  }
  if (type === 'CallExpression' && name === 'counted') {
    const [, one, many] = (node as Node)['arguments'] as readonly { readonly expression: Node }[];
    const word = one?.expression['value'];
    const others = many?.expression['value'];
    if (typeof word !== 'string') found.computed.push(`${file}: counted(…)`);
    else found.asked.add(word).add(typeof others === 'string' ? others : `${word}s`);
  }
  const opening = (node as Node)['opening'] as { readonly name: Node } | undefined;
  const element = type === 'JSXElement' ? String(opening?.name['value']) : '';
  const within = isCode || SAME_EVERYWHERE.has(element);
  for (const each of Object.values(node)) look(each, file, found, within);
}

const found: Found = { asked: new Set(), bare: [], computed: [] };
for (const file of readdirSync(ROOT, { recursive: true, encoding: 'utf8' })) {
  if (!/\.tsx?$/.test(file) || file.endsWith('.d.ts')) continue;
  const source = readFileSync(join(ROOT, file), 'utf8');
  look(parseSync(source, { syntax: 'typescript', tsx: file.endsWith('x') }), file, found);
}

/** What a text ends with, if it is a sentence, a question, or leads to what follows. */
const endOf = (text: string): string => /[.?!:…]?\s*$/.exec(text)?.[0] ?? '';

/** What forms show of the fields of requests: the OpenAPI document has it. */
function lookAt(field: Pick<Field, 'label'> & Partial<Field>): void {
  const { name = '', label, description, group, choices = [], fields = [], types = [] } = field;
  // The groups of its fields stand for the one that has no group itself.
  const isOpen = field.kind === 'group' && name === 'pdf';
  for (const text of isOpen ? [] : [label, description, group]) {
    if (text !== undefined) found.asked.add(text);
  }
  // Those of schemas are names: of papers, standards and formats.
  if (['fail_on', 'media', 'fit'].includes(name))
    for (const each of choices) found.asked.add(each.label);
  for (const each of types.length === 0 ? fields : types) lookAt(each);
}

const document = buildDocument(ROUTES, {
  publicUrl: 'http://localhost',
  config: readConfig({}),
}) as unknown as ApiDocument;
/** A page has forms of its own for these. */
const OWN_FORMS = ['html', 'url', 'template', 'data', 'sources'];
for (const name of ['ConversionRequest', 'DocumentRequest'] as const) {
  for (const field of fieldsOf(document, name)) if (!OWN_FORMS.includes(field.name)) lookAt(field);
}

const marks = (text: string): readonly string[] =>
  [...text.matchAll(/\{\w+\}|<\/?\w+>/g)].map(([mark]) => mark).toSorted();

void test('no word stands on a page past the catalogues', (t) => {
  t.ok(found.asked.size > 1_000);
  t.strictSame(found.bare, []);
  t.strictSame(found.computed, [], 'each is asked for as a literal');
  t.end();
});

void test('German has every word, and no other', (t) => {
  t.strictSame(
    [...found.asked].filter((text) => !Object.hasOwn(german, text)),
    [],
    'add these to dashboard/src/words/de.json',
  );
  t.strictSame(
    Object.keys(german).filter((text) => !found.asked.has(text)),
    [],
    'remove these from dashboard/src/words/de.json',
  );
  for (const [text, own] of Object.entries(german)) {
    if (marks(own).join() !== marks(text).join()) t.fail(`its values and elements: ${text}`);
    if (own.trim() === '') t.fail(`it is empty: ${text}`);
    if (endOf(own) !== endOf(text)) t.fail(`its end: ${text}`);
    if (/“(?=\p{L})|”/u.test(own)) t.fail(`its quotation marks, „…“: ${text}`);
  }
  t.end();
});

void test('values take their places, and what they hold is not read', (t) => {
  t.equal(words('Remove {name}?', { name: '{name} $& $1' }), 'Remove {name} $& $1?');
  t.equal(words('{a} of {b}', { a: 1 }), '1 of {b}', 'one that is missing is seen');
  t.end();
});
