/** The places that convert: a service, or the store of the settings. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { OpenedAccount } from '../accounts/accounts.ts';
import { copyableCommand, program } from '../config/copyable-command.ts';
import type { CommandContext } from './command.ts';
import type { FilesBeside } from './convert-files.ts';
import type { OperatorApi } from './operator-api.ts';
import {
  type ConversionOptions,
  type EndedConversion,
  isPressledgerError,
  type PressledgerClient,
  type Service,
} from './service.ts';

/** Ctrl-C, and what it leaves behind. */
export interface Interrupt {
  readonly signal: AbortSignal;
  /** What becomes of the conversion, in words. */
  left: string;
}

export interface Converted {
  readonly record: EndedConversion;
  /** Resources of the page that could not be loaded when it was printed, each with the reason. */
  readonly notLoaded: readonly string[];
  readonly open: () => Promise<Readable>;
}

/** What becomes of a conversion without the command, in words, and who is waited for. */
interface Words {
  readonly asked: string;
  readonly accepted: (id: string) => string;
  readonly waitsFor: string;
}

async function convertBy(
  client: PressledgerClient,
  options: ConversionOptions,
  beside: FilesBeside,
  { output }: CommandContext,
  interrupt: Interrupt,
  words: Words,
): Promise<Converted> {
  const { signal } = interrupt;
  interrupt.left = words.asked;
  // A key of its own lets the request be sent again while the service is busy.
  const { id } = await client.create(options, { idempotencyKey: randomUUID(), signal });
  interrupt.left = words.accepted(id);
  output.waiting(`${id} is accepted; waiting for ${words.waitsFor}`);
  const record = await client.wait(id, { signal });
  const { splitWarnings } = await import('./convert-files.ts');
  const { warnings } = record;
  const notLoaded = warnings ? splitWarnings(warnings, beside).notLoaded : beside.lacking;
  return {
    record,
    notLoaded,
    open: async () => Readable.fromWeb(await client.download(record, { signal })),
  };
}

export async function convertRemotely(
  { client, server }: Service,
  options: ConversionOptions,
  beside: FilesBeside,
  context: CommandContext,
  interrupt: Interrupt,
): Promise<Converted> {
  return await convertBy(client, options, beside, context, interrupt, {
    asked: `it is not known whether ${server} has accepted the conversion. If so, \`${program()} conversions list --server ${server}\` shows it.`,
    accepted: (id) =>
      `${id} goes on at ${server}, and costs its credit unless it fails. Fetch its PDF with \`${program()} conversions download ${id} --server ${server}\`.`,
    waitsFor: server,
  });
}

/** Asks for it as the operator, on the credits of an account here; a service that runs here renders it, or this process. */
export async function convertHere(
  api: OperatorApi,
  payer: Payer,
  options: ConversionOptions,
  beside: FilesBeside,
  context: CommandContext,
  interrupt: Interrupt,
): Promise<Converted> {
  const here = (...words: readonly string[]) => `\`${copyableCommand(api.dataDir, ...words)}\``;
  const accepted = (id: string) =>
    `a service on this store, or the next 'convert' there, renders ${id}, which costs its credit unless it fails. ${here('evidence', id, '-o', `${id}.zip`)} then writes its PDF into a ZIP file.`;
  const nothing = 'nothing was converted.';
  const words = {
    asked: nothing,
    accepted: payer.isTemporary ? () => nothing : accepted,
    waitsFor: 'the PDF',
  };
  const client = api.as(payer.id);
  const converting = convertBy(client, options, beside, context, interrupt, words);
  const converted = await converting.catch((error: unknown) => {
    if (isPressledgerError(error, 'insufficient_credits')) {
      const remedy = `${here('credits', 'grant', payer.email, '1000')} adds 1000`;
      throw new Error(`${payer.email} has no credits left: ${remedy}.`);
    }
    if (isPressledgerError(error, 'payload_too_large') && error.details === undefined) {
      throw new Error(`The page with its files is larger than MAX_BODY_BYTES: ${error.message}`);
    }
    throw error;
  });
  const { id, status, created_at, completed_at, error_message, warnings } = converted.record;
  const record = { id, status, created_at, completed_at, error_message, warnings };
  return { ...converted, record: record as EndedConversion };
}

interface Payer {
  readonly id: string;
  readonly email: string;
  readonly isTemporary: boolean;
}

export async function payerOf(api: OperatorApi, email: string | undefined): Promise<Payer> {
  const found = email === undefined ? await api.firstAccount() : await api.account(email);
  if (found) return { id: found.id, email: found.email, isTemporary: false };
  throw new Error(
    `There is no account yet: \`${copyableCommand(api.dataDir, 'account', 'create', 'EMAIL')}\` opens one.`,
  );
}

/** The one account of a temporary store. */
export async function temporaryPayer(api: OperatorApi): Promise<Payer> {
  const wanted = { email: 'temporary@localhost', plan: 'pro', credits: 1 };
  const { id, email } = await api.post<OpenedAccount>('/operator/accounts/', wanted);
  return { id, email, isTemporary: true };
}
