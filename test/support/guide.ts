import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The code blocks of that page of docs/ in that language. */
export function guideBlocks(page: string, language: string): readonly string[] {
  const guide = readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8');
  return [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code = '']) => code,
  );
}
