/** What becomes of a batch after its acceptance, which lies in its account's stream with all its requests. */
import type { AggregateType, Decider } from './decider.ts';
import type { EventOf } from './events.ts';

export const batchStream = (batchId: string): string => `batch-${batchId}`;

export type BatchEvent = EventOf<'BatchEnded'>;

export interface BatchState {
  readonly isEnded: boolean;
}

/** Ends the batch once all its conversions have ended. The counts are those of the log. */
export interface BatchCommand {
  readonly type: 'EndBatch';
  readonly accountId: string;
  readonly batchId: string;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly at: number;
}

const initialState: BatchState = { isEnded: false };

export const batch: Decider<BatchState, BatchCommand, BatchEvent> = {
  initialState,
  evolve: (_, event) => {
    switch (event.type) {
      case 'BatchEnded':
        return { isEnded: true };
    }
  },
  decide: ({ accountId, batchId, total, completed, failed, at }, { isEnded }) => {
    if (isEnded || completed + failed < total) return [];
    return [
      { type: 'BatchEnded', data: { accountId, batchId, total, completed, failed, endedAt: at } },
    ];
  },
};

export const batchAggregate: AggregateType<BatchState, BatchCommand, BatchEvent> = {
  name: 'batch',
  stream: batchStream,
  decider: batch,
  snapshot: {
    version: 1,
    encode: (state) => state,
    decode: (json) => json as BatchState,
  },
};
