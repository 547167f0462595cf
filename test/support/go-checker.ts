/** The checks of test/transparency-log-tools, by Go's own transparency log library. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, 'test/transparency-log-tools/check.go');
/** The folder of Go's libraries on Debian and Ubuntu. */
const GOPATH = '/usr/share/gocode';
const LONGEST_MS = 120_000;

/** Options of a test: skips it where Go or its library is missing. */
export const WITH_GO =
  existsSync(join(GOPATH, 'src/golang.org/x/mod/sumdb/tlog')) &&
  spawnSync('go', ['version']).status === 0
    ? {}
    : { skip: 'golang-go or golang-golang-x-mod-dev is missing' };

/** The statements of a log. Those that are given are checked. */
export interface Claim {
  /** The log's verifier keys: one of them must have signed. */
  readonly keys: readonly string[];
  readonly origin: string;
  /** A signed note; left out where there is a proof, which has its own. */
  readonly checkpoint?: string;
  /** The text of an inclusion proof, and the canonical event that it is for. */
  readonly proof?: string;
  readonly event?: string;
  /** An earlier checkpoint, and the consistency proof to the other, in base64. */
  readonly older?: string;
  readonly consistency?: readonly string[];
  /** The URL before `/tile/`. All leaves are read from there, and the proofs compared with its own. */
  readonly tiles?: string;
}

/** Gives for each claim what Go finds wrong with it: an empty text for nothing. */
export async function faultsByGo(claims: readonly Claim[]): Promise<string[]> {
  const env = {
    ...process.env,
    GO111MODULE: 'off',
    GOPATH,
    GOPROXY: 'off',
    GOCACHE: join(ROOT, 'node_modules/.cache/go'),
    // Without it no C compiler is needed.
    CGO_ENABLED: '0',
    NO_PROXY: '127.0.0.1',
  };
  const stdout = await new Promise<string>((resolve, reject) => {
    const options = { env, timeout: LONGEST_MS, maxBuffer: 2 ** 26 };
    const child = execFile('go', ['run', PROGRAM], options, (error, output) =>
      error ? reject(error) : resolve(output),
    );
    child.stdin?.end(JSON.stringify(claims));
  });
  return JSON.parse(stdout) as string[];
}
