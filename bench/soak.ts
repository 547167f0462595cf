/**
 * Many documents of several accounts through the whole service, and the memory of its own process and
 * of its Chromes meanwhile: flat, or not. `node bench/soak.ts [documents]`
 */
import { readdirSync, readFileSync } from 'node:fs';
import { invoice, letter, scripted } from './documents.ts';
import { inTemporaryDirectory, median, print } from './measure.ts';
import { convert, startService } from './running-service.ts';

const DOCUMENTS = Number(process.argv[2] ?? 5_000);
const SAMPLES = 20;
const ACCOUNTS = 6;
const CLIENTS = 6;
const PAGE_MIB = 4_096 / 1024 ** 2;
/** Between the second quarter and the last. */
const MAX_GROWTH = 1.15;

interface Memory {
  readonly node: number;
  readonly chrome: number;
  readonly processes: number;
}

/** What a process shares with no other, in MiB. */
function unshared(pid: number): number {
  try {
    const [, resident, shared] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
    return (Number(resident) - Number(shared)) * PAGE_MIB;
  } catch {
    return 0;
  }
}

/** What the service and its descendants hold unshared, in MiB. */
function memoryOf(root: number): Memory {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // It ended meanwhile.
    }
  }
  const below = (pid: number): number[] =>
    (children.get(pid) ?? []).flatMap((child) => [child, ...below(child)]);
  const chromes = below(root);
  return {
    node: unshared(root),
    chrome: chromes.reduce((sum, pid) => sum + unshared(pid), 0),
    processes: chromes.length,
  };
}

/** Mostly plain, some scripted; accounts in runs, so that tabs are both kept and replaced. */
function documentAt(number: number): string {
  if (number % 10 === 9) return scripted(number);
  return number % 2 === 0 ? letter(number) : invoice(number);
}

function verdict(name: string, values: readonly number[]): void {
  const quarter = Math.ceil(values.length / 4);
  const early = median(values.slice(quarter, 2 * quarter));
  const late = median(values.slice(-quarter));
  const flat = late <= early * MAX_GROWTH ? 'flat' : 'GROWING';
  print(`${name}: second quarter ${early.toFixed(0)} MiB, last ${late.toFixed(0)} MiB: ${flat}`);
}

await inTemporaryDirectory(async (directory) => {
  const service = await startService(directory);
  try {
    const clients = [service.client];
    while (clients.length < ACCOUNTS) clients.push(await service.account(`a${clients.length}`));
    const samples: Memory[] = [];
    const begun = performance.now();
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const numbers = Array.from(
        { length: Math.ceil(DOCUMENTS / SAMPLES) },
        (_, index) => sample * Math.ceil(DOCUMENTS / SAMPLES) + index,
      ).values();
      const work = async (): Promise<void> => {
        for (const number of numbers) {
          const client = clients[Math.floor(number / 15) % clients.length];
          if (client) await convert(client, documentAt(number));
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, work));
      const memory = memoryOf(service.pid);
      samples.push(memory);
      const done = Math.ceil(DOCUMENTS / SAMPLES) * (sample + 1);
      const speed = (done / (performance.now() - begun)) * 1000;
      print(
        `${String(done).padStart(6)} documents  ${speed.toFixed(1)}/s  node ${memory.node.toFixed(0)} MiB  Chrome ${memory.chrome.toFixed(0)} MiB in ${memory.processes} processes`,
      );
    }
    verdict(
      'node',
      samples.map(({ node }) => node),
    );
    verdict(
      'Chrome',
      samples.map(({ chrome }) => chrome),
    );
  } finally {
    await service.stop();
  }
});
