/**
 * The ids of events follow from their command, stream and number (src/actors/actor.ts). So an event that was
 * copied keeps the id of the original, or has one that does not follow from what the copy says of itself.
 */
import type { EventMetadata } from '../../domain/event-metadata.ts';
import type { DomainEvent, EventType } from '../../domain/events.ts';
import type { RecordedEvent } from '../../event-store/port.ts';
import { eventId } from '../../time/ids.ts';
import { Broken } from './difference.ts';
import { StateTable } from './state-table.ts';
import { isOfAccount } from './streams.ts';

/** The command that a stream's last event is of, and the number of that event among the command's, from 0. */
export interface LastCommand {
  readonly command: string;
  readonly number: number;
}

/** Their command may be a second one of a request, whose own id is not stored. */
const OF_SECOND_COMMANDS: ReadonlySet<EventType> = new Set([
  'KeyRevoked',
  'SessionRevoked',
  'SignInsLeftOut',
]);

/** The first events of what makes conversions: the rules of conversions find a second append of them. */
const OF_REQUESTS: ReadonlySet<EventType> = new Set(['CreditDebited', 'ConversionRequested']);

export class EventIds {
  /** The commands of people to accounts. Those that end with one conversion are known by that. */
  readonly #commands = new StateTable<object>();

  /**
   * @param last of the stream before it
   * @returns the same after it
   * @throws {Broken}
   */
  check(
    recorded: RecordedEvent,
    event: DomainEvent,
    last: LastCommand | undefined,
  ): LastCommand | undefined {
    if (OF_SECOND_COMMANDS.has(event.type)) return undefined;
    const { id, stream } = recorded;
    const { causationId = '' } = recorded.metadata as Partial<EventMetadata>;
    // The invitations of a member go with the membership, in the append that ends it.
    const before = event.type === 'InvitationRevoked' && last ? [last.command] : [];
    for (const command of [...commandsOf(event, causationId), ...before]) {
      const next = last?.command === command ? last.number + 1 : 0;
      if (next > 0 && id === eventId(`${command}/${stream}/${next}`)) {
        return { command, number: next };
      }
      if (id !== eventId(`${command}/${stream}/0`)) continue;
      if (command === causationId && isOfAccount(event) && !OF_REQUESTS.has(event.type)) {
        this.#once(command, stream);
      }
      return { command, number: 0 };
    }
    throw new Broken(`an id that follows from its command ${causationId} and its stream`, id);
  }

  close(): void {
    this.#commands.close();
  }

  #once(command: string, stream: string): void {
    const name = `${stream}/${command}`;
    if (this.#commands.get(name) !== undefined) {
      throw new Broken(`one append of command ${command} to ${stream}`, 'a second one');
    }
    this.#commands.set(name, {});
  }
}

/** The commands that an event can be of. Most name theirs as their cause; others follow from an event. */
function commandsOf({ type, data }: DomainEvent, causationId: string): readonly string[] {
  if (type === 'CreditRefunded') return [`refund/${data.conversionId}`];
  if (type === 'ConversionExpired') return [`expire/${data.conversionId}`];
  if (type === 'BatchEnded') return [`end/${data.batchId}`];
  if (type === 'ErasureCompleted') return [`erase/${data.accountId}`];
  if (type === 'PersonErased') return [causationId, `erase/${data.personId}`];
  if (type === 'MemberRemoved') {
    const { accountId, personId } = data;
    return [causationId, `${causationId}/${accountId}`, `erase/${personId}/${accountId}`];
  }
  if (type === 'SignatureKeyDestroyed') return [`destroy/${data.certificateId}`];
  if (type === 'DeliveryAttempted') {
    return [`${data.deliveryId}/${data.round}/${data.attempt}`];
  }
  if (type === 'MailSent' || type === 'MailFailed') return [`${data.mailId}/${data.attempt}`];
  if (type === 'ConversionFailed')
    return [causationId, `erase/${data.conversionId}`, `cancel/${data.conversionId}`];
  return [causationId];
}
