import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

interface Located {
  /** An absolute path. */
  readonly dataDir: string;
}

export const inDataDir = ({ dataDir }: Located, name: string): string => join(dataDir, name);

export function makeDataDir({ dataDir }: Located): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
}
