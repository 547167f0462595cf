import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The service that `npm run dev` shows: the default address of `npm start`. */
const SERVICE = process.env['PRESSLEDGER_URL'] ?? 'http://localhost:8080';

/** The service takes a request with a cookie from its own pages alone, so it must see its own origin. */
const proxied = { target: SERVICE, changeOrigin: true, headers: { origin: SERVICE } };

/** Puts `.br` and `.gz` beside each file that a browser asks for compressed. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      const files = [...Object.keys(bundle), 'favicon.svg'].map((name) => join(dir, name));
      await Promise.all(
        files.map(async (file) => {
          const content = await readFile(file);
          await writeFile(`${file}.br`, await promisify(brotliCompress)(content));
          await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
        }),
      );
    },
  };
}

export default defineConfig({
  plugins: [react(), compressed()],
  worker: { format: 'es' },
  build: {
    target: ['chrome123', 'edge123', 'firefox125', 'safari17.5'],
    // The service's Content-Security-Policy allows no inline script, and no data: URL but for images.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: {
    proxy: {
      '/api': proxied,
      '/dashboard': proxied,
      '/files': proxied,
      '/tlog': proxied,
      '/readyz': proxied,
      '/openapi.json': proxied,
    },
  },
});
