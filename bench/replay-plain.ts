/** What replay is measured against: the same work by better-sqlite3 alone. */
import Sqlite, { type Database } from 'better-sqlite3';
import { allProjections } from '../projections/all.ts';
import type { BlobRef } from '../src/domain/events.ts';
import { install } from '../src/read-model/schema.ts';
import { canonicalJson } from '../src/transparency-log/canonical-event.ts';
import { leafHash, rootOf, SUBTREE_WIDTH } from '../src/transparency-log/merkle-tree.ts';

const BATCH = 5_000;

interface Stored {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

/** What the writes below take from an event's data; each type has some of these. */
interface Data {
  readonly [field: string]: string | number | object;
}

interface Metadata {
  readonly time: number;
  readonly actor: { readonly kind: string; readonly id?: string };
}

type Write = (event: Stored, data: Data, metadata: Metadata) => void;

/** The same final writes as the projections', without projections, checkpoints or generations. */
export function replayByHand(logPath: string, path: string): void {
  replay(logPath, path, (db) => {
    install(db, allProjections);
    const finish = db.prepare('UPDATE checkpoints SET position = ?');
    return { write: writesByHand(db), finish: (position) => finish.run(position) };
  });
}

/** The least that a replay could do: each event parsed and kept as one row. */
export function copyOneRow(logPath: string, path: string): void {
  replay(logPath, path, (db) => {
    db.exec(`CREATE TABLE copy (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
      type TEXT NOT NULL, subject TEXT, time INTEGER NOT NULL) STRICT`);
    const insert = db.prepare('INSERT INTO copy VALUES (?, ?, ?, ?, ?)');
    return {
      write: (event, data, { time }) =>
        insert.run(event.position, event.id, event.type, data['conversionId'], time),
      finish: () => {},
    };
  });
}

function replay(
  logPath: string,
  path: string,
  prepare: (db: Database) => { write: Write; finish: (position: number) => void },
): void {
  const log = new Sqlite(logPath, { readonly: true });
  const db = new Sqlite(path);
  db.pragma('locking_mode = EXCLUSIVE');
  db.unsafeMode(true);
  db.pragma('journal_mode = OFF');
  db.pragma('synchronous = OFF');
  db.pragma('cache_size = -131072');
  const read = log.prepare<[number, number], Stored>(
    'SELECT * FROM events WHERE position > ? ORDER BY position LIMIT ?',
  );
  const { write, finish } = prepare(db);
  const apply = db.transaction((events: readonly Stored[]) => {
    for (const event of events) {
      const metadata = JSON.parse(event.metadata) as Metadata;
      write(event, JSON.parse(event.data) as Data, metadata);
    }
  });
  let position = 0;
  for (;;) {
    const events = read.all(position, BATCH);
    const last = events.at(-1);
    if (last === undefined) break;
    apply(events);
    position = last.position;
  }
  finish(position);
  db.pragma('synchronous = FULL');
  db.pragma('user_version = 1');
  log.close();
  db.close();
}

function writesByHand(db: Database): Write {
  const openAccount = db.prepare(
    'INSERT INTO accounts (position, id, email, plan, created_at) VALUES (?, ?, ?, ?, ?)',
  );
  const addCredits = db.prepare('UPDATE accounts SET credits = credits + ? WHERE id = ?');
  const book = db.prepare<unknown[], { entries: number; balance: number }>(
    `INSERT INTO ledger_balances (account_id, entries, balance) VALUES (?, 1, ?)
     ON CONFLICT DO UPDATE SET entries = entries + 1, balance = balance + excluded.balance
     RETURNING entries, balance`,
  );
  const enter = db.prepare('INSERT INTO ledger_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const makeKey = db.prepare(
    `INSERT INTO api_keys (position, id, account_id, name, prefix, created_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const useKey = db.prepare('UPDATE api_keys SET last_used_at = ? WHERE id = ?');
  const count = db.prepare<unknown[], { total: number; time: number }>(
    `INSERT INTO conversion_totals (account_id, total, time) VALUES (?, 1, ?)
     ON CONFLICT DO UPDATE SET total = total + 1, time = max(time, excluded.time)
     RETURNING total, time`,
  );
  const request = db.prepare(
    `INSERT INTO conversions (account_id, number, id, status, created_at, time)
     VALUES (?, ?, ?, 'pending', ?, ?)`,
  );
  const start = db.prepare("UPDATE conversions SET status = 'processing' WHERE id = ?");
  const complete = db.prepare(
    `UPDATE conversions SET status = 'completed', completed_at = ?, document = ?, pdf = ?, pages = ?
     WHERE id = ?`,
  );
  const fail = db.prepare(
    `UPDATE conversions SET status = 'failed', failed_at = ?, failure_code = ?, error_message = ?
     WHERE id = ?`,
  );
  const countInBlock = db.prepare(
    `INSERT INTO conversion_failures SELECT account_id, number / 1000, 1 FROM conversions WHERE id = ?
     ON CONFLICT DO UPDATE SET failed = failed + 1`,
  );
  const expire = db.prepare('UPDATE conversions SET expired = 1 WHERE id = ?');
  const todo = db.prepare(
    `INSERT INTO unfinished_conversions
       (position, conversion_id, account_id, request, options, requested_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const todoStarted = db.prepare(
    `UPDATE unfinished_conversions SET attempts = max(attempts, ?), started_at = ?
     WHERE conversion_id = ?`,
  );
  const todoDone = db.prepare('DELETE FROM unfinished_conversions WHERE conversion_id = ?');
  const countFailure = db
    .prepare<[string], number>(
      `INSERT INTO refunds_failures (account_id, failures) VALUES (?, 1)
       ON CONFLICT (account_id) DO UPDATE SET failures = failures + 1 RETURNING failures`,
    )
    .pluck();
  const refundDue = db.prepare('INSERT INTO refunds_due VALUES (?, ?, ?, ?, ?)');
  const refundDone = db.prepare('DELETE FROM refunds_due WHERE conversion_id = ?');
  const keep = db.prepare(
    'INSERT INTO stored_blobs (conversion_id, account_id, hashes, bytes, held) VALUES (?, ?, ?, ?, 0)',
  );
  const keepResult = db.prepare(
    `UPDATE stored_blobs SET failed = 0, ended_at = ?, ended_event_id = ?,
       hashes = hashes || ' ' || ? || ' ' || ?, bytes = bytes + ?
     WHERE conversion_id = ?`,
  );
  const keepFailed = db.prepare(
    'UPDATE stored_blobs SET failed = 1, ended_at = ?, ended_event_id = ? WHERE conversion_id = ?',
  );
  const drop = db
    .prepare<unknown[], number>('DELETE FROM stored_blobs WHERE conversion_id = ? RETURNING bytes')
    .pluck();
  const addBytes = db.prepare(
    `INSERT INTO stored_bytes (account_id, bytes) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes`,
  );
  const number = db.prepare<unknown[], { total: number; time: number }>(
    `INSERT INTO history_totals (account_id, total, time) VALUES (?, 1, ?)
     ON CONFLICT DO UPDATE SET total = total + 1, time = max(time, excluded.time)
     RETURNING total, time`,
  );
  const remember = db.prepare(
    `INSERT INTO history (account_id, number, position, stream, revision, type, actor_kind, actor,
       conversion_id, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const addLeaf = leavesByHand(db);

  return (event, data, metadata) => {
    addLeaf(event, data, metadata);
    const {
      time,
      actor: { kind, id: actorId },
    } = metadata;
    const { accountId: account, conversionId: conversion } = data;
    if (account !== undefined) {
      const numbered = number.get(account, time);
      const actor = actorId === undefined ? kind : `${kind}:${actorId}`;
      const { stream, revision, type } = event;
      const { total, time: notBefore } = numbered ?? {};
      const of = conversion ?? null;
      remember.run(
        account,
        total,
        event.position,
        stream,
        revision,
        type,
        kind,
        actor,
        of,
        notBefore,
      );
    }
    const ledger = (type: string, amount: number): void => {
      addCredits.run(amount, account);
      const booked = book.get(account, amount);
      const id = `entry_${event.id.replaceAll('-', '')}`;
      const { entries, balance } = booked ?? {};
      enter.run(account, entries, id, type, amount, balance, conversion ?? null, time);
    };
    switch (event.type) {
      case 'AccountOpened':
        openAccount.run(event.position, account, data['email'], data['plan'], time);
        break;
      case 'CreditGranted':
        ledger('grant', Number(data['amount']));
        break;
      case 'CreditDebited':
        ledger('debit', -Number(data['amount']));
        break;
      case 'CreditRefunded':
        ledger('refund', Number(data['amount']));
        refundDone.run(conversion);
        break;
      case 'KeyCreated': {
        const { keyId, name, prefix, createdAt } = data;
        makeKey.run(event.position, keyId, account, name, prefix, createdAt);
        break;
      }
      case 'KeyUsed':
        useKey.run(data['usedAt'], data['keyId']);
        break;
      case 'ConversionRequested': {
        const { requestedAt } = data;
        const [blob, options] = [JSON.stringify(data['request']), JSON.stringify(data['options'])];
        const counted = count.get(account, requestedAt);
        request.run(account, counted?.total, conversion, requestedAt, counted?.time);
        todo.run(event.position, conversion, account, blob, options, requestedAt);
        const { sha256, bytes } = data['request'] as BlobRef;
        keep.run(conversion, account, sha256, bytes);
        addBytes.run(account, bytes);
        break;
      }
      case 'ConversionStarted':
        start.run(conversion);
        todoStarted.run(data['attempt'], data['startedAt'], conversion);
        break;
      case 'ConversionCompleted': {
        const { completedAt } = data;
        const [blob, pdf] = [JSON.stringify(data['document']), JSON.stringify(data['pdf'])];
        complete.run(completedAt, blob, pdf, data['pages'], conversion);
        todoDone.run(conversion);
        const [document, manifest] = [data['document'] as BlobRef, data['manifest'] as BlobRef];
        const bytes = document.bytes + manifest.bytes;
        const hashes = [document.sha256, manifest.sha256];
        keepResult.run(completedAt, event.id, ...hashes, bytes, conversion);
        addBytes.run(account, bytes);
        break;
      }
      case 'ConversionFailed':
        fail.run(data['failedAt'], data['code'], data['message'], conversion);
        countInBlock.run(conversion);
        todoDone.run(conversion);
        refundDue.run(
          event.position,
          conversion,
          account,
          event.id,
          countFailure.get(account as string),
        );
        keepFailed.run(data['failedAt'], event.id, conversion);
        break;
      case 'ConversionExpired':
        expire.run(conversion);
        addBytes.run(account, -(drop.get(conversion) ?? 0));
        break;
      default:
        throw new Error(`The benchmark does not know ${event.type}.`);
    }
  };
}

/** The tree of the log: a leaf for each event, and the roots of whole subtrees. */
function leavesByHand(db: Database): Write {
  const insertLeaf = db.prepare('INSERT INTO log_leaves VALUES (?, ?, ?)');
  const insertSubtree = db.prepare('INSERT INTO log_subtrees VALUES (?, ?, ?)');
  const hashes: Buffer[][] = [[]];
  let size = 0;
  return ({ position, id, stream, revision, type }, data, metadata) => {
    const leaf = leafHash(canonicalJson({ data, id, metadata, revision, stream, type }));
    insertLeaf.run(size, position, leaf);
    size += 1;
    hashes[0]?.push(leaf);
    for (let level = 0; hashes[level]?.length === SUBTREE_WIDTH; level += 1) {
      const root = rootOf(hashes[level] ?? []);
      hashes[level] = [];
      (hashes[level + 1] ??= []).push(root);
      insertSubtree.run(level + 1, size / SUBTREE_WIDTH ** (level + 1) - 1, root);
    }
  };
}
