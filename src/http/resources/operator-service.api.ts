import Type from 'typebox';
import { FAILURE_CODES } from '../../domain/choices.ts';
import { type OperationDoc, Timestamp } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems, WRONG_QUERY } from '../pagination.ts';

const closed = { additionalProperties: false } as const;
const count = (description: string, example = 3) =>
  Type.Integer({ minimum: 0, description, examples: [example] });
const rate = Type.Number({ minimum: 0, examples: [12.4] });

export const Activity = Type.Object(
  {
    window_seconds: Type.Number({ description: 'The time that is counted.', examples: [300] }),
    per_minute: Type.Object(
      { accepted: rate, completed: rate, failed: rate, requeued: rate },
      closed,
    ),
    failures: Type.Array(
      Type.Object(
        {
          code: Type.Enum([...FAILURE_CODES], { examples: ['timeout'] }),
          count: count('In that time.'),
        },
        closed,
      ),
      { description: 'Most first.' },
    ),
    renderers: Type.Array(
      Type.Object(
        {
          name: Type.String({ examples: ['renderer-06f3k8r1v2'] }),
          completed: count('Conversions that it completed.'),
          failed: count('Conversions that failed there.', 0),
          last_report_at: Timestamp('The time of its last report.'),
        },
        closed,
      ),
      { description: 'Those that have reported in that time, the last first.' },
    ),
  },
  closed,
);

export const ServiceStatus = Type.Object(
  {
    version: Type.String({ examples: ['0.1.0'] }),
    uptime_seconds: count('The time since this node was started.', 86400),
    memory: Type.Object({ rss_bytes: count('Memory of this node.', 150_000_000) }, closed),
    ready: Type.Boolean({ examples: [true] }),
    missing: Type.Array(Type.String(), {
      description: 'What this node lacks to be ready.',
      examples: [[]],
    }),
    leads: Type.Boolean({ description: 'This node feeds the renderers.', examples: [true] }),
    time: Timestamp('The time of the look.'),
    led: Type.Union([
      Type.Boolean({ description: 'Some node feeds the renderers.', examples: [true] }),
      Type.Null(),
    ]),
    nodes: Type.Array(
      Type.Object(
        { id: Type.String({ examples: ['here'] }), slots: count('Its slots.', 4) },
        closed,
      ),
      { description: 'The renderers that take conversions now.' },
    ),
    slots: Type.Object(
      { total: count('Slots of all renderers.', 4), busy: count('Conversions being rendered.', 1) },
      closed,
    ),
    queue: Type.Object(
      {
        depth: count('Conversions that no renderer has begun.', 7),
        oldest_at: Type.Union([
          Timestamp('The time when the oldest of them was accepted.'),
          Type.Null(),
        ]),
        by_account: Type.Array(
          Type.Object(
            {
              account_id: Type.String({ examples: ['acct_06f3k8r1v2w9x4y5z6a7b8c9d0'] }),
              email: Type.Union([Type.String({ examples: ['ada@example.com'] }), Type.Null()]),
              pending: count('Conversions that no renderer has begun.', 7),
              processing: count('Conversions being rendered.', 1),
              oldest_at: Timestamp('The time when the oldest of both was accepted.'),
            },
            closed,
          ),
          { description: 'Those with most unfinished conversions first, at most 100.' },
        ),
      },
      closed,
    ),
    position: Type.String({ description: "The log's end.", examples: ['4711'] }),
    lag: Type.Object(
      {
        events: count('Events that the lists of this node lack, at most 1000.', 0),
        seconds: Type.Number({ minimum: 0, examples: [0] }),
      },
      closed,
    ),
    recent: Activity,
  },
  closed,
);

export const getStatusDoc: OperationDoc = {
  id: 'getStatus',
  tag: 'Operators',
  summary: 'Retrieve the state of the service',
  description:
    'Nodes, slots, queue, rates, failures and lag, as the node that answers sees them at this moment.',
  answers: { 200: { description: 'The state of the service.', schema: ServiceStatus } },
};

