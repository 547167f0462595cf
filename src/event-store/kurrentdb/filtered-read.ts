/**
 * The server filters reads of its whole log, but the driver cannot ask for it. So the request is made here
 * of the driver's own parts; its version is pinned exactly.
 */
import grpc from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';

const { Empty } = grpc;
const { ReadReq } = streams;
const { FilterOptions } = ReadReq.Options;
const { BACKWARDS, FORWARDS } = ReadReq.Options.ReadDirection;

export interface LogRange {
  /** Inclusive when reading forwards, exclusive backwards; default: the beginning, or the end. */
  readonly from: bigint | undefined;
  readonly limit: number;
  readonly backwards: boolean;
}

/** A read of the events whose streams begin with one of these. */
export function filteredRead(prefixes: readonly string[], range: LogRange): streams.ReadReq {
  const { Options } = ReadReq;
  return new ReadReq().setOptions(
    new Options()
      .setAll(startOf(range))
      .setReadDirection(range.backwards ? BACKWARDS : FORWARDS)
      .setCount(String(range.limit))
      .setUuidOption(new Options.UUIDOption().setString(new Empty()))
      .setFilter(
        new FilterOptions()
          .setStreamIdentifier(new FilterOptions.Expression().setPrefixList([...prefixes]))
          .setCount(new Empty())
          .setCheckpointintervalmultiplier(1),
      ),
  );
}

function startOf({ from, backwards }: LogRange): streams.ReadReq.Options.AllOptions {
  const { AllOptions, Position } = ReadReq.Options;
  if (from === undefined) {
    return backwards
      ? new AllOptions().setEnd(new Empty())
      : new AllOptions().setStart(new Empty());
  }
  const place = String(from);
  return new AllOptions().setPosition(
    new Position().setCommitPosition(place).setPreparePosition(place),
  );
}
