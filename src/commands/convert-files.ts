/** The files that an HTML file refers to by relative URLs, and what of a page could not be loaded. */
import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse, type DefaultTreeAdapterTypes as Tree } from 'parse5';
import { lackingIn } from '../domain/lacking-resource.ts';
import { issueOfName, MAX_FILES } from '../requests/files.ts';
import { cssText } from '../requests/html.ts';
import { sizeText } from '../text/size.ts';
import { UsageError } from './command.ts';

/** More than a service takes unless it is set otherwise, so that it says itself what it takes. */
const MAX_BYTES = 64 * 2 ** 20;
/** The page's own address, for as long as its references are followed. */
const PAGE = 'http://page.invalid/';

/** A reference to a file. If `needed`, a browser that shows the page is sure to ask for it. */
interface Reference {
  readonly address: string;
  readonly needed: boolean;
}

/** The same place as the page knows it, and as the disk does. */
interface Place {
  readonly url: URL;
  readonly file: URL;
}

export interface FilesBeside {
  /** Relative name to content in base64. */
  readonly files: Readonly<Record<string, string>>;
  /** Files that the page is sure to ask for and will not get, with the reason. */
  readonly lacking: readonly string[];
  /** Says why there is no file for a relative URL. */
  reasonFor(url: string): string;
}

const needed = (address: string): Reference => ({ address, needed: true });
const perhaps = (address: string): Reference => ({ address, needed: false });
const matches = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, , address = '']) => address);

