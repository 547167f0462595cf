/**
 * Tells anybody, by the SHA-256 of a PDF alone, whether an open account had it made here. One that is not known costs the
 * same work as one that is: the answer about the next PDF, in the order of the hashes, is made and thrown away.
 */
import {
  type AccountQueries,
  type AccountRow,
  accountQueries,
} from '../../projections/accounts.ts';
import {
  type ConversionQueries,
  type ConversionRow,
  conversionQueries,
} from '../../projections/conversions.ts';
import { historyQueries } from '../../projections/history.ts';
import { logTreeQueries } from '../../projections/log-tree.ts';
import { readEvents } from '../conversions/history.ts';
import { NOT_OPENED, unlessErased, type Vault } from '../documents/keys/vault.ts';
import { consistentQuery } from '../read-model/consistent-query.ts';
import { isoTime } from '../time/clock.ts';
import { parseCheckpoint } from '../transparency-log/checkpoint.ts';
import { leafHash } from '../transparency-log/merkle-tree.ts';
import { openNote } from '../transparency-log/signed-note.ts';
import type { CheckpointSigner } from './checkpoint-signer.ts';
import {
  checkpointCovering,
  inclusionProofs,
  type TransparencyLogDependencies,
} from './transparency-log.ts';

export interface PublicCheckDependencies extends TransparencyLogDependencies {
  readonly vault: Pick<Vault, 'unseal'>;
  readonly signer: Pick<CheckpointSigner, 'sign' | 'signText'>;
}

/** An event without its content, which is its account's: what strangers may see of it. */
interface PublicEntry {
  /** The event's number in the log, from 0. */
  readonly index: number;
  /** The hash of the event, base64. */
  readonly leaf: string;
  /** https://c2sp.org/tlog-proof, with the checkpoint. */
  readonly proof: string;
  /** A note of the log's keys: the event of this hash names the PDF. The hash alone does not show that. */
  readonly statement: string;
}

export type PublicAnswer =
  | {
      readonly known: true;
      readonly created_at: string;
      /** As the account has itself called, if it does. */
      readonly by?: string;
      readonly checkpoint: string;
      readonly entries: readonly PublicEntry[];
    }
  | { readonly known: false; readonly checkpoint: string };

/** @param sha256 of a PDF, hex, in small letters @throws {ServiceError} `service_unavailable` */
export async function checkInPublic(
  deps: PublicCheckDependencies,
  sha256: string,
): Promise<PublicAnswer> {
  const conversions = await consistentQuery(deps, conversionQueries);
  const { row, account } = nearest(conversions, deps.readModel.query(accountQueries), sha256);
  const isKnown = isReal(row) && row.pdf?.sha256 === sha256 && account !== undefined;
  const event = row && (await completionOf(deps, row));
  // A stranger makes no other news for the log than a checkpoint of what was made here.
  const covered = (isKnown ? event?.position : undefined) ?? 0n;
  const checkpoint = await checkpointCovering(deps, covered);
  const { note, size } = checkpoint;
  const index = event && deps.readModel.query(logTreeQueries).indexAt(event.position);
  // The next PDF may be newer than the checkpoint.
  const provable = event && index !== undefined && index < size ? [event] : [];
  const created = isoTime(row?.createdAt ?? 0);
  const entries = await Promise.all(
    inclusionProofs(deps, provable, checkpoint).map(async (proven): Promise<PublicEntry> => {
      const leaf = leafHash(proven.event).toString('base64');
      const text = statementText({ note, sha256, created, index: proven.index, leaf });
      const statement = await deps.signer.signText(text);
      return { index: proven.index, leaf, proof: proven.proof, statement };
    }),
  );
  // An account without a name costs as much.
  const sealed = account?.publicName ?? account?.email;
  const opened = account && sealed && (await unlessErased(deps.vault.unseal(account.id, sealed)));
  if (!isKnown || opened === undefined) return { known: false, checkpoint: note };
  const isNamed = account.publicName !== null && opened !== NOT_OPENED;
  const by = isNamed ? { by: opened } : {};
  return { known: true, created_at: created, ...by, checkpoint: note, entries };
}

/** The log does not vouch to strangers for what a test key made: they would take it for a document that counts. */
const isReal = (row: ConversionRow | undefined): row is ConversionRow =>
  row !== undefined && row.isTest === undefined;

/**
 * The earliest conversion with this PDF of all open accounts, but for tests; else one with the next hash, or the first one. With none that
 * is open, the PDF costs as much as one that nobody made.
 */
function nearest(conversions: ConversionQueries, accounts: AccountQueries, sha256: string) {
  let earliest: { readonly row: ConversionRow; readonly account: AccountRow } | undefined;
  let row = conversions.fromPdf(sha256);
  // Several accounts may have made the same bytes, and some of them may be erased.
  for (; row?.pdf?.sha256 === sha256; row = conversions.fromPdf(sha256, row.accountId)) {
    const account = accounts.byId(row.accountId);
    const isEarlier = (row.completedAt ?? 0) < (earliest?.row.completedAt ?? Infinity);
    if (account !== undefined && isEarlier && isReal(row)) earliest = { row, account };
  }
  if (earliest !== undefined) return earliest;
  const other = conversions.fromPdf(`${sha256} `) ?? conversions.fromPdf('');
  return { row: other, account: other && accounts.byId(other.accountId) };
}

async function completionOf(
  deps: PublicCheckDependencies,
  { accountId, id: conversionId }: ConversionRow,
) {
  const history = deps.readModel.query(historyQueries);
  const selection = { accountId, conversionId, types: ['ConversionCompleted'] };
  const places = history.selected(selection, 0, history.countUpTo(accountId));
  return (await readEvents(deps.streams, places))[0];
}

interface Statement {
  /** The checkpoint that names the log. */
  readonly note: string;
  readonly sha256: string;
  readonly created: string;
  readonly index: number;
  readonly leaf: string;
}

/** docs/audit.md says what it means. It is not a checkpoint: those have a number in the second line. */
function statementText({ note, sha256, created, index, leaf }: Statement): string {
  const { origin } = parseCheckpoint(openNote(note).text);
  const lines = [
    'pressledger-pdf/v1',
    `origin ${origin}`,
    `sha256 ${sha256}`,
    `created ${created}`,
    `event ${index} ${leaf}`,
  ];
  return lines.map((line) => `${line}\n`).join('');
}
