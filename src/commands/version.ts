import { readFileSync } from 'node:fs';

export interface Version {
  readonly name: string;
  readonly version: string;
}

/** What package.json says that this is. */
export function packageVersion(): Version {
  const file = new URL('../../package.json', import.meta.url);
  const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as Version;
  return { name, version };
}
