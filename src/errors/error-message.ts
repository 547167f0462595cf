interface InWords {
  readonly what: (path: string) => string;
  readonly remedy: string;
}

const NOT_ALLOWED: InWords = {
  what: (path) => `this user may not use ${path}`,
  remedy: 'run the command as the user that owns it, or give this user the rights',
};

/** Codes of the operating system, whose own texts name neither a reason nor a remedy. */
const SYSTEM_CODES: ReadonlyMap<unknown, InWords> = new Map([
  ['EACCES', NOT_ALLOWED],
  ['EPERM', NOT_ALLOWED],
  ['ENOENT', { what: (path) => `${path} is missing`, remedy: 'check the path' }],
  [
    'ENOTDIR',
    { what: (path) => `a part of ${path} is a file, not a folder`, remedy: 'check the path' },
  ],
  ['EISDIR', { what: (path) => `${path} is a folder`, remedy: 'name a file' }],
  ['EEXIST', { what: (path) => `${path} is there already`, remedy: 'name another place' }],
  [
    'EROFS',
    {
      what: (path) => `${path} is on a file system that is mounted read-only`,
      remedy: 'mount it for writing, or name another place',
    },
  ],
  [
    'ENOSPC',
    {
      what: (path) => (path === SOME_FILE ? 'the disk is full' : `the disk of ${path} is full`),
      remedy: 'make room there, then repeat',
    },
  ],
  [
    'EIO',
    {
      what: (path) => `the disk of ${path} fails`,
      remedy: "look at the kernel's messages (dmesg)",
    },
  ],
  [
    'EMFILE',
    { what: () => 'too many files are open', remedy: 'raise the limit of open files (ulimit -n)' },
  ],
]);

/** Stands for a path that Node does not know. */
const SOME_FILE = 'a file';
/** The end of a file's name while it is written: the operator knows the name before it. */
const TEMPORARY = /\.[^./]*-[0-9a-f-]{36}\.tmp$/;

/** @returns undefined where it is not an error of a call of the operating system */
function systemError(error: unknown): (InWords & { readonly text: string }) | undefined {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return undefined;
  // A socket has an address. What the table says is true of files.
  if ('address' in error) return undefined;
  const inWords = SYSTEM_CODES.get(error.code);
  const path = 'path' in error ? String(error.path).replace(TEMPORARY, '') : SOME_FILE;
  return inWords && { ...inWords, text: `${inWords.what(path)} (${String(error.code)})` };
}

/** Returns what an error says, as a part of a longer line. */
export function errorMessage(error: unknown): string {
  // A connection that was tried in several ways fails with one error for all of them.
  if (error instanceof AggregateError) return errorMessage(error.errors[0]);
  return systemError(error)?.text ?? (error instanceof Error ? error.message : String(error));
}

/** Returns what an error says, as a whole line: with a remedy, where the operating system names none. */
export function errorLine(error: unknown): string {
  const system = systemError(error);
  return system === undefined ? errorMessage(error) : `${system.text}; ${system.remedy}.`;
}

/** Returns what an error and its causes say, in one line for an operator: the innermost names what is away. */
export function errorReason(error: unknown): string {
  const message = errorMessage(error).replace(/\.$/, '');
  if (!(error instanceof Error) || error.cause === undefined) return `${message}.`;
  const cause = errorReason(error.cause);
  return message.includes(cause.replace(/\.$/, '')) ? `${message}.` : `${message}: ${cause}`;
}