function* inStyles(text: string): Generator<Reference> {
  const css = cssText(text);
  yield* matches(css, /@import\s+(?:url\(\s*)?(["']?)([^"')\s;]+)/gi).map(needed);
  // The elements of a page decide which of these it makes use of.
  yield* matches(css, /url\(\s*(["']?)([^"')]+?)\s*\1\s*\)/gi).map(perhaps);
}

function* inScript(text: string): Generator<Reference> {
  const imports = /\b(?:from|import)\s*\(?\s*(["'])(\.{0,2}\/[^"'\n]+)\1/g;
  yield* matches(text, imports).map(perhaps);
}

const candidates = (srcset: string): readonly string[] =>
  matches(srcset, /()([^\s,]\S*[^\s,]|[^\s,])(?:\s+[^\s,]+)*\s*(?:,|$)/g);

/** Attributes that are fetched, each with its elements; those of links depend on what kind of link it is. */
const FETCHED: Readonly<Record<string, readonly string[]>> = {
  src: ['img', 'script', 'iframe', 'embed', 'input', 'source', 'video', 'audio', 'track'],
  poster: ['video'],
  data: ['object'],
  href: ['image', 'use', 'feImage'],
  background: ['body', 'table', 'td', 'th'],
};
const NEEDED = new Set(['img', 'script', 'iframe']);

function* inElement(element: Tree.Element): Generator<Reference> {
  const { tagName, attrs, childNodes } = element;
  const attribute = (name: string): string => attrs.find((each) => each.name === name)?.value ?? '';
  const of = NEEDED.has(tagName) ? needed : perhaps;
  for (const [name, elements] of Object.entries(FETCHED)) {
    if (elements.includes(tagName)) yield of(attribute(name));
  }
  yield* candidates(`${attribute('srcset')},${attribute('imagesrcset')}`).map(perhaps);
  yield* inStyles(attribute('style'));
  if (tagName === 'link') {
    const kinds = attribute('rel').toLowerCase().split(/\s+/);
    if (kinds.includes('stylesheet')) yield needed(attribute('href'));
    if (kinds.includes('preload') || kinds.includes('modulepreload')) {
      yield perhaps(attribute('href'));
    }
  }
  const text = childNodes.map((node) => ('value' in node ? node.value : '')).join('');
  if (tagName === 'style') yield* inStyles(text);
  if (tagName === 'script') yield* inScript(text);
}

/** Every element, also those of templates, which scripts may bring in. */
function* elementsOf(node: Tree.Node): Generator<Tree.Element> {
  if ('tagName' in node) yield node;
  if ('content' in node) yield* elementsOf(node.content);
  if ('childNodes' in node) for (const child of node.childNodes) yield* elementsOf(child);
}

class Collector implements FilesBeside {
  readonly files: Record<string, string> = {};
  readonly lacking: string[] = [];
  readonly #absent = new Map<string, string>();
  readonly #name: string;
  readonly #base: string;
  #count = 0;
  #bytes = 0;

  /** @param name the page's, for people */
  constructor(name: string, base: string) {
    this.#name = name;
    this.#base = base;
  }

  reasonFor(url: string): string {
    return this.#absent.get(nameOf(URL.parse(url, PAGE))) ?? `not found beside ${this.#name}`;
  }

  async followHtml(html: string, from: Place): Promise<void> {
    const elements = [...elementsOf(parse(html))];
    const base = elements
      .find(({ tagName }) => tagName === 'base')
      ?.attrs.find(({ name }) => name === 'href');
    const at = base === undefined ? from : this.#at(base.value, from);
    if (at === undefined) return;
    for (const element of elements) await this.#follow(inElement(element), at);
  }

  async #follow(references: Iterable<Reference>, from: Place): Promise<void> {
    for (const { address, needed: isNeeded } of references) {
      const place = this.#at(address.trim(), from);
      const name = nameOf(place?.url);
      // Nothing, or the page itself.
      if (place === undefined || name === '' || Object.hasOwn(this.files, name)) continue;
      if (!this.#absent.has(name)) {
        const reason = await this.#take(place, name);
        if (reason !== undefined) this.#absent.set(name, reason);
      }
      const line = `${name} (${this.#absent.get(name)})`;
      const lacks = isNeeded && this.#absent.has(name) && !this.lacking.includes(line);
      if (lacks) this.lacking.push(line);
    }
  }

  /** The place of an address; undefined where it is elsewhere, or none. */
  #at(address: string, from: Place): Place | undefined {
    const url = URL.parse(address, from.url.href);
    if (url === null || `${url.origin}/` !== PAGE) return undefined;
    // The root of a site is the folder that may be read.
    const isRooted = /^[/\\]/.test(address);
    const file = isRooted
      ? URL.parse(`.${address.replaceAll('\\', '/')}`, pathToFileURL(join(this.#base, sep)).href)
      : URL.parse(address, from.file.href);
    return file?.protocol === 'file:' ? { url, file } : undefined;
  }

  /** @returns why it is not taken */
  async #take({ url, file }: Place, name: string): Promise<string | undefined> {
    const path = pathOf(file);
    if (path === undefined || !isBelow(path, this.#base)) return `outside of ${this.#base}`;
    if (
      relative(this.#base, path)
        .split(sep)
        .some((step) => step.startsWith('.'))
    ) {
      return 'a hidden file';
    }
    // A service would refuse the whole page for it.
    if (issueOfName(name) !== undefined) return 'not a name for a file that goes with a page';
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) return `not found beside ${this.#name}`;
    if (!isBelow(real, await realpath(this.#base))) return `a link out of ${this.#base}`;
    const stats = await stat(real);
    if (!stats.isFile()) return 'not a file';
    this.#count += 1;
    this.#bytes += stats.size;
    if (this.#count > MAX_FILES) {
      throw new Error(
        `${this.#name} refers to more than ${MAX_FILES} files, the most that go with it.`,
      );
    }
    if (this.#bytes > MAX_BYTES) {
      throw new Error(`The files of ${this.#name} have more than ${sizeText(MAX_BYTES)} together.`);
    }
    const content = await readFile(real).catch(() => undefined);
    if (content === undefined) return 'it cannot be read';
    this.files[name] = content.toString('base64');
    const from = { url, file };
    if (/\.css$/i.test(name)) await this.#follow(inStyles(content.toString()), from);
    if (/\.m?js$/i.test(name)) await this.#follow(inScript(content.toString()), from);
    if (/\.html?$/i.test(name)) await this.followHtml(content.toString(), from);
    return undefined;
  }
}

function pathOf(file: URL): string | undefined {
  try {
    return fileURLToPath(file);
  } catch {
    // A slash within a name.
    return undefined;
  }
}

function nameOf(url: URL | null | undefined): string {
  try {
    return decodeURIComponent(url?.pathname.slice(1) ?? '');
  } catch {
    return '';
  }
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * Takes the files that the HTML refers to, and those that their style sheets and modules refer to: none
 * but those below the HTML's own folder, or below `base`, where symbolic links are followed no further.
 * @param path of the HTML; `-` has no folder but `base`
 * @throws {UsageError} `base` is not a folder
 * @throws {Error} one line: they are too many or too large
 */
export async function filesBeside(
  html: string,
  path: string,
  base: string | undefined,
): Promise<FilesBeside> {
  if (base !== undefined && !(await stat(base).catch(() => undefined))?.isDirectory()) {
    throw new UsageError(`--base: ${base} is not a folder.`);
  }
  const isInput = path === '-';
  if (isInput && base === undefined) {
    return { files: {}, lacking: [], reasonFor: () => 'name the folder of its file with --base' };
  }
  const folder = resolve(isInput ? (base ?? '') : dirname(path));
  const collector = new Collector(
    isInput ? 'standard input' : basename(path),
    resolve(base ?? folder),
  );
  const file = pathToFileURL(join(folder, 'index.html'));
  await collector.followHtml(html, { url: new URL(PAGE), file });
  return collector;
}

/** Tells the warnings of a record about resources, each with the reason, from all others. */
export function splitWarnings(
  warnings: readonly string[],
  beside: Pick<FilesBeside, 'reasonFor'>,
): { readonly notLoaded: readonly string[]; readonly others: readonly string[] } {
  const notLoaded = warnings.flatMap((warning) => {
    const lacking = lackingIn(warning);
    if (lacking === undefined) return [];
    const { url, reason } = lacking;
    return `${url} (${URL.canParse(url) ? reason : beside.reasonFor(url)})`;
  });
  return { notLoaded, others: warnings.filter((warning) => lackingIn(warning) === undefined) };
}
