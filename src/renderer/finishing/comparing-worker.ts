/** A thread of its own: compares the pages of two PDFs, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Compared, ToCompare } from './comparison.ts';
import { differingPages, pageDigests } from '../../pdf/page-digests.ts';

const { one, other } = workerData as ToCompare;
const [first, second] = [one, other].map((each) => pageDigests(Buffer.from(each)));
const compared: Compared = differingPages(first ?? [], second ?? []);
parentPort?.postMessage(compared, []);
