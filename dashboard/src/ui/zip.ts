import { t } from '../words/words.ts';
/** ZIP files, which the page reads and makes by itself. The library is loaded when it is first needed. */

type Bounds = { readonly files: number; readonly bytes: number };

/** @throws {Error} the paths would lead out of the folder, or what it holds is out of bounds or cannot be read */
export async function unpack(
  zip: Uint8Array,
  isWanted: (path: string) => boolean,
  bounds: Bounds,
): Promise<ReadonlyMap<string, Uint8Array<ArrayBuffer>>> {
  const { unzipSync } = await import('fflate');
  let [files, bytes] = [0, 0];
  let problem: string | undefined;
  const filter = ({ name, originalSize }: { name: string; originalSize: number }): boolean => {
    if (leavesFolder(name)) problem = t('it has a path that leads out of it, {name}', { name });
    if (problem !== undefined || /[/\\]$/.test(name) || !isWanted(name)) return false;
    files += 1;
    bytes += originalSize;
    if (files > bounds.files || bytes > bounds.bytes) problem = t('it holds too much');
    return problem === undefined;
  };
  let found: Readonly<Record<string, Uint8Array>>;
  try {
    found = unzipSync(zip, { filter });
  } catch {
    throw new Error(t('The ZIP cannot be read. Make it again, without a password.'));
  }
  if (problem !== undefined) {
    const most = t('at most {files} files and {value} MB when unpacked', {
      files: bounds.files,
      value: bounds.bytes / 1e6,
    });
    throw new Error(t('The ZIP was not opened: {problem}. It may hold {most}.', { problem, most }));
  }
  return new Map(
    Object.entries(found).map(([name, content]) => [name.replaceAll('\\', '/'), content.slice()]),
  );
}

const leavesFolder = (path: string): boolean =>
  /^([/\\]|[a-z]:)/i.test(path) || path.split(/[/\\]/).includes('..');
