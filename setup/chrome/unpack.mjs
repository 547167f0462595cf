/**
 * Unpacks the Chrome of the npm package: `node unpack.mjs FOLDER` prints the path of what is to be
 * started. A process of its own, because the package unpacks to wherever os.tmpdir() points.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium, { inflate } from '@sparticuz/chromium';

const folder = process.argv[2];
if (folder === undefined) throw new Error('unpack.mjs needs the folder to unpack to');

rmSync(dirname(folder), { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
process.env.TMPDIR = folder;
const binary = await chromium.executablePath();
chmodSync(binary, 0o755);

// NSS and Expat, for systems that lack them; a system's own are newer and stay in use.
const environment = [];
if (spawnSync(binary, ['--version']).status !== 0) {
  const packed = new URL('../bin/al2023.tar.br', import.meta.resolve('@sparticuz/chromium'));
  const libraries = join(await inflate(fileURLToPath(packed)), 'lib');
  environment.push(`export LD_LIBRARY_PATH='${libraries}'`);
}

// Without any font Chrome prints empty pages: the package's Open Sans is added to the system's.
if (!existsSync('/etc/fonts/fonts.conf')) {
  const fonts = join(folder, 'fonts');
  writeFileSync(
    join(fonts, 'fonts.conf'),
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${fonts}</dir>
  <dir>/usr/share/fonts</dir>
  <dir prefix="xdg">fonts</dir>
  <cachedir>${join(folder, 'font-cache')}</cachedir>
</fontconfig>
`,
  );
  environment.push(`export FONTCONFIG_PATH='${fonts}'`);
}

// exec: signals sent to the process that was started must reach Chrome itself.
const starter = join(folder, 'chrome-headless-shell');
const lines = ['#!/bin/sh', ...environment, `exec '${binary}' "$@"`, ''];
writeFileSync(starter, lines.join('\n'), { mode: 0o755 });
process.stdout.write(`${starter}\n`);
