/**
 * Follows what the pages show: which glyphs of which fonts, and what of it has no tag. Chrome leaves backgrounds, borders,
 * headers and footers without one: they become artifacts (ISO 32000-1, 14.8.2.2).
 */
import { type Operation, operands, operations } from './content.ts';
import type { Findings } from './findings.ts';
import type { Fonts } from './fonts.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { IDENTITY, type Matrix, matrixOf, StreamRun, times } from './stream-run.ts';
import { type Dictionary, Name, PdfString, Ref } from './values.ts';

/** The most graphics states within each other (ISO 19005-2, 6.1.13). */
const MAX_STATES = 28;
/** XObjects within each other: Chrome makes one for a group that is painted as a whole. */
const MAX_DEPTH = 50;
/** Points from the edge of the page, within which headers and footers lie. */
const EDGE = 85;

/** Text that is wanted of marked content: page to content id to text. */
export type WantedTexts = ReadonlyMap<number, Map<number, string>>;

interface Form {
  /** It is painted within a tag. */
  readonly isTagged: boolean;
  /** It holds content of the tree of tags. */
  holdsTags: boolean;
}

/** The work on one page. */
interface PageWork {
  readonly number: number;
  readonly top: number;
  readonly bottom: number;
  /** Heights of the base lines of text. */
  readonly tagged: { lowest: number; highest: number };
  readonly untagged: { readonly y: number; text: string }[];
}

export interface ContentOptions {
  /** Untagged content is to become artifacts. */
  readonly mark: boolean;
  /** Points that headers and footers may take. */
  readonly margins: { readonly top: number; readonly bottom: number };
  readonly wanted: WantedTexts;
}

export class PageContents {
  readonly #objects: PdfObjects;
  readonly #fonts: Fonts;
  readonly #findings: Findings;
  readonly #options: ContentOptions;
  /** Form XObjects that were followed. */
  readonly #forms = new Map<number, Form>();

  constructor(objects: PdfObjects, fonts: Fonts, findings: Findings, options: ContentOptions) {
    this.#objects = objects;
    this.#fonts = fonts;
    this.#findings = findings;
    this.#options = options;
  }

