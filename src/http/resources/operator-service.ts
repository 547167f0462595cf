/** The service as its operators see it: from this node, beside what `pressledger status` shows. */
import Type from 'typebox';
import { checkpointQueries, type ListedCheckpoint } from '../../../projections/checkpoints.ts';
import { planLimit, planNames } from '../../accounts/rate-limits.ts';
import { FAILURE_CODES } from '../../domain/choices.ts';
import { createStatus } from '../../observe/service-status.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { lagBehind } from '../../read-model/log-lag.ts';
import { checkpointsOf } from '../../read-model/schema.ts';
import { validated } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import { cosignedAt, openNote } from '../../transparency-log/signed-note.ts';
import type { RebuildState } from '../dependencies.ts';
import { Closed, Count, Flag, OrNull, Text, Timestamp } from '../openapi/fields.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOf, pageOfItems, sendPage } from '../pagination.ts';

const rate = Type.Number({ minimum: 0, examples: [12.4] });

export const Activity = Closed({
  window_seconds: Type.Number({ description: 'The time that is counted.', examples: [300] }),
  per_minute: Closed({ accepted: rate, completed: rate, failed: rate, requeued: rate }),
  failures: Type.Array(
    Closed({
      code: Type.Enum([...FAILURE_CODES], { examples: ['timeout'] }),
      count: Count('In that time.'),
    }),
    { description: 'Most first.' },
  ),
  renderers: Type.Array(
    Closed({
      name: Text('renderer-06f3k8r1v2'),
      completed: Count('Conversions that it completed.'),
      failed: Count('Conversions that failed there.', 0),
      last_report_at: Timestamp('The time of its last report.'),
    }),
    { description: 'Those that have reported in that time, the last first.' },
  ),
});

export const ServiceStatus = Closed({
  version: Text('0.1.0'),
  uptime_seconds: Count('The time since this node was started.', 86400),
  memory: Closed({ rss_bytes: Count('Memory of this node.', 150_000_000) }),
  ready: Type.Boolean({ examples: [true] }),
  missing: Type.Array(Type.String(), {
    description: 'What this node lacks to be ready.',
    examples: [[]],
  }),
  credits: Type.Enum(['on', 'off'], {
    description: 'off: conversions cost nothing (CREDITS).',
    examples: ['on'],
  }),
  rate_limit: Type.Enum(['on', 'off'], {
    description: 'off: requests are not limited (RATE_LIMIT).',
    examples: ['on'],
  }),
  plans: Type.Array(
    Closed({
      name: Text('pro'),
      rate_limit: Count('Requests in a minute.', 100, 1),
      credits_monthly: OrNull(Count('Credits that it gives for each month.', 5000)),
    }),
    { description: 'The plans that an account may have.' },
  ),
  leads: Flag('This node feeds the renderers.', true),
  time: Timestamp('The time of the look.'),
  led: OrNull(Flag('Some node feeds the renderers.', true)),
  nodes: Type.Array(Closed({ id: Text('here'), slots: Count('Its slots.', 4) }), {
    description: 'The renderers that take conversions now.',
  }),
  slots: Closed({
    total: Count('Slots of all renderers.', 4),
    busy: Count('Conversions being rendered.', 1),
  }),
  queue: Closed({
    depth: Count('Conversions that no renderer has begun.', 7),
    oldest_at: OrNull(Timestamp('The time when the oldest of them was accepted.')),
    by_account: Type.Array(
      Closed({
        account_id: Text('acct_06f3k8r1v2w9x4y5z6a7b8c9d0'),
        email: OrNull(Text('ada@example.com')),
        pending: Count('Conversions that no renderer has begun.', 7),
        processing: Count('Conversions being rendered.', 1),
        oldest_at: Timestamp('The time when the oldest of both was accepted.'),
      }),
      { description: 'Those with most unfinished conversions first, at most 100.' },
    ),
  }),
  position: Text('4711', "The log's end."),
  lag: Closed({
    events: Count('Events that the lists of this node lack, at most 1000.', 0),
    seconds: Type.Number({ minimum: 0, examples: [0] }),
  }),
  recent: Activity,
  mail: OrNull(
    Closed({
      waiting: Count('Mails that will be sent.', 0),
      oldest_at: OrNull(Timestamp('The time since when the oldest of them waits.')),
      last_sent_at: OrNull(Timestamp('The time when the mail server took one last.')),
      failed: Count('Mails that were given up or refused, in all.', 0),
      last_failed_at: OrNull(Timestamp('The time of the last of these.')),
    }),
  ),
});

/** One item of `GET /operator/projections/`. */
export const ProjectionState = Closed({
  name: Text('accounts'),
  version: Count('The version of its definition.', 2),
  position: Text('4711', 'The position of the log that it has reached.'),
  lag: Count('Events of the log that it lacks, at most 1000.', 0),
  rebuilding: Type.Optional(
    Closed(
      {
        position: Text('2000', 'The position that the rebuild has reached.'),
        target: Text('4711', "The log's end."),
      },
      { description: 'Only while a rebuild is under way.' },
    ),
  ),
  last_rebuild: OrNull(
    Closed({
      ended_at: Timestamp('The time when the last rebuild ended.'),
      error: OrNull(Text('The rebuild was cut off.', 'Why it failed; null: it succeeded.')),
    }),
  ),
});

const Rebuilding = Closed({ status: Type.Enum(['rebuilding']) });

