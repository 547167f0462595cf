/**
 * The work on a printed PDF that its request asks for: files are attached, and it is made to conform to PDF/A and PDF/UA-1.
 * What cannot conform is found and named. The file claims no conformance that it was not checked for.
 */
import { createHash } from 'node:crypto';
import type { Conformance } from '../domain/request-document.ts';
import { isBlank } from '../text/plain-text.ts';
import { AccessRules } from './accessibility.ts';
import { ArchiveRules } from './archive.ts';
import { type Attachment, attach } from './attachments.ts';
import { Findings, type RuleSet } from './findings.ts';
import { Fonts } from './fonts.ts';
import { type ContentOptions, PageContents } from './page-content.ts';
import { pagesOf } from './page-tree.ts';
import { PdfObjects } from './pdf-objects.ts';
import { addSignature, type SignaturePlan } from './signature.ts';
import { placeField } from './signature-field.ts';
import { srgbProfile } from './srgb.ts';
import { StructureTree } from './structure.ts';
import { type Dictionary, dictionary, MalformedPdf, Name, PdfString, Ref } from './values.ts';
import { type DocumentInfo, type InvoiceClaim, xmpPacket } from './xmp.ts';

/** What each conformance asks for. */
const RULES = {
  'pdfa-2b': ['file', 'archive'],
  'pdfa-2u': ['file', 'archive', 'unicode'],
  'pdfa-3b': ['file', 'archive'],
  'pdfa-3u': ['file', 'archive', 'unicode'],
  'pdfa-3a': ['file', 'archive', 'unicode', 'level-a', 'tags'],
  'pdfua-1': ['file', 'unicode', 'tags', 'access'],
} as const satisfies Record<Conformance, readonly RuleSet[]>;

export interface DocumentPlan {
  readonly conformance: readonly Conformance[];
  readonly attachments: readonly Attachment[];
  readonly invoice?: InvoiceClaim | undefined;
  readonly signature?: SignaturePlan | undefined;
  /** The language that the PDF names is that of its page. */
  readonly namesLanguage: boolean;
  /** Points of the margins, in which headers and footers lie. */
  readonly margins: ContentOptions['margins'];
}

export interface FinishedDocument {
  readonly bytes: Buffer;
  /** What it conforms to, of what was asked for. */
  readonly conformance: readonly Conformance[];
  /** What is in the way of the rest, in words for the client. */
  readonly findings: readonly string[];
}

/**
 * @param printed a PDF as Chrome prints it
 * @throws {MalformedPdf} when it is not one
 * @throws {PdfTooComplex} @throws {FieldMisplaced}
 */
export function finishDocument(printed: Buffer, plan: DocumentPlan): FinishedDocument {
  const first = attempt(printed, plan);
  const conformance = plan.conformance.filter(
    (each) => first.findings.against(RULES[each]).length === 0,
  );
  if (conformance.length === plan.conformance.length) {
    return { bytes: first.bytes, conformance, findings: [] };
  }
  const asked = plan.conformance.flatMap((each) => RULES[each]);
  const findings = first.findings.against(asked);
  // Again without what it cannot be: nothing of that is left in the file.
  return { bytes: attempt(printed, { ...plan, conformance }).bytes, conformance, findings };
}

function attempt(
  printed: Buffer,
  plan: DocumentPlan,
): { readonly bytes: Buffer; readonly findings: Findings } {
  const { conformance, attachments, invoice, margins, namesLanguage, signature } = plan;
  const objects = new PdfObjects(printed);
  const findings = new Findings();
  const { catalog } = objects;
  const info = objects.dictionary(objects.trailer.get('Info'));
  const archive = conformance.find((each) => each.startsWith('pdfa-'));
  const isAccessible = conformance.includes('pdfua-1');
  const isTagged = isAccessible || archive === 'pdfa-3a';
  // What it shows is checked with the rest.
  const field = signature?.field && placeField(objects, signature.field);
  if (conformance.length > 0) {
    if (isAccessible) checkCatalog(objects, info, findings, namesLanguage);
    checkContents(objects, findings, { isTagged, isArchive: archive !== undefined, margins });
  }
  attach(objects, attachments, entryText(info, 'ModDate'));
  const [, part = '', level = ''] = /^pdfa-(\d)(\w)$/.exec(archive ?? '') ?? [];
  if (archive !== undefined) addOutputIntent(objects, catalog);
  if (archive !== undefined || isAccessible || invoice !== undefined) {
    const packet = xmpPacket(documentInfo(info), {
      archive: archive && { part, level: level.toUpperCase() },
      isAccessible,
      invoice,
    });
    const entries = dictionary({ Type: new Name('Metadata'), Subtype: new Name('XML') });
    catalog.set('Metadata', objects.addPlainStream(entries, packet));
  }
  if (signature !== undefined) addSignature(objects, signature, field);
  const id = new PdfString(createHash('md5').update(printed).digest().toString('latin1'));
  objects.trailer.set('ID', [id, id]);
  const root = objects.trailer.get('Root');
  if (!(root instanceof Ref)) throw new MalformedPdf('the PDF has no catalog');
  objects.set(root.number, catalog);
  return { bytes: objects.save(), findings };
}

