/** The commands that read, check and copy the log, its documents and keys. */
import { SUMMARIES } from '../../domain/event-summary.ts';
import type { Command } from '../command.ts';
import { AS_OF, HEADER } from '../options.ts';

/** Without their schemas, which take a tenth of a second to load. */
const EVENT_TYPES = Object.keys(SUMMARIES);
const PLACE = 'a folder, or s3://bucket/prefix?region=…&endpoint=… as in BLOB_STORE_URL';
const DIFFERENCES = { value: 'number', help: 'show at most this many differences (default 20)' };

export const LOG: readonly Command[] = [
  {
    name: 'history',
    summary: 'Show what happened to a conversion, a batch or an account, oldest first.',
    positionals: {
      'id-or-email':
        "the id of a conversion, a batch or an account, or an account's sign-in address",
    },
    examples: [
      'history conv_06f3k8r1v2w9x4y5z6a7b8c9d0',
      'history ann@example.com --type DocumentDownloaded --json',
    ],
    options: {
      type: { value: 'type', help: 'only events of this type', choices: EVENT_TYPES },
      person: {
        value: 'id',
        help: "only what this person did ('members list' shows the id)",
      },
    },
    run: async (...given) => (await import('../history.ts')).history(...given),
  },
  {
    name: 'state',
    summary: 'Write the state of all accounts at an earlier moment as JSON, from the log alone.',
    examples: [
      'state --as-of 2026-11-21T08:15:30Z -o state.json',
      "state --as-of 4711 | jq '.accounts[] | {email, credits}'",
    ],
    options: {
      'as-of': { ...AS_OF, needed: true },
      output: { value: 'file', short: 'o', help: 'the file to write (default: standard output)' },
    },
    opensStore: true,
    run: async (...given) => (await import('../state.ts')).state(...given),
  },
  {
    name: 'manifest',
    summary: 'Show how a PDF was made: Chrome, fonts, resources, errors, times.',
    examples: ['manifest conv_01jd3v3p8z6s2q4w9x7y5t1r0k'],
    positionals: { id: "the conversion's id" },
    run: async (...given) => (await import('../manifest.ts')).manifest(...given),
  },
  {
    name: 'proof',
    summary:
      'Prove what the log holds about a conversion; with --json as a document that others can check.',
    examples: ['proof conv_06f3k8r1v2w9x4y5z6a7b8c9d0 --json > proof.json'],
    positionals: { id: "the conversion's id" },
    run: async (...given) => (await import('../tlog.ts')).proof(...given),
  },
  {
    name: 'tlog key',
    summary: "Show the verifier keys of the log's checkpoints, the newest first.",
    examples: ['tlog key > log.key'],
    run: async (...given) => (await import('../tlog.ts')).tlogKey(...given),
  },
  {
    name: 'tlog checkpoint',
    summary: 'Show a signed checkpoint of the log as it is now.',
    examples: ['tlog checkpoint > today.checkpoint'],
    run: async (...given) => (await import('../tlog.ts')).tlogCheckpoint(...given),
  },
  {
    name: 'tlog rotate',
    summary: 'Add a signing key: it and the one before sign from now on, older ones do not.',
    examples: ['tlog rotate'],
    options: { yes: { help: 'rotate although the older of two keys ends' } },
    run: async (...given) => (await import('../tlog.ts')).tlogRotate(...given),
  },
  {
    name: 'evidence',
    summary: 'Write all that the log proves about a conversion into one ZIP file.',
    examples: ['evidence conv_01jd3v3p8z6s2q4w9x7y5t1r0k -o evidence.zip'],
    positionals: { id: "the conversion's id" },
    options: { output: { value: 'file', short: 'o', help: 'the ZIP file to write', needed: true } },
    run: async (...given) => (await import('../evidence.ts')).evidence(...given),
  },
  {
    name: 'projections list',
    summary:
      'List the projections: how far each is, and whether this release defines it as it was made.',
    examples: ['projections list'],
    options: { header: HEADER },
    opensStore: true,
    run: async (...given) => (await import('../projections.ts')).projectionsList(...given),
  },
  {
    name: 'projections rebuild',
    summary: 'Rebuild all read models from the event log, even beside a running service.',
    examples: ['projections rebuild'],
    opensStore: true,
    run: async (...given) => (await import('../projections.ts')).projectionsRebuild(...given),
  },
  {
    name: 'projections verify',
    summary:
      'Compare the read models in use with what the event log gives, and name the rows that differ.',
    examples: ['projections verify', 'projections verify --json --limit 1000'],
    options: { header: HEADER, limit: DIFFERENCES },
    opensStore: true,
    run: async (...given) => (await import('../projections.ts')).projectionsVerify(...given),
  },
  {
    name: 'projections diff',
    summary: 'Compare what this release would make of the event log with the read models in use.',
    examples: ['projections diff', 'projections diff --limit 100'],
    options: { header: HEADER, limit: DIFFERENCES },
    opensStore: true,
    run: async (...given) => (await import('../projections.ts')).projectionsDiff(...given),
  },
  {
    name: 'verify',
    summary:
      'Check the whole event log: its tree, checkpoints, revisions, balances; and its files.',
    examples: [
      'verify',
      'verify --documents --json',
      'verify --checkpoint received.txt --key log.key',
    ],
    options: {
      documents: { help: 'check every stored file against its event, too' },
      checkpoint: { value: 'file', help: 'a signed checkpoint that the log must still contain' },
      key: {
        value: 'key',
        help: "verifier keys to trust instead of the log's own, or a file of them",
      },
    },
    opensStore: true,
    run: async (...given) => (await import('../verify.ts')).verify(...given),
  },
  {
    name: 'log export',
    summary: 'Write every event to a compressed file, with the root of the tree over them.',
    examples: ['log export -o log.jsonl.gz'],
    options: {
      output: {
        short: 'o',
        value: 'file',
        help: 'the file; until it is complete it ends in .part, and the same command resumes it',
        needed: true,
      },
    },
    opensStore: true,
    run: async (...given) => (await import('../log-copies.ts')).logExport(...given),
  },
  {
    name: 'log import',
    summary: 'Bring an exported log into an empty event store: the one that the settings name.',
    examples: ['log import log.jsonl.gz'],
    positionals: { file: 'a file that log export wrote' },
    opensStore: true,
    run: async (...given) => (await import('../log-copies.ts')).logImport(...given),
  },
  {
    name: 'move',
    summary: 'Move the log, its documents and keys to other places.',
    examples: [
      'move --ahead --to-event-store kurrentdb://host --to-blobs s3://bucket?region=eu-west-1',
      'move --to-event-store kurrentdb://host --to-blobs s3://bucket?region=eu-west-1',
      'move --to-data-dir /srv/pressledger',
    ],
    options: {
      'to-event-store': { value: 'url', help: 'the new EVENT_STORE_URL; sqlite: none' },
      'to-blobs': { value: 'url', help: 'the new BLOB_STORE_URL; files: none' },
      'to-nats': { value: 'url', help: 'the new NATS_URL, where --to-blobs is nats:' },
      'to-data-dir': { value: 'directory', help: 'the new DATA_DIR' },
      ahead: { help: 'copy beside a running service, and leave the old place in use' },
      'leave-lost': {
        help: 'move although the old place lacks documents or keys that the log names',
      },
      cancel: { help: 'take a move back, before anything was started in the new place' },
    },
    opensStore: true,
    run: async (...given) => (await import('../move.ts')).move(...given),
  },
  {
    name: 'backup',
    summary: 'Copy the log and its documents to a folder or bucket; a later call adds what is new.',
    examples: ['backup /mnt/backup/pressledger', 'backup s3://backups/pressledger --json'],
    positionals: { place: PLACE },
    options: {
      recheck: { help: 'look for every document there, and copy those that are missing' },
    },
    opensStore: true,
    run: async (...given) => (await import('../backup.ts')).backup(...given),
  },
  {
    name: 'backup keyring',
    summary: 'Write the keys of all accounts to one file, wrapped by the master key; replaces it.',
    examples: ['backup keyring /mnt/keys/keyring.jsonl'],
    positionals: { file: 'the file; the one before is replaced as a whole' },
    opensStore: true,
    run: async (...given) => (await import('../backup.ts')).backupKeyring(...given),
  },
  {
    name: 'backup verify',
    summary: 'Check every file of a backup, its log with all checkpoints, and every document.',
    examples: [
      'backup verify /mnt/backup/pressledger --keyring /mnt/keys/keyring.jsonl',
      'backup verify /mnt/backup/pressledger --json',
    ],
    positionals: { place: PLACE },
    options: {
      keyring: {
        value: 'file',
        help: 'the file that backup keyring wrote, to check against the log',
      },
      checkpoint: { value: 'file', help: 'a signed checkpoint that the log must contain' },
      key: {
        value: 'key',
        help: "verifier keys to trust instead of the log's own, or a file of them",
      },
    },
    opensStore: true,
    run: async (...given) => (await import('../backup.ts')).backupVerify(...given),
  },
  {
    name: 'restore',
    summary: 'Bring a backup into the stores of the settings, which must be empty.',
    examples: [
      'restore /mnt/backup/pressledger --keyring keyring.jsonl --checkpoint newest.txt',
      'restore s3://backups/pressledger --keyring keyring.jsonl --new-origin',
      'restore backup --keyring keyring.jsonl --as-of 2026-11-21T08:15:30Z --new-origin',
    ],
    positionals: { place: PLACE },
    options: {
      keyring: {
        value: 'file',
        help: 'the file that backup keyring wrote, the newest there is',
        needed: true,
      },
      'as-of': {
        value: 'moment',
        help: 'end the log there: a time in ISO 8601 with its offset, or a number of events',
      },
      checkpoint: {
        value: 'file',
        help: "the newest checkpoint that was published, as the service's /tlog/checkpoint or a witness has it",
      },
      'new-origin': {
        help: 'continue under a new name, because more may have been signed than is restored',
      },
    },
    opensStore: true,
    run: async (...given) => (await import('../restore.ts')).restore(...given),
  },
  {
    name: 'keyring rewrap',
    summary:
      'Wrap the keys of all accounts with NEW_MASTER_KEY; a new master.key is made where DATA_DIR has one.',
    examples: ['keyring rewrap', 'keyring rewrap --json'],
    opensStore: true,
    run: async (...given) => (await import('../keyring.ts')).keyringRewrap(...given),
  },
];
