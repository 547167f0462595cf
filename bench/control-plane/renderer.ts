/**
 * A renderer node in a process of its own whose Chrome is a pause: `node renderer.ts MS`. Everything else is the
 * product's: it takes jobs, reads requests, encrypts and stores a PDF of one page, and reports.
 */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/observe/log.ts';
import { chromeFlags } from '../../src/renderer/browser/flags.ts';
import { JobRun } from '../../src/renderer/job.ts';
import type { RenderPool } from '../../src/renderer/pool.ts';
import { openRendererAdapters } from '../../src/service/adapters.ts';
import { systemClock } from '../../src/time/clock.ts';
import { pdfOf } from '../../test/support/written-pdf.ts';

const RENDER_MS = Number(process.argv[2]);

const config = readConfig(process.env, 'renderer');
const logger = createLogger(config.logLevel);
const adapters = await openRendererAdapters(config, logger, {});
const { queue, blobs } = adapters;

const pdf = pdfOf(['Dear customer']);
const sha256 = createHash('sha256').update(pdf).digest('hex');

const render: RenderPool['render'] = async ({ outputPath }, unneeded) => {
  await pause(RENDER_MS, undefined, { signal: unneeded });
  await writeFile(outputPath, pdf);
  return {
    kind: 'completed',
    path: outputPath,
    sha256,
    bytes: pdf.length,
    pages: 1,
    fonts: ['AAAAAA+LiberationSerif'],
    title: 'Letter',
    timings: { load: RENDER_MS / 2, ready: 0, print: RENDER_MS / 2 },
    page: {
      chrome: {
        product: 'Chrome/0',
        revision: '0'.repeat(40),
        sandboxed: true,
        flags: chromeFlags({ sandbox: true }),
      },
      fonts: ['AAAAAA+LiberationSerif'],
      resources: [],
      resources_left_out: 0,
      tunnels: [],
      console_errors: [],
      console_errors_left_out: 0,
      waits: [{ for: 'load', ms: RENDER_MS / 2 }],
    },
  };
};

const context = {
  queue,
  blobs,
  pool: { render },
  timeoutMs: config.renderTimeoutMs,
  pictures: false,
  stopping: new AbortController().signal,
  abandoned: new AbortController().signal,
  directory: config.dataDir,
  name: `renderer-${process.pid}`,
  clock: systemClock,
  logger,
};
const consumer = queue.consume(config.renderConcurrency, (delivery) =>
  new JobRun(context, delivery).run(),
);
async function stop(): Promise<void> {
  await consumer.stop();
  await queue.close();
  await adapters.close();
}

process.once('disconnect', () => void stop());
process.send?.('ready');