const ACCOUNTS = { name: 'accounts', version: 2, position: '4711', lag: 0, last_rebuild: null };

/** One item of `GET /operator/checkpoints/`. */
export const SignedCheckpoint = Closed({
  size: Count('The number of events that it covers.', 4711),
  root: Text(
    'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=',
    'The root hash of the tree of these events, in base64.',
  ),
  time: Timestamp('The time when it was signed.'),
  origin: Text('pressledger/5c1f7d3e6c1a4d1b', 'The name of the log at that time.'),
  witnesses: Type.Array(
    Closed({
      name: Text('witness.example.com/w1'),
      time: OrNull(Timestamp('The time that the witness has signed.')),
    }),
  ),
  timestamped_at: OrNull(Timestamp('The time when its timestamp (RFC 3161) was recorded.')),
});

export const getStatus: Endpoint = {
  doc: {
    id: 'getStatus',
    tag: 'Operators',
    summary: 'Retrieve the state of the service',
    description:
      'Nodes, slots, queue, rates, failures and lag, as the node that answers sees them at this moment.',
    answers: { 200: { description: 'The state of the service.', schema: ServiceStatus } },
  },
  handler: (deps) => {
    const { version, renderers } = deps.operations;
    const look = createStatus({ ...deps, renderers });
    const { credits, rateLimit: rate_limit } = deps.config;
    const plans = planNames(deps.config).map((name) => ({
      name,
      rate_limit: planLimit(deps.config, name),
      credits_monthly: deps.config.plans?.get(name)?.creditsMonthly ?? null,
    }));
    return async (ctx) => {
      const [status, { ready, missing, leads = false }] = await Promise.all([
        look(),
        deps.readiness(),
      ]);
      const node = { version, uptime_seconds: Math.floor(process.uptime()) };
      const memory = { rss_bytes: process.memoryUsage.rss() };
      ctx.set('Cache-Control', 'no-store');
      const mail = deps.config.smtpUrl === undefined ? null : status.mail;
      const limits = { credits, rate_limit, plans };
      ctx.body = { ...node, memory, ready, missing, ...limits, leads, ...status, mail };
    };
  },
};

function rebuildRecord({ underWay, last }: RebuildState) {
  const { position, end } = underWay ?? {};
  return {
    ...(underWay && { rebuilding: { position: String(position), target: String(end) } }),
    last_rebuild: last ? { ended_at: isoTime(last.endedAt), error: last.error ?? null } : null,
  };
}

export const listProjections: Endpoint = {
  doc: {
    id: 'listProjections',
    tag: 'Operators',
    summary: 'List the projections',
    description:
      'The read models of the node that answers: how far each is behind the log, and how far a rebuild is.',
    answers: {
      200: {
        description: 'All projections.',
        schema: Type.Array(ProjectionState),
        examples: {
          idle: [ACCOUNTS],
          rebuilding: [{ ...ACCOUNTS, rebuilding: { position: '2000', target: '4711' } }],
          rebuilt: [
            { ...ACCOUNTS, last_rebuild: { ended_at: '2026-11-21T08:15:30.123Z', error: null } },
          ],
        },
      },
    },
  },
  handler: (deps) => {
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
  },
};

export const postRebuild: Endpoint = {
  doc: {
    id: 'rebuildProjections',
    tag: 'Operators',
    summary: 'Rebuild the projections',
    description:
      'Rebuilds all read models of the node that answers, from the log and in the background, and puts them in the place of those in use. While one rebuild is under way, no second one is begun.',
    answers: { 202: { description: 'A rebuild is under way.', schema: Rebuilding } },
  },
  handler:
    ({ operations: { rebuilds } }) =>
    (ctx) => {
      ctx.state.log.info(
        { operator: ctx.state.caller?.accountId },
        'the read models are to be rebuilt',
      );
      rebuilds.start();
      ctx.status = 202;
      ctx.body = { status: 'rebuilding' };
    },
};

/** Dates reach no further. */
const MOST_SECONDS = 8_640_000_000_000n;

function timeOf(seconds: bigint | undefined): string | null {
  return seconds === undefined || seconds > MOST_SECONDS ? null : isoTime(Number(seconds) * 1000);
}

function checkpointRecord({ size, root, note, signedAt, timestampedAt }: ListedCheckpoint) {
  const { text, signatures } = openNote(note);
  const [origin = ''] = text.split('\n');
  return {
    size,
    root: root.toString('base64'),
    time: isoTime(signedAt),
    origin,
    witnesses: signatures
      .filter(({ name }) => name !== origin)
      .map((signature) => ({ name: signature.name, time: timeOf(cosignedAt(signature)) })),
    timestamped_at: timestampedAt === null ? null : isoTime(timestampedAt),
  };
}

export const listCheckpoints: Endpoint = {
  doc: {
    id: 'listCheckpoints',
    tag: 'Operators',
    summary: 'List checkpoints',
    description: 'The signed checkpoints of the log, newest first, with those who vouch for them.',
    parameters: PAGE_PARAMETERS,
    answers: { 200: pageOfItems(SignedCheckpoint) },
  },
  handler: (deps) => async (ctx) => {
    const page = validated((issues) => pageOf(ctx, issues));
    const queries = await consistentQuery(deps, checkpointQueries, ctx.state.asOf);
    const { rows, total } = queries.page(page);
    sendPage(ctx, deps.publicUrl, page, total, rows.map(checkpointRecord));
  },
};
