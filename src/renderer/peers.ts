/**
 * Tells whose a connection from this host is, by what Linux knows: its table of TCP sockets names the
 * user and the inode of the socket at the other end, and the processes that hold the inode own it.
 */
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { pidsOfGroup } from './browser/processes.ts';

const TABLE = '/proc/net/tcp';
/** Chrome opens several connections one after another, and they share one look at the table. */
const GATHER_MS = 2;
/** 127.0.0.1 as the table writes it. */
const LOOPBACK = endianness() === 'LE' ? '0100007F' : '7F000001';

/** True when this system tells whose a connection is. */
export const canTellPeers = existsSync(TABLE);

const inTable = (port = 0): string =>
  `${LOOPBACK}:${port.toString(16).toUpperCase().padStart(4, '0')}`;

/** The socket at the other end of a connection; undefined where the table has none. */
function ownerOf(client: Socket, table: string) {
  const start = table.indexOf(` ${inTable(client.remotePort)} ${inTable(client.localPort)} `);
  if (start < 0) return undefined;
  const line = table.slice(start, table.indexOf('\n', start));
  const [, , , , , , uid, , inode] = line.trim().split(/ +/);
  return { uid: Number(uid), inode };
}

/** Reads links synchronously: a hundred of them take less time than one file by another thread. */
function holds(pid: number, link: string): boolean {
  const directory = `/proc/${pid}/fd`;
  try {
    return readdirSync(directory).some((fd) => linkOf(`${directory}/${fd}`) === link);
  } catch {
    return false;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // The descriptor was closed meanwhile.
    return undefined;
  }
}

/** Tells the connections of our Chromes from those of every other process, also of the same user. */
export class Peers {
  readonly #groups = new Set<number>();
  /** The process that the last connection came from: most often the next one does as well. */
  #lastOwner = 0;
  #reading: Promise<string> | undefined;

  /** @param groupId of a Chrome's processes */
  add(groupId: number): void {
    this.#groups.add(groupId);
  }

  delete(groupId: number): void {
    this.#groups.delete(groupId);
    // Another process may get its number.
    this.#lastOwner = 0;
  }

  /** Never rejects. Where the system does not tell, every process of this host counts as ours. */
  async include(client: Socket): Promise<boolean> {
    if (!canTellPeers) return true;
    // A table that changes while it is read may lack a line.
    const owner = ownerOf(client, await this.#table()) ?? ownerOf(client, await this.#table());
    if (owner === undefined || owner.uid !== process.getuid?.()) return false;
    const link = `socket:[${owner.inode}]`;
    if (holds(this.#lastOwner, link)) return true;
    for (const group of this.#groups) {
      const found = pidsOfGroup(group).find((pid) => holds(pid, link));
      if (found === undefined) continue;
      this.#lastOwner = found;
      return true;
    }
    return false;
  }

  /** Reads the table soon. It takes the kernel milliseconds, however few sockets there are. */
  #table(): Promise<string> {
    this.#reading ??= pause(GATHER_MS).then(() => {
      this.#reading = undefined;
      return readFile(TABLE, 'latin1').catch(() => '');
    });
    return this.#reading;
  }
}
