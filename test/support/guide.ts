import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The code blocks of docs/audit.md in that language. */
export function guideBlocks(language: string): readonly string[] {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/audit.md'), 'utf8');
  return [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code = '']) => code,
  );
}
