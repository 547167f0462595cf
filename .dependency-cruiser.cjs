/** The rules of who may import whom, enforced by `npm run check`. */
const only = (name, from, to, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: '^(client|src|projections|dashboard)/', pathNot: to },
});

/** Files that know nothing of the service, and do one small thing for many parts of it. */
const PLAIN =
  '^src/((async|text)/|(documents/ownership|errors/error-message|limits/(bounds|budgets)|observe/log-throttle)\\.ts$)';

/** What may be asked of the service, whoever asks: the API or the command line. */
const USE_CASES =
  '^src/((accounts|conversions|log)/|observe/(recent-activity|service-status)\\.ts$)';

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Data flows one way.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans-outside',
      comment: 'Product code never depends on tests, benchmarks or the set-up.',
      severity: 'error',
      from: { path: '^(client|src|projections)/' },
      to: { path: '^(test|bench|setup)/' },
    },
    only('plain', PLAIN, [PLAIN], 'What many parts use knows none of them.'),
    only(
      'domain-is-pure',
      '^src/domain/',
      ['^src/domain/', '^src/errors/errors\\.ts$'],
      'Domain code knows no I/O, no clock and no randomness.',
    ),
    {
      name: 'domain-has-no-io',
      comment: 'No Node built-in in the domain.',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { dependencyTypes: ['core'] },
    },
    only(
      'ports-know-domain-types-only',
      '^src/.+/port\\.ts$',
      ['^src/domain/', '^src/documents/port\\.ts$', '^src/render-queue/messages\\.ts$'],
      'A port says what is needed, not how.',
    ),
    only(
      'event-store',
      '^src/event-store/',
      ['^src/event-store/', '^src/domain/', '^src/documents/port\\.ts$', '^src/sqlite/', PLAIN],
      'An adapter knows its port and its driver.',
    ),
    {
      name: 'event-store-driver',
      comment: 'The driver can be changed in one place.',
      severity: 'error',
      from: {
        path: '^(src|projections|test|bench)/',
        pathNot: '^src/event-store/kurrentdb/(client|connection)\\.ts$',
      },
      to: { path: 'node_modules/@(eventstore|kurrent)/' },
    },
    only(
      'documents',
      '^src/documents/[^/]+\\.ts$',
      ['^src/documents/[^/]+\\.ts$', '^src/domain/', '^src/sqlite/', '^src/nats/', PLAIN],
      'An adapter knows its port and its driver.',
    ),
    {
      name: 's3-driver',
      comment: 'The driver can be changed in one place, and is loaded where S3 is used alone.',
      severity: 'error',
      from: {
        path: '^(src|projections|test|bench)/',
        pathNot: '^src/documents/s3-(bucket|objects)\\.ts$',
      },
      to: { path: 'node_modules/@(aws-sdk|smithy)/' },
    },
    {
      name: 's3-driver-is-loaded-late',
      comment: 'Loading the driver takes longer than the rest of a start.',
      severity: 'error',
      from: { path: '^(src|projections)/', pathNot: '^src/documents/s3-objects\\.ts$' },
      to: {
        path: '^src/documents/s3-(bucket|objects)\\.ts$',
        dependencyTypesNot: ['dynamic-import', 'type-only', 'type-import'],
      },
    },
    only(
      'rate-limiter',
      '^src/limits/rate-limiter/',
      ['^src/limits/rate-limiter/', '^src/time/clock\\.ts$', '^src/nats/', PLAIN],
      'An adapter knows its port and its driver.',
    ),
    only(
      'keyring',
      '^src/documents/keys/',
      [
        '^src/documents/keys/',
        '^src/documents/(durable-file|objects|port|writer|s3-[^/]+)\\.ts$',
        '^src/domain/ids\\.ts$',
        '^src/nats/',
        PLAIN,
      ],
      'An adapter knows its port and its driver; keys and blobs share what writes files and S3.',
    ),
    only(
      'sqlite',
      '^src/sqlite/',
      ['^src/sqlite/', PLAIN],
      'The database file that embedded adapters share knows none of them.',
    ),
    only(
      'render-queue',
      '^src/render-queue/',
      ['^src/render-queue/', '^src/domain/', '^src/nats/', PLAIN],
      'An adapter knows its port and its driver.',
    ),
    only(
      'nats',
      '^src/nats/',
      ['^src/nats/', PLAIN],
      'The connection that adapters share knows none of them.',
    ),
    only(
      'leader',
      '^src/leader/',
      ['^src/leader/', '^src/nats/', '^src/observe/log\\.ts$', PLAIN],
      'Whoever leads, and by which lease, is the same for every task.',
    ),
    only(
      'metrics',
      '^src/observe/metrics/',
      [
        '^src/observe/metrics/',
        '^src/event-store/(port|codec)\\.ts$',
        '^src/read-model/projection\\.ts$',
        '^src/(time/ids|observe/log)\\.ts$',
        PLAIN,
      ],
      'Metrics are told by others, in service/; they ask nobody.',
    ),
    only(
      'tracing',
      '^src/observe/tracing/',
      ['^src/observe/tracing/', '^src/observe/log\\.ts$', PLAIN],
      'An adapter knows its port and its driver.',
    ),
    {
      name: 'tracing-driver',
      comment: 'The driver can be changed in one place, and is loaded where traces are on alone.',
      severity: 'error',
      from: {
        path: '^(src|projections|test|bench)/',
        pathNot: '^src/observe/tracing/opentelemetry\\.ts$',
      },
      to: { path: 'node_modules/@opentelemetry/' },
    },
    {
      name: 'observers-are-loaded-late',
      comment: 'A process without metrics or traces pays nothing for them.',
      severity: 'error',
      from: { path: '^(src|projections)/', pathNot: '^src/observe/metrics/' },
      to: {
        path: '^src/observe/(metrics/(metrics|definitions|server)|tracing/opentelemetry)\\.ts$',
        dependencyTypesNot: ['dynamic-import', 'type-only', 'type-import'],
      },
    },
    only(
      'attestation',
      '^src/log/attestation/',
      ['^src/log/attestation/', '^src/transparency-log/', PLAIN],
      'An adapter knows its port and its driver.',
    ),
    only(
      'archive-places',
      '^src/archive/places/',
      ['^src/archive/places/', '^src/documents/', PLAIN],
      'An adapter knows its port and its driver; backups and blobs share what writes files and S3.',
    ),
    only(
      'actors',
      '^src/actors/',
      [
        '^src/actors/',
        '^src/domain/(decider|event-metadata|events)\\.ts$',
        '^src/event-store/(port|codec)\\.ts$',
        '^src/documents/port\\.ts$',
        '^src/(time/(clock|ids)|errors/errors)\\.ts$',
      ],
      'Actors know no aggregate by name.',
    ),
    only(
      'read-model',
      '^src/read-model/',
      [
        '^src/read-model/',
        '^src/event-store/(port|codec)\\.ts$',
        '^src/domain/(events|event-metadata)\\.ts$',
        '^src/errors/errors\\.ts$',
        PLAIN,
      ],
      'The read model knows projections by their interface only.',
    ),
    only(
      'transparency-log',
      '^src/transparency-log/',
      ['^src/transparency-log/', '^src/event-store/port\\.ts$'],
      'Formats that anyone can check with other tools know nothing of the service.',
    ),
    {
      name: 'transparency-log-has-no-io',
      comment: 'Hashes and signatures are all that the formats take from Node.',
      severity: 'error',
      from: { path: '^src/transparency-log/' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
    },
    only(
      'projections',
      '^projections/',
      [
        '^projections/',
        '^src/domain/',
        '^src/read-model/',
        '^src/event-store/(port|codec)\\.ts$',
        '^src/transparency-log/',
      ],
      'Projections fold events into rows, nothing else.',
    ),
    only(
      'renderer-browser-stands-alone',
      '^src/renderer/browser/',
      ['^src/renderer/browser/', '^src/domain/choices\\.ts$', PLAIN],
      'What starts and ends Chrome knows nothing of pages.',
    ),
    only(
      'renderer-chrome-stands-alone',
      '^src/renderer/chrome/',
      [
        '^src/renderer/(browser|chrome|pdf)/',
        PLAIN,
        '^src/domain/(choices|event-fields|page|render-manifest|request-document)\\.ts$',
      ],
      'What drives Chrome knows nothing of the service.',
    ),
    only(
      'renderer-pdf-stands-alone',
      '^src/renderer/pdf/',
      ['^src/renderer/pdf/', '^src/domain/request-document\\.ts$'],
      'What reads and changes a PDF knows no browser.',
    ),
    only(
      'webhook-sending',
      '^src/webhooks/',
      ['^src/webhooks/', '^src/egress/', '^src/domain/', PLAIN],
      'What signs and posts knows nothing of the service.',
    ),
    {
      name: 'webhook-library',
      comment: 'The library can be changed in one place.',
      severity: 'error',
      from: { path: '^(src|projections)/', pathNot: '^src/webhooks/signature\\.ts$' },
      to: { path: 'node_modules/standardwebhooks/' },
    },
    only(
      'egress-addresses',
      '^src/egress/',
      ['^src/egress/', PLAIN],
      'What leaves the service, for a page or a webhook, keeps the same address rules.',
    ),
    only(
      'egress-stands-alone',
      '^src/renderer/egress/',
      ['^src/renderer/egress/', '^src/egress/', PLAIN],
      'The proxy knows nothing of the service.',
    ),
    only(
      'renderer-holds-no-event-store',
      '^src/renderer/',
      [
        '^src/renderer/',
        '^src/egress/',
        '^src/domain/',
        '^src/render-queue/(port|messages)\\.ts$',
        '^src/documents/(decryption|encryption|port)\\.ts$',
        '^src/(time/(clock|ids)|observe/log)\\.ts$',
        PLAIN,
      ],
      'Code that runs strangers’ pages cannot write the ledger.',
    ),
    only(
      'http-names-no-adapter',
      '^src/http/',
      [
        '^dashboard/src/paths\\.ts$',
        '^src/http/',
        '^src/domain/',
        '^src/actors/',
        USE_CASES,
        '^src/requests/',
        '^src/read-model/',
        '^src/.+/port\\.ts$',
        '^src/documents/(decryption|encryption)\\.ts$',
        '^src/documents/keys/vault\\.ts$',
        '^src/transparency-log/',
        '^src/(time/(clock|ids)|errors/errors|observe/log|config/config)\\.ts$',
        PLAIN,
        '^projections/',
      ],
      'HTTP speaks to ports; service/adapters.ts chooses the adapters.',
    ),
    only(
      'requests',
      '^src/requests/',
      [
        '^src/requests/',
        '^src/domain/',
        '^src/egress/policy\\.ts$',
        '^src/(config/config|errors/errors)\\.ts$',
        PLAIN,
      ],
      'The rules of a request serve the API and the command line alike.',
    ),
    only(
      'use-cases-know-no-http',
      USE_CASES,
      [
        USE_CASES,
        '^src/domain/',
        '^src/actors/',
        '^src/read-model/',
        '^src/.+/port\\.ts$',
        '^src/event-store/codec\\.ts$',
        '^src/documents/(decryption|encryption)\\.ts$',
        '^src/documents/keys/vault\\.ts$',
        '^src/transparency-log/',
        '^src/webhooks/signature\\.ts$',
        '^src/(time/(clock|ids)|config/copyable-command|errors/errors|observe/log)\\.ts$',
        PLAIN,
        '^projections/',
      ],
      'A use case serves the API and the command line alike.',
    ),
    only(
      'archive',
      '^src/archive/[^/]+\\.ts$',
      [
        '^src/archive/[^/]+\\.ts$',
        '^src/archive/places/port\\.ts$',
        '^src/domain/',
        '^src/actors/',
        '^src/.+/port\\.ts$',
        '^src/event-store/codec\\.ts$',
        '^src/transparency-log/',
        '^src/log/',
        '^src/(time/clock|config/copyable-command)\\.ts$',
        PLAIN,
      ],
      'What copies a log checks it as `verify` does, and knows stores by their ports alone.',
    ),
    {
      name: 'verifier-stands-alone',
      comment: 'An auditor runs the file as it is, and reads nothing else.',
      severity: 'error',
      from: { path: '^verifier/' },
      to: { dependencyTypesNot: ['core'] },
    },
    only(
      'samples-stand-alone',
      '^samples/',
      ['^samples/'],
      'The service and the pages of the dashboard show them.',
    ),
    only(
      'client-stands-alone',
      '^client/',
      ['^client/'],
      'The client is packed for others: it carries nothing of the service.',
    ),
    only(
      'dashboard',
      '^dashboard/src/',
      ['^dashboard/(src|node_modules)/'],
      'Pages use the public API as any client, and types that are generated from its document.',
    ),
    {
      name: 'service-is-for-main',
      comment: 'What puts the parts together is used by the entry point alone.',
      severity: 'error',
      from: { path: '^(src|projections)/', pathNot: '^src/(main\\.ts$|service/|commands/)' },
      to: { path: '^src/service/' },
    },
    {
      name: 'commands-are-given-service',
      comment: 'Commands know types of what opens their stores; the entry point gives it to them.',
      severity: 'error',
      from: { path: '^src/commands/' },
      to: { path: '^src/service/', dependencyTypesNot: ['type-only', 'type-import'] },
    },
    {
      name: 'commands-run-late',
      comment:
        'Help, completion and every command load the table of commands, and no command but the one that runs.',
      severity: 'error',
      from: {
        path: '^src/commands/(table/.*|all|options|convert-options|several-pages|completion|cli)\\.ts$',
      },
      to: {
        path: [
          '^(client|projections)/',
          '^src/(accounts|conversions|log|http|archive|domain/event(s|-fields)\\.ts|read-model)/?',
        ],
        dependencyTypesNot: ['dynamic-import', 'type-only', 'type-import'],
      },
    },
    {
      name: 'adapters-are-named-in-service',
      comment: 'Concrete adapters are chosen in one place.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          '^src/service/(adapters|backup-times|backups|blobs|checks|event-store|keyring|log|move|nats|observe|open|rewrap|store-schema)\\.ts$',
          '^src/(log/attestation|archive/places|event-store|documents|leader|limits/rate-limiter|render-queue|nats)/',
        ],
      },
      to: {
        path: '^src/(log/attestation|archive/places|event-store|documents|leader|limits/rate-limiter|render-queue|nats)/',
        // The last three take the URLs of settings apart.
        pathNot:
          '/(port|codec|election|messages|vault|master-key|decryption|encryption|ownership|address|connection-string|s3-location)\\.ts$',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^test/openapi-tools/' },
    // TypeScript 7 has no API that a parser could use; swc sees type-only imports too.
    parser: 'swc',
    enhancedResolveOptions: { extensions: ['.ts', '.mjs', '.js'] },
  },
};
