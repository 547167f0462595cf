/**
 * A bundle of evidence: what the log, the stores and the keys say about one conversion, in one ZIP that
 * can be checked without the service. `verifier/verify-evidence.mjs` says what each file must agree with.
 */
import { checkpointQueries } from '../../../projections/checkpoints.ts';
import { templateQueries } from '../../../projections/templates.ts';
import { personTexts } from '../../accounts/logins.ts';
import { decryptBlob, openContent, openingOf, readContent } from '../../documents/decryption.ts';
import { hmacKey } from '../../documents/encryption.ts';
import { unlessErased, type Vault } from '../../documents/keys/vault.ts';
import { BlobNotFound, type BlobStore } from '../../documents/port.ts';
import type { BlobRef } from '../../domain/event-fields.ts';
import type { DomainEvent, EventOf, EventType } from '../../domain/events.ts';
import { founderOf } from '../../domain/members.ts';
import type { RequestDocument } from '../../domain/request-document.ts';
import { decodeEvent } from '../../event-store/codec.ts';
import type { RecordedEvent } from '../../event-store/port.ts';
import { proofOfConversion, type TransparencyLogDependencies } from '../../log/transparency-log.ts';
import { parseCheckpoint } from '../../transparency-log/checkpoint.ts';
import { leafHash } from '../../transparency-log/merkle-tree.ts';
import { openNote } from '../../transparency-log/signed-note.ts';
import { OPERATOR, type Reader, readHistory } from '../history.ts';
import { holdsSecrets } from '../stored-request.ts';
import {
  type Absent,
  type BundleFile,
  contentsText,
  type DocumentName,
  fileFrom,
  fileOf,
  zipBytes,
  zipOf,
} from './bundle.ts';
import { readMe } from './read-me.ts';
import { reportHtml } from './report.ts';

const SECRETS =
  'It holds headers, cookies or passwords, which an API key does not get. Sign in to get it, or use pressledger evidence.';

const NOT_GRANTED =
  'It was asked for by an auditor who has no right to documents. An owner of the account can grant it.';

/** What of a conversion is for the eyes of who asks. */
interface EvidenceReader extends Reader {
  readonly maySeeSecrets: boolean;
}
const WHOLE: EvidenceReader = { ...OPERATOR, maySeeSecrets: true };

export interface EvidenceDependencies extends TransparencyLogDependencies {
  readonly signer: TransparencyLogDependencies['signer'] & {
    /** Signs a text other than a checkpoint with the log's keys in force. */
    signText(text: string): Promise<string>;
  };
  readonly blobs: Pick<BlobStore, 'open' | 'read'>;
  readonly vault: Pick<Vault, 'contentKey' | 'unseal'>;
}

export interface Evidence {
  /** The ZIP. */
  readonly bytes: number;
  readonly open: () => AsyncIterable<Buffer>;
  /** The number of events in the log that the checkpoint covers. */
  readonly size: number;
  readonly absent: Absent;
  /** It has the document itself. */
  readonly isDelivered: boolean;
}

interface Documents {
  readonly found: ReadonlyMap<DocumentName, BundleFile>;
  readonly absent: Absent;
  /** The keys that show that request and manifest are those that their events name. They open nothing else. */
  readonly keys: {
    /** The key of the request's HMAC, hex. */
    readonly request?: string;
    /** The header and key of the manifest's encryption, hex. */
    readonly manifest?: { readonly header: string; readonly key: string };
  };
}

/**
 * Two bundles for the same reader under the same checkpoint are the same, byte for byte.
 * @param reader without `maySeeSecrets`, a request that holds some is left out: its HMAC allows no shorter form. Without
 * `mayReadDocuments`, all documents are
 * @throws {ServiceError} `not_found`, `service_unavailable`
 * @throws {BlobStoreUnavailable} a document is damaged, or cannot be had now
 */
export async function gatherEvidence(
  deps: EvidenceDependencies,
  conversionId: string,
  reader: EvidenceReader = WHOLE,
): Promise<Evidence> {
  const { origin, key, checkpoint, entries } = await proofOfConversion(deps, conversionId);
  const events = entries.map(({ event }) =>
    decodeEvent({ ...(JSON.parse(event) as Omit<RecordedEvent, 'position'>), position: 0n }),
  );
  const requested = dataOf(events, 'ConversionRequested');
  if (requested === undefined) throw new Error(`The log has no request of ${conversionId}.`);
  const { accountId } = requested;
  const document: DocumentName = `document.${requested.options.format}`;
  const { found, absent, keys } = await documentsOf(deps, accountId, conversionId, {
    document,
    events,
    ...reader,
  });
  // Events that are appended meanwhile come after these.
  const page = { order: 'oldest first', offset: 0, limit: entries.length } as const;
  const history = await readHistory(deps, accountId, { conversionId }, page, reader);
  const { text, signatures } = openNote(checkpoint);
  const { size, root } = parseCheckpoint(text);
  // The order is that of their signatures.
  const keyLines = signatures.flatMap(({ name, keyId }) =>
    key.split('\n').flatMap((each) => (each.startsWith(`${name}+${keyId}+`) ? `${each}\n` : [])),
  );
  const { timestamp } = deps.readModel.query(checkpointQueries).covering(size) ?? {};
  const facts = {
    origin,
    size,
    root,
    conversionId,
    accountId,
    names: {
      conversion: history.entries
        .map(({ name }) => name)
        .find((name) => name !== undefined && name !== conversionId),
      account: (await personTexts(deps, founderOf(accountId))).email,
      template: await templateName(deps, requested.template?.id),
    },
    requested,
    completed: dataOf(events, 'ConversionCompleted'),
    failed: dataOf(events, 'ConversionFailed'),
    cosigners: signatures.map(({ name }) => name).filter((name) => name !== origin),
    isTimestamped: timestamp !== undefined,
    absent,
    events: history.entries.map((entry, n) => ({
      ...entry,
      index: entries[n]?.index ?? 0,
      leaf: leafHash(entries[n]?.event ?? '').toString('base64'),
    })),
  };
  const files = new Map<string, BundleFile>([
    ['README.txt', fileOf(readMe(facts))],
    ['report.html', fileOf(reportHtml(facts))],
    ...found,
    ['events.jsonl', fileOf(entries.map((each) => `${JSON.stringify(each)}\n`).join(''))],
    ['checkpoint', fileOf(checkpoint)],
    ...(timestamp === undefined ? [] : [['checkpoint.tst', fileOf(timestamp)] as const]),
    ['log-key.txt', fileOf(keyLines.join(''))],
    ['keys.json', fileOf(`${JSON.stringify(keys)}\n`)],
  ]);
  const list = await deps.signer.signText(contentsText({ origin, conversionId }, absent, files));
  const all = files.set('contents.txt', fileOf(list));
  const isDelivered = found.has(document);
  return { bytes: zipBytes(all), open: () => zipOf(all), size, absent, isDelivered };
}

