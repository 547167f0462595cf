/** An event in one sentence, for people. It quotes nothing personal. */
import type { DomainEvent } from './events.ts';

const counted = (count: number, what: string, plural = `${what}s`): string =>
  `${count} ${count === 1 ? what : plural}`;
/** Words for a size, such as `45.2 kB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return counted(bytes, 'byte');
  if (bytes < 999_950) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
const was = (count: number): string => (count === 1 ? 'was' : 'were');

export function summaryOf({ type, data }: DomainEvent): string {
  switch (type) {
    case 'LogOpened':
      return 'The event log was opened.';
    case 'LogRenamed':
      return `The event log was renamed to ${data.origin}.`;
    case 'LogContinued':
      return `The event log was restored from a backup, and goes on as ${data.origin}. It was ${data.formerOrigin} before.`;
    case 'SigningKeyAdded':
      return `Signing key ${data.generation} of the event log was added.`;
    case 'CheckpointSigned':
      return `A checkpoint of ${counted(data.size, 'event')} was signed.`;
    case 'CheckpointCosigned':
      return `The checkpoint of ${counted(data.size, 'event')} was cosigned by ${counted(data.signatures.length, 'witness', 'witnesses')}.`;
    case 'CheckpointTimestamped':
      return `The checkpoint of ${counted(data.size, 'event')} was timestamped.`;
    case 'AccountOpened':
      return `The account was opened on the plan ${data.plan}.`;
    case 'PlanChanged':
      return `The plan was changed to ${data.plan}.`;
    case 'CreditGranted':
      return `${counted(data.amount, 'credit')} ${was(data.amount)} granted.`;
    case 'CreditDebited':
      return `${counted(data.amount, 'credit')} ${was(data.amount)} taken for the conversion.`;
    case 'ConversionRequested':
      return `A PDF was requested, from ${data.source === 'html' ? 'HTML' : 'a URL'}.`;
    case 'CreditRefunded':
      return `${counted(data.amount, 'credit')} ${was(data.amount)} refunded, because the conversion failed.`;
    case 'PasswordChanged':
      return 'The password was changed, and all sessions ended.';
    case 'SessionsEnded':
      return 'All sessions were ended.';
    case 'OperatorGranted':
      return 'The account was made an operator of the service.';
    case 'OperatorRevoked':
      return 'The account is no longer an operator of the service.';
    case 'HoldPlaced': {
      const end = data.until === undefined ? '' : ` until ${new Date(data.until).toISOString()}`;
      return `A hold was placed${end}: nothing is deleted meanwhile.`;
    }
    case 'HoldReleased':
      return 'The hold was released.';
    case 'AccountErased':
      return 'The account was erased: its keys and sessions have ended.';
    case 'ErasureCompleted':
      return "The account's data key is destroyed, and its stored documents are deleted.";
    case 'ConversionStarted':
      return `Attempt ${data.attempt} started on ${data.renderer}.`;
    case 'ConversionRequeued':
      return `${data.renderer} stopped and gave the conversion back. Attempt ${data.attempt} does not count.`;
    case 'ConversionCompleted':
      return `The PDF was stored: ${counted(data.pages, 'page')}, ${sizeText(data.pdf.bytes)}.`;
    case 'ConversionFailed':
      return `The conversion failed (${data.code}) on attempt ${data.attempt}.`;
    case 'ConversionOutcomeIgnored':
      return `A late outcome (${data.outcome}) from ${data.renderer} was ignored.`;
    case 'ConversionExpired':
      return 'The stored documents of the conversion were deleted.';
    case 'DocumentDownloaded': {
      const by = data.link === undefined ? 'with a credential' : 'through a link';
      const further = data.isLast === true ? ' Further downloads are not recorded.' : '';
      return `The PDF was downloaded ${by}.${further}`;
    }
    case 'KeyCreated':
      return `The API key ${data.prefix}… was created.`;
    case 'KeyUsed':
      return 'The API key was used.';
    case 'KeyRevoked':
      return 'The API key was revoked.';
    case 'SessionOpened':
      return data.kind === 'dashboard'
        ? 'A session of the dashboard was opened by signing in.'
        : 'A session was opened by signing in.';
    case 'SessionRevoked':
      return 'A session was ended.';
    case 'SignInRefused':
      return 'A wrong password was refused.';
    case 'UnknownSignInRefused':
      return 'A sign-in was refused, because no account has the address.';
    case 'SignInsLeftOut':
      return `At least ${counted(data.count, 'refused sign-in')} ${was(data.count)} not recorded one by one.`;
    case 'EmailReserved':
      return 'The sign-in address was reserved for the account.';
  }
}
