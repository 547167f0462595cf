/** Anybody can register a name that we do not own: nothing may send people to a registry for it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';

const ROOT = join(import.meta.dirname, '../..');

/** A command of a package manager that takes one of our names from a registry, and not a file, folder or address. */
const FROM_A_REGISTRY =
  /\b(?:(?:npm|pnpm|yarn|bun|deno) (?:i|install|add|exec|x|dlx|create|view)|npx|bunx|pnpx)\b(?: (?!\.{0,2}\/|https?:)\S+)*? ['"`]?(?:npm:|jsr:)?(?:@pressledger\/|pressledger(?!\S*\.tgz\b)).*/g;

const inText = (text: string): readonly string[] => text.match(FROM_A_REGISTRY) ?? [];

void test('commands that take our names from a registry are found', async (t) => {
  for (const command of [
    'npm install @pressledger/client',
    'npm i -g pressledger',
    'npx pressledger start',
    'npx --yes pressledger@latest',
    'pnpm add --save-exact @pressledger/client@0.1.0',
    'yarn add "@pressledger/client"',
    'deno add npm:@pressledger/client',
    'npm exec -- pressledger doctor',
  ]) {
    t.strictSame(inText(`Run \`${command}`), [command.replace(/^Run `/, '')], command);
  }
  for (const command of [
    'npm install --allow-remote=root http://localhost:8080/client.tgz',
    'npm install --engine-strict ./pressledger-0.1.0.tgz',
    'npm install ../pressledger',
    'node_modules/.bin/pressledger start',
    'npm pack` in a clone writes `pressledger-VERSION.tgz`',
    'npx @puppeteer/browsers install chrome-headless-shell@stable',
  ]) {
    t.strictSame(inText(command), [], command);
  }
});

void test('no text, sample or page takes a package from a registry by a name that we do not own', async (t) => {
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' });
  const texts = listed
    .split('\0')
    .filter((path) =>
      /\.(md|[cm]?[jt]sx?|json|ya?ml|sh|py|cs|go|html|service|conf)$|^[^.]+$/.test(path),
    )
    .filter((path) => !/^(CHANGELOG\.md|test\/.*)$|package-lock\.json$/.test(path));
  t.ok(texts.length > 500);
  const found = texts.flatMap((path) =>
    inText(readFileSync(join(ROOT, path), 'utf8')).map((command) => `${path}: ${command}`),
  );
  t.strictSame(found, []);
});
