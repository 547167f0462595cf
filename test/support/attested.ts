/** Attestations of an API's newest checkpoint, recorded as the process manager does. */

import type { StoredCheckpoint } from '../../projections/checkpoints.ts';
import { LOG_ID, type LogCommand, logAggregate } from '../../src/domain/log.ts';
import { currentCheckpoint } from '../../src/log/transparency-log.ts';
import type { Api } from './api.ts';

async function record(
  api: Api,
  commandOf: (checkpoint: StoredCheckpoint) => LogCommand,
): Promise<StoredCheckpoint> {
  const checkpoint = await currentCheckpoint(api);
  await api.actors.send(logAggregate, LOG_ID, commandOf(checkpoint), api.context());
  return checkpoint;
}

export const recordTimestamp = (api: Api, token: Buffer): Promise<StoredCheckpoint> =>
  record(api, ({ size }) => {
    const at = api.clock.now();
    return { type: 'RecordTimestamp', size, token: token.toString('base64'), at };
  });

/** @param lineOf makes the line of a cosignature */
export const recordCosignature = (
  api: Api,
  lineOf: (checkpoint: StoredCheckpoint) => string,
): Promise<StoredCheckpoint> =>
  record(api, (checkpoint) => {
    const [size, at] = [checkpoint.size, api.clock.now()];
    return { type: 'RecordCosignatures', size, signatures: [lineOf(checkpoint)], at };
  });
