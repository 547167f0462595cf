/** Leaves a trail of refused sign-ins in the log, bounded however many there are. */
import { createHmac } from 'node:crypto';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { hourOf, type SignInTarget, signInTrail } from '../domain/sign-ins.ts';
import { newCommandId } from '../ids.ts';
import type { Vault } from '../keyring/vault.ts';
import { addressHmac } from './accounts.ts';
import { signInActor } from './kinds.ts';

/** A refused sign-in, as the API saw it. */
export interface RefusedSignIn {
  /** The account that the address is of; absent where it is nobody's. */
  readonly accountId: string | undefined;
  readonly email: string;
  readonly clientAddress: string;
  readonly requestId: string;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
}

export interface SignInAudit {
  /** Resolves when it is recorded, or counted among those left out. */
  refused(attempt: RefusedSignIn): Promise<void>;
}

export function createSignInAudit(deps: {
  readonly actors: ActorSystem;
  readonly vault: Vault;
  /** Keys the hashes of addresses that are no account's. */
  readonly addressKey: Buffer;
}): SignInAudit {
  const { actors, vault, addressKey } = deps;
  /** Left out in the present hour, by trail: at most one entry for each account and one more. */
  let leftOut = { hour: -1, counts: new Map<string, number>() };

  function countLeftOut(trail: string, now: number): number {
    const hour = hourOf(now);
    if (hour > leftOut.hour) leftOut = { hour, counts: new Map() };
    const count = (leftOut.counts.get(trail) ?? 0) + 1;
    leftOut.counts.set(trail, count);
    return count;
  }

  function targetOf({ accountId, email, clientAddress }: RefusedSignIn): SignInTarget {
    if (accountId !== undefined) return { kind: 'account', accountId };
    // The same key for two purposes: the prefix keeps a client from being taken for an address.
    const client = createHmac('sha256', addressKey)
      .update(`client\0${clientAddress}`)
      .digest('hex');
    return { kind: 'unknown', address: addressHmac(deps, email), client };
  }

  async function contextOf(attempt: RefusedSignIn): Promise<CommandContext> {
    const { accountId, clientAddress, requestId, time } = attempt;
    const commandId = newCommandId(time);
    const client =
      accountId === undefined ? {} : { client: await vault.seal(accountId, clientAddress) };
    return {
      commandId,
      metadata: {
        correlationId: commandId,
        causationId: commandId,
        actor: { kind: 'anonymous' },
        requestId,
        ...client,
        time,
      },
    };
  }

  return {
    async refused(attempt) {
      const { time: now } = attempt;
      const target = targetOf(attempt);
      const trail = signInTrail(target, now);
      const context = await contextOf(attempt);
      const recorded = await actors.send(
        signInActor,
        trail,
        { type: 'RecordRefusal', target, now },
        context,
      );
      if (!recorded.accepted || recorded.events.length > 0) return;
      const count = countLeftOut(trail, now);
      const noted = { ...context, commandId: newCommandId(now) };
      await actors.send(signInActor, trail, { type: 'NoteLeftOut', target, count, now }, noted);
    },
  };
}
