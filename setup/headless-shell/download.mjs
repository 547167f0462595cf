/**
 * Downloads the stable headless shell of Chrome for Testing: `node download.mjs FOLDER` prints the path of its program.
 * CHROME_FOR_TESTING_URL names a mirror that has the list of versions beside the archives.
 */
import { Browser, detectBrowserPlatform, install } from '@puppeteer/browsers';

const ANSWER_MS = 20_000;
const DOWNLOAD_MS = 10 * 60_000;

const [cacheDir] = process.argv.slice(2);
if (cacheDir === undefined) throw new Error('download.mjs needs the folder to download to');
const mirror = process.env['CHROME_FOR_TESTING_URL'] || undefined;

const versions = `${mirror ?? 'https://googlechromelabs.github.io/chrome-for-testing'}/last-known-good-versions.json`;

// A server that falls silent must not keep the set-up waiting.
setTimeout(() => {
  process.stderr.write(`the download took longer than ${DOWNLOAD_MS / 60_000} minutes\n`);
  process.exit(1);
}, DOWNLOAD_MS).unref();

try {
  const answer = await fetch(versions, { signal: AbortSignal.timeout(ANSWER_MS) });
  if (!answer.ok) throw new Error(`${versions} answered with ${answer.status}`);
  const { channels } = await answer.json();
  const { executablePath } = await install({
    browser: Browser.CHROMEHEADLESSSHELL,
    buildId: channels.Stable.version,
    cacheDir,
    platform: detectBrowserPlatform(),
    ...(mirror === undefined ? {} : { baseUrl: mirror }),
  });
  process.stdout.write(`${executablePath}\n`);
} catch (error) {
  const { message, cause } = /** @type {Error} */ (error);
  const why = [message, cause instanceof Error ? cause.message : ''].join(' ');
  process.stderr.write(`${why.replaceAll(/\s+/g, ' ').trim()}\n`);
  process.exit(1);
}
