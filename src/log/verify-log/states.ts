/** The states of streams as a verification keeps them, many of them in a file: what no rule reads is left out. */
import type { AccountState } from '../../domain/account.ts';
import { type ConversionState, conversion as conversions } from '../../domain/conversion.ts';
import type { BlobRef } from '../../domain/event-fields.ts';
import type { EventOf } from '../../domain/events.ts';
import type { Place } from './difference.ts';
import type { LastCommand } from './event-ids.ts';
import type { StreamEnd } from './streams.ts';

/** A file that an event names, and the place of that event. */
export interface NamedBlob {
  readonly ref: BlobRef;
  readonly at: Place;
}

export interface Conversion {
  readonly accountId: string;
  /** Credits that it was debited for. */
  readonly amount: number;
  state: KeptState;
  /** What its request says of how long its files are kept. */
  readonly retentionSeconds?: number;
  /** The conversion whose PDF its own is compared with. */
  readonly rerenderOf?: string;
  /** Its request asks for a signature. */
  readonly isToBeSigned?: true;
  /** Those that were made for its tries, until its end. */
  signatures?: readonly EventOf<'SignatureMade'>['data'][];
  /** The SHA-256 of its PDF. */
  pdf?: string;
  /** The event that ended it. */
  end?: { readonly type: 'ConversionCompleted' | 'ConversionFailed'; readonly at: number };
  /** The event of the failure, and its number among those of its account, from 1; until the refund. */
  failure?: { readonly number: number; readonly id: string; readonly position: string };
  isRefunded?: true;
  blobs?: NamedBlob[];
}

/** The deliveries of the tries are counted. */
type KeptState = Pick<ConversionState, 'status' | 'deleted' | 'expired'> & {
  readonly tries: number;
};

/** Its keys have a table of their own. */
export interface Account {
  state: Pick<
    AccountState,
    | 'status'
    | 'members'
    | 'invitations'
    | 'credits'
    | 'refunds'
    | 'renewedMonth'
    | 'signature'
    | 'endedCertificates'
  >;
  failures: number;
}

/** No rule reads the secret, which is long. */
export const accountStateOf = ({
  status,
  members,
  invitations,
  credits,
  refunds,
  renewedMonth,
  signature,
  endedCertificates,
}: AccountState): Account['state'] => ({
  status,
  members,
  invitations,
  credits,
  refunds,
  renewedMonth,
  signature: signature && { ...signature, secret: '' },
  endedCertificates,
});

export interface StreamState extends StreamEnd {
  command?: LastCommand | undefined;
  account?: Account;
  conversion?: Conversion;
}

export interface KeptConversion {
  readonly id: string;
  readonly revision: number;
  readonly conversion: Conversion;
  /** The last revision of its account. */
  readonly accountRevision: number;
}

export const keptOf = ({ status, deleted, expired, tries }: ConversionState): KeptState => ({
  status,
  deleted,
  expired,
  tries: tries.length,
});

/** So many tries without a name. */
const NAMELESS: readonly (readonly string[])[] = [[], [''], ['', ''], ['', '', '']];

/** The state that the aggregate folds, in which a try has no name. */
export const stateOf = ({ status, deleted, expired, tries }: KeptState): ConversionState => ({
  ...conversions.initialState,
  status,
  deleted,
  expired,
  tries: NAMELESS[tries] ?? Array.from({ length: tries }, () => ''),
});
