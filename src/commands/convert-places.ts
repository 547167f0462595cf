/** The places that convert: a service, or the store of the settings. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { OpenedAccount } from '../accounts/accounts.ts';
import { copyableCommand, program } from '../config/copyable-command.ts';
import type { CommandContext } from './command.ts';
import type { FilesBeside } from './convert-files.ts';
import type { OperatorApi } from './operator-api.ts';
import {
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
  /** Its id, once it is accepted. */
  accepted?: string;
  /** What becomes of several that were accepted and have not ended, and of those that were not, in words. */
  others?: (accepted: readonly string[]) => string;
}

interface Call {
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** What is to be converted, and what goes on around it. */
export interface Job {
  /** Asks for it, with a key that lets the request be sent again while the service is busy. */
  readonly create: (client: PressledgerClient, call: Call) => Promise<{ readonly id: string }>;
  readonly beside: FilesBeside;
  readonly context: CommandContext;
  readonly interrupt: Interrupt;
  /** A new one unless given. */
  readonly idempotencyKey?: string;
}

export interface Converted {
  readonly record: EndedConversion;
  /** Resources of the page that could not be loaded when it was printed, each with the reason. */
  readonly notLoaded: readonly string[];
  /** The other warnings of the record. */
  readonly others: readonly string[];
  readonly open: () => Promise<Readable>;
}

/** What becomes of a conversion without the command, in words, and who is waited for. */
interface Words {
  readonly asked: string;
  readonly accepted: (id: string) => string;
  readonly others: (accepted: readonly string[]) => string;
  readonly waitsFor: string;
}

async function convertBy(
  client: PressledgerClient,
  { create, beside, context: { output }, interrupt, idempotencyKey = randomUUID() }: Job,
  words: Words,
): Promise<Converted> {
  const { signal } = interrupt;
  interrupt.left = words.asked;
  interrupt.others = words.others;
  const { id } = await create(client, { idempotencyKey, signal });
  interrupt.left = words.accepted(id);
  interrupt.accepted = id;
  output.waiting(`${id} is accepted; waiting for ${words.waitsFor}`);
  const record = await client.wait(id, { signal });
  const { splitWarnings } = await import('./convert-files.ts');
  const { warnings } = record;
  const found = warnings ? splitWarnings(warnings, beside) : undefined;
  return {
    record,
    notLoaded: found?.notLoaded ?? beside.lacking,
    others: found?.others ?? [],
    open: async () => Readable.fromWeb(await client.download(record, { signal })),
  };
}

const AGAIN =
  'The same command fetches what is done and converts the rest. Within 24 hours it costs nothing twice.';

const goOn = (ids: readonly string[]): string =>
  `${ids.join(', ')} ${ids.length === 1 ? 'goes on' : 'go on'}`;

export const convertRemotely = ({ client, server }: Service, job: Job): Promise<Converted> =>
  convertBy(client, job, {
    asked: `it is not known whether ${server} has accepted the conversion. If so, \`${program()} conversions list --server ${server}\` shows it.`,
    accepted: (id) =>
      `${id} goes on at ${server}, and costs its credit unless it fails. Fetch its PDF with \`${program()} conversions download ${id} --server ${server}\`, or cancel it with \`${program()} conversions delete ${id} --server ${server}\`.`,
    others: (ids) =>
      ids.length === 0
        ? AGAIN
        : `${goOn(ids)} at ${server}. ${AGAIN} Or cancel with \`${program()} conversions delete ${ids.join(' ')} --server ${server}\`.`,
    waitsFor: server,
  });

const NOTHING = 'nothing was converted.';

/**
 * Asks for it as the operator, on the credits of an account here; a service that runs here renders it, or this process.
 * @param email the account that pays; unless given the first one
 * @param isTemporary the store is empty, and is deleted afterwards
 */
export async function convertHere(
  api: OperatorApi,
  email: string | undefined,
  isTemporary: boolean,
  job: Job,
): Promise<Converted> {
  const here = (...words: readonly string[]) => `\`${copyableCommand(api.dataDir, ...words)}\``;
  const payer = await (isTemporary ? temporaryPayer(api) : payerOf(api, email));
  if (!payer)
    throw new Error(`There is no account yet: ${here('account', 'create', 'EMAIL')} opens one.`);
  const words = {
    asked: NOTHING,
    accepted: (id: string) =>
      isTemporary
        ? NOTHING
        : `a service on this store, or the next 'convert' there, renders ${id}, which costs its credit unless it fails. ${here('evidence', id, '-o', `${id}.zip`)} then writes its PDF into a ZIP file.`,
    others: (ids: readonly string[]) => {
      if (isTemporary) return 'The others were not converted.';
      return ids.length === 0
        ? AGAIN
        : `${goOn(ids)} with a service on this store, or the next 'convert' there. ${AGAIN}`;
    },
    waitsFor: 'the PDF',
  };
  const converted = await convertBy(api.as(payer.id), job, words).catch((error: unknown) => {
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

const payerOf = (api: OperatorApi, email: string | undefined) =>
  email === undefined ? api.firstAccount() : api.account(email);

/** The one account of each temporary store. */
const temporaryPayers = new WeakMap<OperatorApi, Promise<OpenedAccount>>();

function temporaryPayer(api: OperatorApi): Promise<OpenedAccount> {
  const account = { email: 'temporary@localhost', plan: 'pro', credits: 1_000_000 };
  const payer = temporaryPayers.get(api) ?? api.post<OpenedAccount>('/operator/accounts/', account);
  temporaryPayers.set(api, payer);
  return payer;
}
