import { program } from '../config/copyable-command.ts';

/** The remedy for those who want several pages converted. */
export const onePage = (pages: string): string =>
  `convert takes one page, and the name of its PDF with -o. For several, run \`for page in ${pages}; do ${program()} convert "$page" -o "\${page%.html}.pdf"; done\`.`;
