// Prints a page with the styles and pictures beside it: node page-with-pictures.mjs page/index.html page.pdf
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { convert } from './convert.mjs';

const TYPES = {
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
};

const [input, output] = process.argv.slice(2);
let html = await readFile(input, 'utf8');

// Every file that the page names becomes part of it, as a data: URL.
for (const [attribute, name, file] of html.matchAll(/(src|href)="((?!#|\w+:|\/)[^"]+)"/g)) {
  const content = await readFile(join(dirname(input), file), 'base64');
  const type = TYPES[extname(file)] ?? 'application/octet-stream';
  html = html.replace(attribute, `${name}="data:${type};base64,${content}"`);
}
await writeFile(output, await convert({ html }));
