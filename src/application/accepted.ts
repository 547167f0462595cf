import type { Outcome } from '../actors/command.ts';
import { ServiceError } from '../errors.ts';

/** The outcome of an accepted command. @throws {ServiceError} the refusal, in the client's terms */
export function accepted<State, Event>(
  outcome: Outcome<State, Event>,
): Extract<Outcome<State, Event>, { accepted: true }> {
  if (outcome.accepted) return outcome;
  const { refused, message, details } = outcome.refusal;
  throw new ServiceError(refused, message, details ? { details } : {});
}