/** One item of `GET /operator/failures/`. */
export const Failure = Type.Object(
  {
    conversion_id: Type.String({ examples: ['conv_06f3k8r1v2w9x4y5z6a7b8c9d0'] }),
    account_id: Type.String({ examples: ['acct_06f3k8r1v2w9x4y5z6a7b8c9d0'] }),
    time: Timestamp('The time of the failure.'),
    code: Type.Enum([...FAILURE_CODES], { examples: ['timeout'] }),
    attempt: count('The attempt that failed.', 1),
    renderer: Type.String({
      description: 'The renderer that reported it; service where no renderer did.',
      examples: ['renderer-06f3k8r1v2'],
    }),
  },
  closed,
);

export const listFailuresDoc: OperationDoc = {
  id: 'listFailures',
  tag: 'Operators',
  summary: 'List failures',
  description:
    'The latest 10000 failures of conversions of all accounts, newest first. The texts that quote documents are for their accounts alone.',
  parameters: PAGE_PARAMETERS,
  answers: { 200: pageOfItems(Failure) },
  errors: { validation_error: WRONG_QUERY },
};

/** One item of `GET /operator/projections/`. */
export const ProjectionState = Type.Object(
  {
    name: Type.String({ examples: ['accounts'] }),
    version: count('The version of its definition.', 2),
    position: Type.String({
      description: 'The position of the log that it has reached.',
      examples: ['4711'],
    }),
    lag: count('Events of the log that it lacks, at most 1000.', 0),
    rebuilding: Type.Optional(
      Type.Object(
        {
          position: Type.String({
            description: 'The position that the rebuild has reached.',
            examples: ['2000'],
          }),
          target: Type.String({ description: "The log's end.", examples: ['4711'] }),
        },
        { ...closed, description: 'Only while a rebuild is under way.' },
      ),
    ),
    last_rebuild: Type.Union([
      Type.Object(
        {
          ended_at: Timestamp('The time when the last rebuild ended.'),
          error: Type.Union([
            Type.String({
              description: 'Why it failed; null: it succeeded.',
              examples: ['The rebuild was cut off.'],
            }),
            Type.Null(),
          ]),
        },
        closed,
      ),
      Type.Null(),
    ]),
  },
  closed,
);

const Rebuilding = Type.Object({ status: Type.Enum(['rebuilding']) }, closed);

const projection = { name: 'accounts', version: 2, position: '4711', lag: 0, last_rebuild: null };

export const listProjectionsDoc: OperationDoc = {
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
        idle: [projection],
        rebuilding: [{ ...projection, rebuilding: { position: '2000', target: '4711' } }],
        rebuilt: [
          { ...projection, last_rebuild: { ended_at: '2026-11-21T08:15:30.123Z', error: null } },
        ],
      },
    },
  },
};

export const postRebuildDoc: OperationDoc = {
  id: 'rebuildProjections',
  tag: 'Operators',
  summary: 'Rebuild the projections',
  description:
    'Rebuilds all read models of the node that answers, from the log and in the background, and puts them in the place of those in use. While one rebuild is under way, no second one is begun.',
  answers: { 202: { description: 'A rebuild is under way.', schema: Rebuilding } },
};

/** One item of `GET /operator/checkpoints/`. */
export const SignedCheckpoint = Type.Object(
  {
    size: count('The number of events that it covers.', 4711),
    root: Type.String({
      description: 'The root hash of the tree of these events, in base64.',
      examples: ['CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I='],
    }),
    time: Timestamp('The time when it was signed.'),
    origin: Type.String({
      description: 'The name of the log at that time.',
      examples: ['pressledger/5c1f7d3e6c1a4d1b'],
    }),
    witnesses: Type.Array(
      Type.Object(
        {
          name: Type.String({ examples: ['witness.example.com/w1'] }),
          time: Type.Union([Timestamp('The time that the witness has signed.'), Type.Null()]),
        },
        closed,
      ),
    ),
    timestamped_at: Type.Union([
      Timestamp('The time when its timestamp (RFC 3161) was recorded.'),
      Type.Null(),
    ]),
  },
  closed,
);

export const listCheckpointsDoc: OperationDoc = {
  id: 'listCheckpoints',
  tag: 'Operators',
  summary: 'List checkpoints',
  description: 'The signed checkpoints of the log, newest first, with those who vouch for them.',
  parameters: PAGE_PARAMETERS,
  answers: { 200: pageOfItems(SignedCheckpoint) },
  errors: { validation_error: WRONG_QUERY },
};
