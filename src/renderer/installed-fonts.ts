/** The fonts that are installed where Chrome runs, as fontconfig knows them. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import type { ManifestFontFile } from '../domain/render-manifest.ts';

const run = promisify(execFile);
/** The families that Chrome takes if a document names none that is there, and for `system-ui`, as frameworks name it. */
const DEFAULT_FAMILIES = ['Times New Roman', 'Arial', 'Courier New', 'system-ui'];

interface InstalledFont {
  readonly family: string;
  readonly name: string;
  readonly path: string;
}

export class InstalledFonts {
  /** Undefined if fontconfig cannot be asked. */
  readonly #fonts: Promise<readonly InstalledFont[] | undefined>;
  readonly #defaults: Promise<ReadonlySet<string> | undefined>;
  /** Hex, by path. */
  readonly #hashes = new Map<string, string>();

  constructor() {
    const own = DEFAULT_FAMILIES.map((name) => run('fc-match', ['-f', '%{family[0]}', name]));
    this.#defaults = Promise.all(own).then(
      (found) => new Set(found.map(({ stdout }) => stdout)),
      () => undefined,
    );
    const format = '%{family[0]}\t%{postscriptname}\t%{file}\n';
    this.#fonts = run('fc-list', ['-f', format], { maxBuffer: 16 * 1024 * 1024 }).then(
      ({ stdout }) =>
        stdout.split('\n').map((line) => {
          const [family = '', name = '', path = ''] = line.split('\t');
          return { family, name, path };
        }),
      () => undefined,
    );
  }

  /**
   * Tells if a document used installed fonts but for those of the default families. A Chrome process takes the fallback font
   * that it found first for a character, whatever language asks next. So it serves no document after one that used these.
   * @returns true if fontconfig cannot be asked: then a process serves one document
   */
  async usedFallback(names: readonly string[]): Promise<boolean> {
    const [fonts, defaults] = await Promise.all([this.#fonts, this.#defaults]);
    if (fonts === undefined || defaults === undefined) return true;
    const used = new Set(names);
    return fonts.some(({ family, name }) => used.has(name) && !defaults.has(family));
  }

  /** The files of those of these fonts that are installed, by the names that a PDF has for them. */
  async filesOf(names: readonly string[]): Promise<readonly ManifestFontFile[]> {
    const fonts = (await this.#fonts) ?? [];
    const files: ManifestFontFile[] = [];
    for (const name of names) {
      const path = fonts.find((each) => each.name === name)?.path;
      const sha256 = path === undefined ? undefined : await this.#hashOf(path);
      if (path !== undefined && sha256 !== undefined) {
        files.push({ name, file: basename(path), sha256 });
      }
    }
    return files;
  }

  async #hashOf(path: string): Promise<string | undefined> {
    const known = this.#hashes.get(path);
    if (known !== undefined) return known;
    // It may have been removed since.
    const content = await readFile(path).catch(() => undefined);
    if (content === undefined) return undefined;
    const hash = createHash('sha256').update(content).digest('hex');
    this.#hashes.set(path, hash);
    return hash;
  }
}
