/** HTML files with what lies beside them, as a person chooses or drops them: files, a folder, or a ZIP. */
import { base64 } from '../../../../verifier/verify-evidence.mjs';
import type { Row } from '../../request/values.ts';
import { contentOf, kindOf } from '../../ui/chosen-files.ts';
import { unpack } from '../../ui/zip.ts';
import { t } from '../../words/words.ts';

/** The contents of files by their paths. */
export type Contents = ReadonlyMap<string, Uint8Array<ArrayBuffer>>;

export type Found = { readonly path: string; readonly file: File };

/** The service takes no more files, and usually no more than 10 MiB in all. */
const BOUNDS = { files: 201, bytes: 30_000_000 };

/** What systems put into folders without being asked. */
export const isWanted = (path: string): boolean =>
  path.split('/').every((step) => !step.startsWith('.') && step !== '__MACOSX');

/** @throws {Error} there is too much, or the browser cannot read it */
export async function contentsOf(found: AsyncIterable<Found> | Iterable<Found>): Promise<Contents> {
  const contents = new Map<string, Uint8Array<ArrayBuffer>>();
  let bytes = 0;
  for await (const { path, file } of found) {
    bytes += file.size;
    if (contents.size >= BOUNDS.files || bytes > BOUNDS.bytes) {
      throw new Error(
        t('This is too much: open a folder of at most {files} files and {value} MB.', {
          files: BOUNDS.files,
          value: BOUNDS.bytes / 1e6,
        }),
      );
    }
    contents.set(path, await contentOf(file));
  }
  const [only, ...others] = contents.values();
  const isZip = only !== undefined && others.length === 0 && kindOf(only) === 'bundle';
  return isZip ? await unpack(only, isWanted, BOUNDS) : contents;
}

const depth = (path: string): number => path.split('/').length;

/** The paths of the HTML files, those of the outermost folder first. */
export function pagesIn(contents: Contents): readonly string[] {
  return [...contents.keys()]
    .filter((path) => /\.x?html?$/i.test(path))
    .toSorted((a, b) => depth(a) - depth(b) || a.localeCompare(b));
}

/**
 * The name by which the page reaches the file. Nothing is above the folder of the page: `../style.css` leads to
 * `style.css` there.
 */
function nameBeside(page: string, path: string): { readonly name: string; readonly up: number } {
  const [from, to] = [page.split('/').slice(0, -1), path.split('/')];
  const parted = from.findIndex((step, at) => to[at] !== step);
  const common = parted === -1 ? from.length : parted;
  return { name: to.slice(common).join('/'), up: from.length - common };
}

/** @throws {Error} the page is not in UTF-8 */
export function openedPage(
  contents: Contents,
  page: string,
): { readonly html: string; readonly files: readonly Row[] } {
  let html: string;
  try {
    html = new TextDecoder('utf-8', { fatal: true }).decode(contents.get(page));
  } catch {
    throw new Error(t('{page} is not in UTF-8. Save it in UTF-8, and open it again.', { page }));
  }
  const beside = [...contents.keys()]
    .filter((path) => path !== page)
    .map((path) => ({ path, ...nameBeside(page, path) }))
    // The page itself has that name.
    .filter(({ name }) => name !== 'index.html')
    // Of two files with one name, the page means the nearer one.
    .toSorted((a, b) => b.up - a.up);
  const byName = new Map(beside.map(({ name, path }) => [name, path] as const));
  const files = [...byName].map(([name, path]) => ({
    name,
    value: base64(contents.get(path) ?? new Uint8Array()),
  }));
  return { html, files: files.toSorted((a, b) => a.name.localeCompare(b.name)) };
}
