/** The documents that a log names as stored: what a backup must hold, and a restore brings back. */
import { parseBlobKey } from '../domain/blob-key.ts';
import type { BlobRef } from '../domain/event-fields.ts';
import { requestedRetentionMs } from '../domain/retention.ts';
import { type Entry, knownEvent, UnusableArchive } from './log-lines.ts';

/** A list of the place is cheaper than asking for each of more. */
export const MOST_PASSED_OVER = 1_000;

export interface KeptDocument {
  readonly ref: BlobRef;
  /** The service no longer had it: `due` for deletion, which its log did not say yet, or `lost`. */
  gone?: 'due' | 'lost';
  /** It is in the backup. */
  isCopied?: true;
}

export interface KeptConversion {
  readonly account: string;
  readonly documents: KeptDocument[];
  /** What its request says of how long they are kept. */
  readonly retentionSeconds?: number;
  endedAt?: number;
  failed?: true;
  /** Its account has asked for the deletion. */
  deleted?: true;
}

export class KeptDocuments {
  readonly #conversions = new Map<string, KeptConversion>();
  /** Conversions whose documents are to leave the backup. */
  readonly dropped = new Set<string>();
  /**
   * Conversions that began and were deleted since, none of whose documents this backup has copied: a call that was
   * killed may have. No more than the first of them: the log may have had millions.
   */
  readonly passedOver = new Set<string>();

  /** @param line as `lines` gave it @throws {UnusableArchive} */
  static parse(lines: readonly string[]): KeptDocuments {
    const kept = new KeptDocuments();
    try {
      for (const line of lines) {
        const { id, ...conversion } = JSON.parse(line) as KeptConversion & { id: string };
        if (conversion.documents === undefined) kept.dropped.add(id);
        else kept.#conversions.set(id, conversion);
      }
    } catch (error) {
      throw new UnusableArchive('is damaged: its list of documents cannot be read.', {
        cause: error,
      });
    }
    return kept;
  }

  lines(): string[] {
    return [
      ...[...this.#conversions].map(([id, conversion]) => JSON.stringify({ id, ...conversion })),
      ...[...this.dropped].map((id) => JSON.stringify({ id })),
    ];
  }

  /** The events must come in the order of the log. @throws {UnusableArchive} this release does not know one */
  take(entries: readonly Entry[]): void {
    for (const { event } of entries) this.#take(event);
  }

  #take(recorded: Entry['event']): void {
    const { type, data } = knownEvent(recorded);
    if (type === 'ConversionRequested') {
      const documents = [{ ref: data.request }];
      const { accountId: account, conversionId, retentionSeconds } = data;
      const retention = retentionSeconds === undefined ? {} : { retentionSeconds };
      this.#conversions.set(conversionId, { account, documents, ...retention });
    } else if (type === 'ConversionCompleted') {
      const conversion = this.#conversions.get(data.conversionId);
      if (conversion === undefined) return;
      conversion.documents.push({ ref: data.document }, { ref: data.manifest });
      conversion.endedAt = data.completedAt;
    } else if (type === 'ConversionFailed') {
      const conversion = this.#conversions.get(data.conversionId);
      if (conversion === undefined) return;
      if (data.picture) conversion.documents.push({ ref: data.picture });
      conversion.endedAt = data.failedAt;
      conversion.failed = true;
    } else if (type === 'ConversionDeleted') {
      const conversion = this.#conversions.get(data.conversionId);
      if (conversion !== undefined) conversion.deleted = true;
    } else if (type === 'ConversionExpired') {
      this.#drop(data.conversionId);
    } else if (type === 'AccountErased') {
      // Nobody can read them any more: their key is destroyed.
      for (const [id, { account }] of this.#conversions) {
        if (account === data.accountId) this.#drop(id);
      }
    }
  }

  *all(): Generator<readonly [KeptConversion, KeptDocument]> {
    for (const conversion of this.#conversions.values()) {
      for (const document of conversion.documents) yield [conversion, document];
    }
  }

  has({ key }: BlobRef): boolean {
    const conversion = this.#conversions.get(parseBlobKey(key)?.conversionId ?? '');
    return conversion?.documents.some(({ ref }) => ref.key === key) ?? false;
  }

  hasConversion(id: string): boolean {
    return this.#conversions.has(id) || this.dropped.has(id);
  }

  #drop(id: string): void {
    const isCopied = this.#conversions.get(id)?.documents.some((document) => document.isCopied);
    this.#conversions.delete(id);
    if (isCopied === true) this.dropped.add(id);
    else if (this.passedOver.size <= MOST_PASSED_OVER) this.passedOver.add(id);
  }
}

/** The service may delete it at any moment: those of a failure and of a deletion that was asked for, others with their retention. */
export const isDeletionDue = (
  { failed, deleted, endedAt, retentionSeconds }: KeptConversion,
  { now, retentionMs }: { readonly now: number; readonly retentionMs: number },
): boolean => {
  const keptMs = Math.min(retentionMs, requestedRetentionMs(retentionSeconds, 'completed'));
  if (failed === true || deleted === true) return true;
  return endedAt !== undefined && endedAt + keptMs <= now;
};
