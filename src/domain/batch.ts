/** What becomes of a batch after its acceptance, which lies in its account's stream with all its requests. */
import type { AggregateType, Decider } from './decider.ts';
import type { EventOf } from './events.ts';

export const batchStream = (batchId: string): string => `batch-${batchId}`;

export type BatchEvent = EventOf<'BatchCancelled' | 'BatchEnded'>;

export interface BatchState {
  readonly isCancelled: boolean;
  readonly isEnded: boolean;
}

const initialState: BatchState = { isCancelled: false, isEnded: false };

interface CommandOf {
  readonly accountId: string;
  readonly batchId: string;
  readonly at: number;
}

export type BatchCommand =
  /** `message` is sealed. */
  | ({ readonly type: 'CancelBatch'; readonly message: string } & CommandOf)
  /** Ends the batch once all its conversions have ended. The counts are those of the log. */
  | ({
      readonly type: 'EndBatch';
      readonly total: number;
      readonly completed: number;
      readonly failed: number;
    } & CommandOf);

const decide: Decider<BatchState, BatchCommand, BatchEvent>['decide'] = (command, state) => {
  const { accountId, batchId, at } = command;
  if (state.isEnded) return [];
  switch (command.type) {
    case 'CancelBatch': {
      if (state.isCancelled) return [];
      const { message } = command;
      return [{ type: 'BatchCancelled', data: { accountId, batchId, message, cancelledAt: at } }];
    }
    case 'EndBatch': {
      const { total, completed, failed } = command;
      if (completed + failed < total) return [];
      const cancelled = state.isCancelled ? ({ cancelled: true } as const) : {};
      const counts = { total, completed, failed, ...cancelled };
      return [{ type: 'BatchEnded', data: { accountId, batchId, ...counts, endedAt: at } }];
    }
  }
};

export const batch: Decider<BatchState, BatchCommand, BatchEvent> = {
  initialState,
  evolve(state, event) {
    switch (event.type) {
      case 'BatchCancelled':
        return { ...state, isCancelled: true };
      case 'BatchEnded':
        return { ...state, isEnded: true };
    }
  },
  decide,
};

export const batchAggregate: AggregateType<BatchState, BatchCommand, BatchEvent> = {
  name: 'batch',
  stream: batchStream,
  decider: batch,
  snapshot: {
    version: 2,
    encode: (state) => state,
    decode: (json) => json as BatchState,
  },
};
