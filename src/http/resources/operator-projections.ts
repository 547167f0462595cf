/** The read models of the node that answers, and their rebuilding. */

import { lagBehind } from '../../read-model/log-lag.ts';
import { checkpointsOf } from '../../read-model/schema.ts';
import { isoTime } from '../../time/clock.ts';
import type { HttpMiddleware } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import type { RebuildState } from '../operations.ts';

function rebuildRecord({ underWay, last }: RebuildState) {
  const { position, end } = underWay ?? {};
  return {
    ...(underWay && { rebuilding: { position: String(position), target: String(end) } }),
    last_rebuild: last ? { ended_at: isoTime(last.endedAt), error: last.error ?? null } : null,
  };
}

export function listProjections(deps: RouteDependencies): HttpMiddleware {
  const { readModel, streams, clock } = deps;
  return async (ctx) => {
    const reached = new Map(
      readModel
        .query(checkpointsOf)()
        .map(({ projection, position }) => [projection, position]),
    );
    const lags = new Map<bigint, number>();
    for (const position of new Set(reached.values())) {
      lags.set(position, (await lagBehind(streams, position, clock.now())).lagEvents);
    }
    const rebuild = rebuildRecord(deps.operations.rebuilds.state());
    ctx.set('Cache-Control', 'no-store');
    ctx.body = readModel.projections.map(({ name, version }) => {
      const position = reached.get(name) ?? 0n;
      return {
        name,
        version,
        position: String(position),
        lag: lags.get(position) ?? 0,
        ...rebuild,
      };
    });
  };
}

export function postRebuild({ operations: { rebuilds } }: RouteDependencies): HttpMiddleware {
  return (ctx) => {
    ctx.state.log.info(
      { operator: ctx.state.caller?.accountId },
      'the read models are to be rebuilt',
    );
    rebuilds.start();
    ctx.status = 202;
    ctx.body = { status: 'rebuilding' };
  };
}
