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
  '^src/(async/|(budgets|ed25519|error-message|log-throttle|ownership|plain-text|stoppable)\\.ts$)';

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
      ['^src/domain/', '^src/errors\\.ts$'],
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
      '^src/[^/]+/port\\.ts$',
      ['^src/domain/', '^src/blob-store/port\\.ts$', '^src/render-queue/messages\\.ts$'],
      'A port says what is needed, not how.',
    ),
    only(
      'event-store',
      '^src/event-store/',
      ['^src/event-store/', '^src/domain/', '^src/blob-store/port\\.ts$', '^src/sqlite/', PLAIN],
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
      'blob-store',
      '^src/blob-store/',
      ['^src/blob-store/', '^src/domain/', '^src/sqlite/', PLAIN],
      'An adapter knows its port and its driver.',
    ),
    {
      name: 's3-driver',
      comment: 'The driver can be changed in one place, and is loaded where S3 is used alone.',
      severity: 'error',
      from: {
        path: '^(src|projections|test|bench)/',
        pathNot: '^src/blob-store/s3-(bucket|objects)\\.ts$',
      },
      to: { path: 'node_modules/@(aws-sdk|smithy)/' },
    },
    {
      name: 's3-driver-is-loaded-late',
      comment: 'Loading the driver takes longer than the rest of a start.',
      severity: 'error',
      from: { path: '^(src|projections)/', pathNot: '^src/blob-store/s3-objects\\.ts$' },
      to: {
        path: '^src/blob-store/s3-(bucket|objects)\\.ts$',
        dependencyTypesNot: ['dynamic-import', 'type-only', 'type-import'],
      },
    },
    only(
      'rate-limiter',
      '^src/rate-limiter/',
      ['^src/rate-limiter/', '^src/clock\\.ts$', '^src/nats/', PLAIN],
      'An adapter knows its port and its driver.',
    ),
    only(
      'keyring',
      '^src/keyring/',
      [
        '^src/keyring/',
        '^src/blob-store/(objects|port|writer|s3-[^/]+)\\.ts$',
        '^src/domain/ids\\.ts$',
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
      ['^src/leader/', '^src/nats/', '^src/log\\.ts$', PLAIN],
      'Whoever leads, and by which lease, is the same for every task.',
    ),
    only(
      'attestation',
      '^src/attestation/',
      ['^src/attestation/', '^src/transparency-log/', PLAIN],
      'An adapter knows its port and its driver.',
    ),
    only(
      'backup-place',
      '^src/backup-place/',
      ['^src/backup-place/', '^src/blob-store/', PLAIN],
      'An adapter knows its port and its driver; backups and blobs share what writes files and S3.',
    ),
    only(
      'actors',
      '^src/actors/',
      [
        '^src/actors/',
        '^src/domain/(decider|event-metadata|events)\\.ts$',
        '^src/event-store/(port|codec)\\.ts$',
        '^src/blob-store/port\\.ts$',
        '^src/(ids|clock|errors)\\.ts$',
      ],
      'Actors know no aggregate by name.',
    ),
    only(
      'read-model',
      '^src/read-model/',
      [
        '^src/read-model/',
        '^src/event-store/(port|codec)\\.ts$',
        '^src/domain/events\\.ts$',
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
      'renderer-chrome-stands-alone',
      '^src/renderer/chrome/',
      [
        '^src/renderer/(chrome|pdf)/',
        '^src/domain/(events|page|render-manifest|request-document)\\.ts$',
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
      'egress-stands-alone',
      '^src/renderer/egress/',
      ['^src/renderer/egress/', PLAIN],
      'The proxy and its address rules know nothing of the service.',
    ),
    only(
      'renderer-holds-no-event-store',
      '^src/renderer/',
      [
        '^src/renderer/',
        '^src/domain/',
        '^src/render-queue/(port|messages)\\.ts$',
        '^src/blob-store/(decryption|encryption|port)\\.ts$',
        '^src/(clock|ids|log)\\.ts$',
        PLAIN,
      ],
      'Code that runs strangers’ pages cannot write the ledger.',
    ),
    only(
      'http-names-no-adapter',
      '^src/http/',
      [
        '^src/http/',
        '^src/domain/',
        '^src/actors/',
        '^src/use-cases/',
        '^src/conversion-request/',
        '^src/validation\\.ts$',
        '^src/read-model/',
        '^src/[^/]+/port\\.ts$',
        '^src/blob-store/(decryption|encryption)\\.ts$',
        '^src/keyring/vault\\.ts$',
        '^src/transparency-log/',
        '^src/(clock|ids|errors|log|config)\\.ts$',
        PLAIN,
        '^projections/',
      ],
      'HTTP speaks to ports; compose/adapters.ts chooses the adapters.',
    ),
    only(
      'conversion-request',
      '^src/conversion-request/',
      [
        '^src/conversion-request/',
        '^src/domain/',
        '^src/renderer/egress/policy\\.ts$',
        '^src/(config|errors|validation)\\.ts$',
      ],
      'The rules of a request serve the API and the command line alike.',
    ),
    only(
      'use-cases-know-no-http',
      '^src/use-cases/',
      [
        '^src/use-cases/',
        '^src/domain/',
        '^src/actors/',
        '^src/read-model/',
        '^src/[^/]+/port\\.ts$',
        '^src/event-store/codec\\.ts$',
        '^src/blob-store/(decryption|encryption)\\.ts$',
        '^src/keyring/vault\\.ts$',
        '^src/transparency-log/',
        '^src/(clock|ids|errors|log)\\.ts$',
        PLAIN,
        '^projections/',
      ],
      'A use case serves the API and the command line alike.',
    ),
    {
      name: 'verifier-stands-alone',
      comment: 'An auditor runs the file as it is, and reads nothing else.',
      severity: 'error',
      from: { path: '^verifier/' },
      to: { dependencyTypesNot: ['core'] },
    },
    only(
      'client-stands-alone',
      '^client/',
      ['^client/'],
      'The client is packed for others: it carries nothing of the service.',
    ),
    {
      name: 'compose-is-for-main',
      comment: 'What puts the parts together is used by the entry point alone.',
      severity: 'error',
      from: { path: '^(src|projections)/', pathNot: '^src/(main\\.ts$|compose/)' },
      to: { path: '^src/compose/' },
    },
    {
      name: 'adapters-are-named-in-compose',
      comment: 'Concrete adapters are chosen in one place.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          '^src/compose/(adapters|backups|checks|nats|stored-log|stores)\\.ts$',
          '^src/(attestation|backup-place|event-store|blob-store|keyring|leader|rate-limiter|render-queue|nats)/',
        ],
      },
      to: {
        path: '^src/(attestation|backup-place|event-store|blob-store|keyring|leader|rate-limiter|render-queue|nats)/',
        // The last three take the URLs of settings apart.
        pathNot:
          '/(port|codec|election|messages|vault|master-key|decryption|encryption|address|connection-string|s3-location)\\.ts$',
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