function checkCatalog(
  objects: PdfObjects,
  info: Dictionary,
  findings: Findings,
  namesLanguage: boolean,
): void {
  const { catalog } = objects;
  const language = objects.resolve(catalog.get('Lang'));
  if (!namesLanguage || !(language instanceof PdfString) || language.text === '') {
    const what = 'the document names no language: write it into the page, as <html lang="en">';
    findings.add('access', 'ISO 14289-1, 7.2', what);
  } else if (!/^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/.test(language.text)) {
    const what = `“${language.text.slice(0, 40)}” is not a language such as en or de-CH`;
    findings.add('tags', 'ISO 14289-1, 7.2', what);
  }
  if (isBlank(entryText(info, 'Title') ?? '')) {
    const what = 'the document has no title: give metadata.title, or write a <title>';
    findings.add('access', 'ISO 14289-1, 7.1', what);
  }
  const preferences = objects.dictionary(catalog.get('ViewerPreferences'));
  catalog.set('ViewerPreferences', preferences.set('DisplayDocTitle', true));
}

interface Asked {
  readonly isTagged: boolean;
  readonly isArchive: boolean;
  readonly margins: ContentOptions['margins'];
}

function checkContents(
  objects: PdfObjects,
  findings: Findings,
  { isTagged, isArchive, margins }: Asked,
): void {
  const fonts = new Fonts(objects);
  const pages = pagesOf(objects);
  const numbered = new Map(pages.map(({ number }, n) => [number, n + 1]));
  const access = isTagged ? tagsOf(objects, numbered, findings) : undefined;
  const wanted = access?.rules.check() ?? new Map();
  const contents = new PageContents(objects, fonts, findings, { mark: isTagged, margins, wanted });
  const archive = isArchive ? new ArchiveRules(objects, findings) : undefined;
  const entriesOf = pages.map((page) => objects.dictionary(page));
  for (const [n, page] of entriesOf.entries()) {
    contents.follow(page, n + 1);
    archive?.checkAnnotations(page, n + 1);
  }
  contents.followRest();
  fonts.check(findings);
  access?.rules.describeLinks(wanted);
  for (const [n, page] of entriesOf.entries()) access?.rules.checkAnnotations(page, n + 1);
  access?.tree.save();
  archive?.check();
}

function tagsOf(
  objects: PdfObjects,
  pages: ReadonlyMap<number, number>,
  findings: Findings,
): { readonly tree: StructureTree; readonly rules: AccessRules } {
  const tree = new StructureTree(objects, pages, findings);
  if (tree.roots.length === 0) {
    const what = 'nothing in the document has a tag: it has no text';
    findings.add('tags', 'ISO 14289-1, 7.1', what);
  }
  return { tree, rules: new AccessRules(tree, objects, findings) };
}

function addOutputIntent(objects: PdfObjects, catalog: Dictionary): void {
  const profile = objects.addStream(
    dictionary({ N: 3, Alternate: new Name('DeviceRGB') }),
    srgbProfile(),
  );
  const name = new PdfString('sRGB IEC61966-2.1');
  const intent = objects.add(
    dictionary({
      Type: new Name('OutputIntent'),
      S: new Name('GTS_PDFA1'),
      OutputConditionIdentifier: name,
      RegistryName: new PdfString('http://www.color.org'),
      Info: name,
      DestOutputProfile: profile,
    }),
  );
  catalog.set('OutputIntents', [intent]);
}

function entryText(entries: Dictionary, key: string): string | undefined {
  const value = entries.get(key);
  return value instanceof PdfString ? value.text : undefined;
}

/** `D:20261124181739+00'00'` → `2026-11-24T18:17:39+00:00`. */
function isoDate(date: string | undefined): string | undefined {
  const pattern = /^D:(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:Z|([+-]\d\d)'(\d\d))?/;
  const [found, year, month, day, hour, minute, second, zone = '+00', rest = '00'] =
    pattern.exec(date ?? '') ?? [];
  return found && `${year}-${month}-${day}T${hour}:${minute}:${second}${zone}:${rest}`;
}

function documentInfo(info: Dictionary): DocumentInfo {
  return {
    title: entryText(info, 'Title'),
    author: entryText(info, 'Author'),
    subject: entryText(info, 'Subject'),
    keywords: entryText(info, 'Keywords'),
    creator: entryText(info, 'Creator'),
    producer: entryText(info, 'Producer'),
    created: isoDate(entryText(info, 'CreationDate')),
    modified: isoDate(entryText(info, 'ModDate')),
  };
}