  /** @param number of the page, from 1 */
  follow(page: Dictionary, number: number): void {
    const [, bottom = 0, , top = 0] = this.#objects
      .list(page.get('MediaBox'))
      .map((each) => (typeof each === 'number' ? each : 0));
    const work: PageWork = {
      number,
      top,
      bottom,
      tagged: { lowest: Number.POSITIVE_INFINITY, highest: Number.NEGATIVE_INFINITY },
      untagged: [],
    };
    const resources = this.#objects.dictionary(page.get('Resources'));
    for (const content of this.#objects.list(page.get('Contents'))) {
      if (content instanceof Ref) this.#stream(content.number, resources, work, IDENTITY, false, 0);
    }
    if (this.#options.mark) this.#judgeText(work);
  }

  /** Follows what no page shows by itself: patterns, masks and groups. */
  followRest(): void {
    for (const number of this.#objects.numbers) {
      const entries = this.#objects.object(number);
      if (!(entries instanceof Map) || this.#forms.has(number)) continue;
      const isForm = this.#objects.name(entries.get('Subtype')) === 'Form';
      if (!isForm && entries.get('PatternType') !== 1) continue;
      const resources = this.#objects.dictionary(entries.get('Resources'));
      this.#forms.set(number, { isTagged: true, holdsTags: false });
      this.#stream(number, resources, undefined, IDENTITY, true, 0);
    }
  }

  /** A header or footer is no part of the document's text. All other text is. */
  #judgeText({ number, top, bottom, tagged, untagged }: PageWork): void {
    const { margins } = this.#options;
    const [high, low] = [
      top - Math.max(EDGE, margins.top),
      bottom + Math.max(EDGE, margins.bottom),
    ];
    const lost = untagged.find(({ y }) => {
      const isHeader = y > high && y > tagged.highest;
      const isFooter = y < low && y < tagged.lowest;
      return !isHeader && !isFooter;
    });
    if (lost === undefined) return;
    const shown = lost.text.length > 40 ? `${lost.text.slice(0, 40)}…` : lost.text;
    const what = `the text “${shown}” has no tag: style sheets (content) and form fields make such text`;
    this.#findings.add('tags', 'ISO 14289-1, 7.1', what, number);
  }

  /** @returns true if it holds content of the tree of tags */
  #stream(
    number: number,
    resources: Dictionary,
    work: PageWork | undefined,
    matrix: Matrix,
    isTagged: boolean,
    depth: number,
  ): boolean {
    if (depth > MAX_DEPTH) {
      this.#findings.add(
        'archive',
        'ISO 19005-2, 6.1.13',
        'groups lie within each other too deeply',
      );
      return false;
    }
    const text = this.#objects.content(number).toString('latin1');
    const run = new StreamRun(text, matrix, isTagged);
    for (const operation of operations(text))
      this.#operation(run, operation, resources, work, depth);
    if (run.deepest > MAX_STATES) {
      const what = 'graphics states lie within each other too deeply';
      this.#findings.add('archive', 'ISO 19005-2, 6.1.13', what, work?.number);
    }
    const marked = this.#options.mark && !isTagged ? run.marked() : undefined;
    if (marked !== undefined) {
      const entries = this.#objects.dictionary(new Ref(number));
      this.#objects.setStream(number, entries, Buffer.from(marked, 'latin1'));
    }
    return run.holdsTags;
  }

  #operation(
    run: StreamRun,
    operation: Operation,
    resources: Dictionary,
    work: PageWork | undefined,
    depth: number,
  ): void {
    const { operator } = operation;
    switch (operator) {
      case 'Tf': {
        const [name] = operands(run.text, operation);
        const fonts = this.#objects.dictionary(resources.get('Font'));
        const font = name instanceof Name ? fonts.get(name.value) : undefined;
        run.font = font instanceof Ref ? this.#fonts.get(font.number, work?.number) : undefined;
        break;
      }
      case 'Tj':
      case 'TJ':
      case "'":
      case '"':
        this.#text(run, operation, work);
        break;
      case 'Do':
        this.#xObject(run, operation, resources, work, depth);
        break;
      case 'BDC':
      case 'BMC':
        this.#begin(run, operation, resources);
        break;
      default:
        run.follow(operation);
    }
  }

  #begin(run: StreamRun, operation: Operation, resources: Dictionary): void {
    const [tag, given] = operands(run.text, operation);
    const named =
      given instanceof Name
        ? this.#objects.dictionary(resources.get('Properties')).get(given.value)
        : given;
    const properties = this.#objects.dictionary(named);
    const id = properties.get('MCID');
    run.begin(operation, {
      isTagged: typeof id === 'number' || (tag instanceof Name && tag.value === 'Artifact'),
      id: typeof id === 'number' ? id : undefined,
      isExplained: properties.has('ActualText'),
    });
  }

  #text(run: StreamRun, operation: Operation, work: PageWork | undefined): void {
    const { font } = run;
    if (font === undefined) {
      this.#findings.add('file', 'ISO 32000-1, 9.4', 'a text has no font', work?.number);
      return;
    }
    const shown = operands(run.text, operation)
      .flat()
      .filter((each) => each instanceof PdfString);
    const text = shown.map((each) => this.#fonts.show(font, each, run.isExplained)).join('');
    if (work === undefined) return;
    const y = run.baseline;
    if (!run.isTagged) {
      const last = work.untagged.at(-1);
      // Letters of a line may come one by one.
      if (last?.y === y) last.text += text;
      else if (text.trim() !== '') work.untagged.push({ y, text });
      return;
    }
    work.tagged.lowest = Math.min(work.tagged.lowest, y);
    work.tagged.highest = Math.max(work.tagged.highest, y);
    const wanted = run.id === undefined ? undefined : this.#options.wanted.get(work.number);
    const known = run.id === undefined ? undefined : wanted?.get(run.id);
    if (wanted !== undefined && known !== undefined && run.id !== undefined) {
      wanted.set(run.id, known + text);
    }
  }

  #xObject(
    run: StreamRun,
    operation: Operation,
    resources: Dictionary,
    work: PageWork | undefined,
    depth: number,
  ): void {
    const [name] = operands(run.text, operation);
    const found = this.#objects.dictionary(resources.get('XObject'));
    const ref = name instanceof Name ? found.get(name.value) : undefined;
    if (!(ref instanceof Ref)) return;
    const entries = this.#objects.dictionary(ref);
    if (this.#objects.name(entries.get('Subtype')) !== 'Form') {
      run.paint(operation);
      return;
    }
    const { isTagged } = run;
    // What it shows without a tag is marked within it.
    run.endArtifact(operation.from);
    const before = this.#forms.get(ref.number);
    if (before !== undefined) {
      run.holdsTags ||= before.holdsTags;
      if (this.#options.mark && (before.isTagged !== isTagged || before.holdsTags)) {
        const what = 'a part with tags is painted twice, as masks and effects do';
        this.#findings.add('tags', 'ISO 14289-1, 7.20', what, work?.number);
      }
      return;
    }
    const form = { isTagged, holdsTags: false };
    this.#forms.set(ref.number, form);
    const own = this.#objects
      .list(entries.get('Matrix'))
      .filter((each) => typeof each === 'number');
    const inner = entries.has('Resources')
      ? this.#objects.dictionary(entries.get('Resources'))
      : resources;
    const matrix = times(matrixOf(own), run.matrix);
    form.holdsTags = this.#stream(ref.number, inner, work, matrix, isTagged, depth + 1);
    run.holdsTags ||= form.holdsTags;
  }
}
