/** The commands for webhooks of an account at a service. */
import { DELIVERY_STATUSES } from '../../domain/choices.ts';
import type { Command, OptionSpec } from '../command.ts';
import { LIMIT, SERVICE_OPTIONS, HEADER } from '../options.ts';

const ENDPOINT = { id: "the endpoint's id, as 'webhooks list' shows it" };
const WEBHOOK = 'webhook_01jd3v3p8z6s2q4w9x7y5t1r0k';
const DELIVERY = 'delivery_3f9a1c5e7b2d4f6081a3c5e7f9';

const SETTINGS: Readonly<Record<string, OptionSpec>> = {
  types: { value: 'list', help: 'the events, such as conversion.failed,batch.ended' },
  description: { value: 'text', help: 'a note for people' },
};

export const WEBHOOKS: readonly Command[] = [
  {
    name: 'webhooks list',
    summary: 'List the webhook endpoints of your account, newest first.',
    examples: ['webhooks list'],
    options: { header: HEADER, limit: LIMIT, ...SERVICE_OPTIONS },
    run: async (...given) => (await import('../webhooks.ts')).webhooksList(...given),
  },
  {
    name: 'webhooks create',
    summary: 'Create a webhook endpoint; its secret is shown only now.',
    examples: [
      'webhooks create https://example.com/hooks/pdf',
      'webhooks create https://example.com/hooks/pdf --types conversion.failed',
    ],
    positionals: { url: 'the https address that is told of events' },
    options: { ...SETTINGS, ...SERVICE_OPTIONS },
    run: async (...given) => (await import('../webhooks.ts')).webhooksCreate(...given),
  },
  {
    name: 'webhooks update',
    summary: 'Change a webhook endpoint, or switch it on or off.',
    examples: [
      `webhooks update ${WEBHOOK} --enable`,
      `webhooks update ${WEBHOOK} --url https://example.com/new`,
    ],
    positionals: ENDPOINT,
    options: {
      url: { value: 'url', help: 'another https address' },
      ...SETTINGS,
      enable: { help: 'switch it on' },
      disable: { help: 'switch it off: what waits for it fails' },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../webhooks.ts')).webhooksUpdate(...given),
  },
  {
    name: 'webhooks delete',
    summary: 'Delete a webhook endpoint: nothing is sent to it any more.',
    examples: [`webhooks delete ${WEBHOOK}`],
    positionals: ENDPOINT,
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../webhooks.ts')).webhooksDelete(...given),
  },
  {
    name: 'webhooks rotate',
    summary: 'Replace the secret of an endpoint, or the default secret; both sign for 24 hours.',
    examples: [`webhooks rotate ${WEBHOOK}`, 'webhooks rotate'],
    positionals: {
      id: "the endpoint's id; without it, the secret for the webhook_url of requests",
    },
    optionalPositionals: 1,
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../webhooks.ts')).webhooksRotate(...given),
  },
  {
    name: 'webhooks test',
    summary: 'Have a test delivery sent to an endpoint.',
    examples: [`webhooks test ${WEBHOOK}`],
    positionals: ENDPOINT,
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../webhooks.ts')).webhooksTest(...given),
  },
  {
    name: 'webhooks deliveries',
    summary: 'List deliveries, newest first, or show one whole, with its tries.',
    examples: [
      'webhooks deliveries --status failed',
      `webhooks deliveries ${DELIVERY}`,
      `webhooks deliveries --webhook ${WEBHOOK}`,
    ],
    positionals: { id: 'the id of a delivery' },
    optionalPositionals: 1,
    options: {
      header: HEADER,
      webhook: { value: 'id', help: 'only those to this endpoint' },
      conversion: { value: 'id', help: 'only those about this conversion' },
      status: { value: 'status', help: DELIVERY_STATUSES.join(', '), choices: DELIVERY_STATUSES },
      limit: LIMIT,
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../webhooks.ts')).webhooksDeliveries(...given),
  },
  {
    name: 'webhooks redeliver',
    summary: 'Send a delivery again, or what failed for an endpoint since a time.',
    examples: [
      `webhooks redeliver ${DELIVERY}`,
      `webhooks redeliver ${WEBHOOK} --since 2026-11-21T08:15:30Z`,
    ],
    positionals: { id: 'the id of a delivery, or with --since of an endpoint' },
    options: {
      since: {
        value: 'time',
        help: 'what failed of the events since then: the oldest, at most 1,000',
      },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../webhooks.ts')).webhooksRedeliver(...given),
  },
];
