import { signingRule } from '../accounts/signature.ts';
import { accountAggregate } from '../domain/account.ts';
import type { RequestRules } from '../requests/validate.ts';
import { callerOf, type HttpContext } from './context.ts';
import type { RouteDependencies } from './dependencies.ts';

/** The rules of requests, with the retention of the caller's account. */
export async function requestRules(
  ctx: HttpContext,
  { actors, clock, config, publicUrl, seal }: RouteDependencies,
): Promise<RequestRules> {
  const { accountId } = callerOf(ctx);
  const { state } = await actors.read(accountAggregate, accountId, ctx.state.asOf);
  // By name: a copy of all would read settings that this role does not have.
  const { maxHtmlBytes, allowPrivateNetwork, egressPorts, retentionSeconds: longest } = config;
  const retentionSeconds = Math.min(state.retentionSeconds ?? longest, longest);
  const signing = signingRule(state.signature, seal, clock.now());
  const rules = { maxHtmlBytes, allowPrivateNetwork, egressPorts, retentionSeconds, signing };
  return config.publicVerify ? { ...rules, verifyUrl: `${publicUrl}/verify` } : rules;
}