async function templateName(
  { readModel, vault }: Pick<EvidenceDependencies, 'readModel' | 'vault'>,
  id: string | undefined,
): Promise<string | undefined> {
  const row = id === undefined ? undefined : readModel.query(templateQueries).byId(id);
  return row && (await unlessErased(vault.unseal(row.accountId, row.name)));
}

function dataOf<T extends EventType>(
  events: readonly DomainEvent[],
  type: T,
): EventOf<T>['data'] | undefined {
  const event = events.find((each) => each.type === type);
  return (event as EventOf<T> | undefined)?.data;
}

async function documentsOf(
  { blobs, vault }: EvidenceDependencies,
  accountId: string,
  conversionId: string,
  {
    document,
    events,
    maySeeSecrets,
    mayReadDocuments,
  }: EvidenceReader & {
    readonly document: DocumentName;
    readonly events: readonly DomainEvent[];
  },
): Promise<Documents> {
  const completed = dataOf(events, 'ConversionCompleted');
  const failure = dataOf(events, 'ConversionFailed');
  const isCancelled = failure?.code === 'cancelled';
  const expired = events.some(({ type }) => type === 'ConversionExpired');
  const deleted = events.some(({ type }) => type === 'ConversionDeleted');
  const contentKey = await unlessErased(vault.contentKey(accountId, conversionId));
  const found = new Map<DocumentName, BundleFile>();
  const absent = new Map<DocumentName, string>();
  /** Takes a document in, or says why it is absent, as `read` may do. */
  async function take(
    name: DocumentName,
    ref: BlobRef | undefined,
    read: (contentKey: Buffer, ref: BlobRef) => Promise<BundleFile | string>,
  ): Promise<void> {
    if (ref === undefined) {
      const ended = isCancelled ? 'The conversion was cancelled.' : 'The conversion failed.';
      absent.set(name, failure === undefined ? 'The conversion has not ended.' : ended);
    } else if (deleted) {
      absent.set(name, 'It was deleted, as its account asked.');
    } else if (expired && failure !== undefined) {
      const after = isCancelled ? 'when the conversion was cancelled' : 'after the failure';
      absent.set(name, `It was deleted ${after}.`);
    } else if (contentKey === undefined) {
      // Erasing an account expires its conversions, too: that does not mean that their retention has ended.
      absent.set(name, 'The account was erased.');
    } else if (expired) {
      absent.set(name, 'Its retention has ended.');
    } else if (!mayReadDocuments) {
      absent.set(name, NOT_GRANTED);
    } else {
      try {
        const file = await read(contentKey, ref);
        if (typeof file === 'string') absent.set(name, file);
        else found.set(name, file);
      } catch (error) {
        if (!(error instanceof BlobNotFound)) throw error;
        absent.set(name, 'It is not stored any more.');
      }
    }
  }
  let keys: Documents['keys'] = {};
  /** Reads the content once to know it, and again when it is sent. */
  const streamed = (secret: Buffer, ref: BlobRef) =>
    fileFrom(() => openContent(blobs, secret, ref));
  await take(document, completed?.document, streamed);
  await take(
    'request.json',
    dataOf(events, 'ConversionRequested')?.request,
    async (secret, ref) => {
      if (!maySeeSecrets) {
        const content = await readContent(blobs, secret, ref);
        if (holdsSecrets(JSON.parse(content.toString('utf8')) as RequestDocument)) return SECRETS;
      }
      const file = await streamed(secret, ref);
      keys = { ...keys, request: hmacKey(secret).toString('hex') };
      return file;
    },
  );
  await take('manifest.json', completed?.manifest, async (secret, ref) => {
    const stored = await blobs.read(ref);
    const { header, key } = openingOf(secret, ref, stored);
    keys = { ...keys, manifest: { header: header.toString('hex'), key: key.toString('hex') } };
    return fileOf(decryptBlob(secret, ref, stored));
  });
  return { found, absent, keys };
}
