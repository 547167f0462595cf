import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The service that `npm run dev` shows: the default address of `npm start`. */
const SERVICE = process.env['PRESSLEDGER_URL'] ?? 'http://localhost:8080';

/** The service takes a request with a cookie from its own pages alone, so it must see its own origin. */
const proxied = { target: SERVICE, changeOrigin: true, headers: { origin: SERVICE } };

/**
 * What draws `/docs`: one file of a package whose 263 dependencies are built into that file, so that none of
 * them is installed.
 */
const REFERENCE = {
  package: '@scalar/api-reference@1.72.1',
  sha512:
    'XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow==',
  file: 'package/dist/browser/standalone.js',
};

/** The tarball of a package or folder. What npm was started with does not count: it may be a dry run. */
async function packed(what: string, into: string): Promise<string> {
  const options = ['--dry-run=false', '--ignore-scripts=false', '--prefer-offline', '--silent'];
  await promisify(execFile)('npm', ['pack', what, ...options, '--pack-destination', into]);
  const [file = ''] = await readdir(into);
  return join(into, file);
}

/** The script of `/docs`, below the text of its licence. */
async function referenceScript(folder: string): Promise<string> {
  const tarball = await packed(REFERENCE.package, folder);
  const hash = createHash('sha512').update(await readFile(tarball));
  if (hash.digest('base64') !== REFERENCE.sha512) {
    throw new Error(`${REFERENCE.package} is not the package that it was: its checksum differs`);
  }
  await promisify(execFile)('tar', ['-xzf', tarball, '-C', folder, REFERENCE.file]);
  const licence = await readFile(join(import.meta.dirname, 'reference-license.txt'), 'utf8');
  const script = await readFile(join(folder, REFERENCE.file), 'utf8');
  return `/*! ${REFERENCE.package}\n\n${licence}*/\n${script}`;
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'pressledger-build-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What the service serves beside the pages: the script of `/docs`, and the package of the client. */
function besides(): Plugin {
  return {
    name: 'besides',
    apply: 'build',
    async generateBundle() {
      const [script, client] = await Promise.all([
        inFolder(referenceScript),
        inFolder(async (folder) => readFile(await packed('../client', folder))),
      ]);
      this.emitFile({ type: 'asset', fileName: 'reference.js', source: script });
      this.emitFile({ type: 'asset', fileName: 'client.tgz', source: client });
    },
  };
}

/** Puts `.br` and `.gz` beside each file that a browser asks for compressed. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      const names = [...Object.keys(bundle), 'favicon.svg'].filter(
        (name) => !/\.(tgz|md)$/.test(name),
      );
      await Promise.all(
        names.map(async (name) => {
          const file = join(dir, name);
          const content = await readFile(file);
          // The best of large files takes many seconds, for little.
          const quality = content.length > 2 ** 20 ? 9 : constants.BROTLI_MAX_QUALITY;
          const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
          await writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params }));
          await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
        }),
      );
    },
  };
}

export default defineConfig({
  plugins: [react(), besides(), compressed()],
  worker: { format: 'es' },
  build: {
    target: ['chrome123', 'edge123', 'firefox125', 'safari17.5'],
    // The service's Content-Security-Policy allows no inline script, and no data: URL but for images.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    license: { fileName: 'licenses.md' },
  },
  server: {
    proxy: {
      '/api': proxied,
      '/dashboard': proxied,
      '/files': proxied,
      '/s/': proxied,
      '/tlog': proxied,
      '/readyz': proxied,
      '/openapi.json': proxied,
    },
  },
});
