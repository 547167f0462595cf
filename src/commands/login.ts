/** Signing in to a service, and out of it: the key of the command line there. */
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { type Invocation, type Run, secretFromInput, textOption, UsageError } from './command.ts';
import { DEFAULT_SERVER } from './options.ts';
import { ask as askAtTerminal } from './output.ts';
import {
  isPressledgerError,
  type Login,
  PressledgerClient,
  readLogin,
  revokeKeyOf,
  serverAddress,
  writeLogin,
} from './service.ts';

const ask = (question: string, { hidden = false } = {}): Promise<string> =>
  askAtTerminal(question, { hidden, cancelled: 'The sign-in was cancelled.' });

interface Credential {
  /** Undefined: `secret` is an API key. */
  readonly email: string | undefined;
  readonly secret: string;
}

/** @throws {UsageError} something is missing, and there is no terminal to ask at */
async function credentialOf(invocation: Invocation): Promise<Credential> {
  const given = textOption(invocation, 'email');
  const [key, password] = ['api-key-stdin', 'password-stdin'].map(
    (name) => invocation.values[name] === true,
  );
  if (key && (password || given !== undefined)) {
    throw new UsageError('Sign in with an API key or with --email and a password, not with both.');
  }
  if (key || (password && given !== undefined)) {
    return { email: given, secret: await secretFromInput() };
  }
  if (password) throw new UsageError('--password-stdin needs --email.');
  if (!process.stdin.isTTY) {
    throw new UsageError(
      'There is no terminal to ask at: give --api-key-stdin, or --email and --password-stdin.',
    );
  }
  const email = given ?? (await ask('Email (empty to give an API key instead): ')).trim();
  if (email === '') return { email: undefined, secret: await ask('API key: ', { hidden: true }) };
  return { email, secret: await ask(`Password of ${email}: `, { hidden: true }) };
}

interface SignInOptions {
  readonly account?: string;
  readonly otp?: string;
}

/** Asks for the code of a second factor where the service says that it needs one. */
async function signInWith(
  client: PressledgerClient,
  { email, secret }: { readonly email: string; readonly secret: string },
  which: SignInOptions,
): Promise<void> {
  try {
    await client.signIn(email, secret, which);
  } catch (error) {
    const needsCode = isPressledgerError(error, 'unauthorized') && error.details?.['otp'];
    if (!needsCode || which.otp !== undefined || !process.stdin.isTTY) throw error;
    const otp = await ask('Code of your authenticator, or a recovery code: ');
    await client.signIn(email, secret, { ...which, otp });
  }
}

/** Makes a key with the password, so that no password is kept; takes a key that is given as it is. */
async function obtainKey(
  server: string,
  { email, secret }: Credential,
  { name, ...which }: SignInOptions & { readonly name: string },
): Promise<Login & { readonly email: string }> {
  if (email === undefined) {
    const own = await new PressledgerClient({ server, apiKey: secret }).account();
    return { server, api_key: secret, email: own.email };
  }
  const client = new PressledgerClient({ server });
  await signInWith(client, { email, secret }, which);
  try {
    const { id, key } = await client.createKey(name);
    return { server, api_key: key, key_id: id, email };
  } finally {
    await client.signOut();
  }
}

export const login: Run = async (invocation, { client: { server: named, loginFile }, output }) => {
  const former = await readLogin(loginFile);
  const usual = named ?? former?.server ?? DEFAULT_SERVER;
  const given = textOption(invocation, 'server');
  const asked = given ?? (process.stdin.isTTY ? await ask(`Server [${usual}]: `) : named);
  if (asked === undefined) {
    throw new UsageError('--server is needed where there is no terminal to ask at.');
  }
  const server = serverAddress(asked.trim() || usual);
  const credential = await credentialOf(invocation);
  const name = textOption(invocation, 'name') ?? hostname();
  const [account, otp] = ['account', 'otp'].map((each) => textOption(invocation, each));
  const which = { ...(account && { account }), ...(otp && { otp }) };
  const { email, ...made } = await obtainKey(server, credential, { name, ...which });
  await writeLogin(loginFile, made);
  if (former) {
    await revokeKeyOf(former).catch((error: unknown) => {
      output.note(`The former key at ${former.server} is still valid: ${String(error)}`);
    });
  }
  output.json({ server, email, key_id: made.key_id ?? null, file: loginFile });
  const what = made.key_id === undefined ? 'The API key' : `A new API key, "${name}",`;
  output.line(`Signed in to ${server} as ${email}. ${what} is kept in ${loginFile}.`);
};

export const logout: Run = async ({ values }, { client: { loginFile }, output }) => {
  const kept = await readLogin(loginFile);
  if (!kept) throw new Error('You are not signed in.');
  const keepsKey = values['keep-key'] === true;
  try {
    if (!keepsKey) await revokeKeyOf(kept);
  } catch (error) {
    const text = "The API key could not be revoked; 'logout --keep-key' forgets it only here";
    throw new Error(text, { cause: error });
  }
  await rm(loginFile, { force: true });
  const revoked = kept.key_id !== undefined && !keepsKey;
  output.json({ server: kept.server, revoked: revoked ? kept.key_id : null });
  const rest = revoked ? 'Its API key is revoked.' : 'The API key itself is still valid.';
  output.line(`Signed out of ${kept.server}. ${rest}`);
};
