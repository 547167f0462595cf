/**
 * The operators of the service who were suspended, revoked or erased, or whose founder was removed: one stream, so that two
 * who suspend each other at the same time are decided one after the other.
 */
import type { AggregateType, Decider } from './decider.ts';
import type { EventOf } from './events.ts';

/** There is one service to a store. */
export const OPERATORS_ID = '';

export type OperatorsEvent = EventOf<'OperatorSetAside' | 'OperatorRestored'>;

export interface OperatorsState {
  /** Accounts that were decided to act no more, and were not resumed, granted or joined by their founder since. */
  readonly setAside: readonly string[];
}

const initialState: OperatorsState = { setAside: [] };

export type OperatorsCommand = { readonly accountId: string } & (
  | {
      readonly type: 'SetOperatorAside';
      /** The other operators who can act, by their own streams. */
      readonly others: readonly string[];
    }
  | { readonly type: 'RestoreOperator' }
);

function evolve({ setAside }: OperatorsState, { type, data }: OperatorsEvent): OperatorsState {
  const others = setAside.filter((id) => id !== data.accountId);
  return { setAside: type === 'OperatorSetAside' ? [...others, data.accountId] : others };
}

const decide: Decider<OperatorsState, OperatorsCommand, OperatorsEvent>['decide'] = (
  command,
  { setAside },
) => {
  const { accountId } = command;
  const isAside = setAside.includes(accountId);
  switch (command.type) {
    case 'SetOperatorAside':
      // Their own streams may not show yet what was decided here.
      if (command.others.every((id) => setAside.includes(id))) {
        return {
          rejected: 'forbidden',
          message:
            'This is the last operator of the service who can act. Make another account an operator first.',
        };
      }
      return isAside ? [] : [{ type: 'OperatorSetAside', data: { accountId } }];
    case 'RestoreOperator':
      return isAside ? [{ type: 'OperatorRestored', data: { accountId } }] : [];
  }
};

export const operators: Decider<OperatorsState, OperatorsCommand, OperatorsEvent> = {
  initialState,
  evolve,
  decide,
};

export const operatorsAggregate: AggregateType<OperatorsState, OperatorsCommand, OperatorsEvent> = {
  name: 'operators',
  stream: () => 'operators',
  decider: operators,
  snapshot: {
    version: 1,
    encode: (state) => state,
    decode: (json) => json as OperatorsState,
  },
};
