/** Hashes of what came encrypted, past the proxy's eyes: Chrome is asked for the bodies it still holds. */
import { createHash } from 'node:crypto';
import { within } from './deadline.ts';
import type { LoggedResource, ResourceLog } from './resource-log.ts';
import type { Tab } from './tab.ts';

/** Decoded bytes of one body, and of all. Every body crosses the DevTools socket as text once more. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const MAX_BYTES = 32 * 1024 * 1024;
const CAP_MS = 1_500;

async function hashBody(tab: Tab, resource: LoggedResource): Promise<void> {
  const { requestId } = resource;
  const { body, base64Encoded } = await tab.send('Network.getResponseBody', { requestId });
  const content = Buffer.from(body, base64Encoded ? 'base64' : 'utf8');
  resource.body = {
    sha256: createHash('sha256').update(content).digest('hex'),
    hashed: base64Encoded ? 'decoded' : 'text',
    bytes: content.length,
  };
}

/** Never rejects: what Chrome no longer holds, or does not give in time, stays without a hash. */
export async function hashEncryptedBodies(tab: Tab, log: ResourceLog): Promise<void> {
  let budget = MAX_BYTES;
  const asked = log.resources.filter(({ url, finished, bytes }) => {
    if (!finished || !/^https:/i.test(url) || bytes > MAX_BODY_BYTES || bytes > budget)
      return false;
    budget -= bytes;
    return true;
  });
  if (asked.length === 0) return;
  await within(Promise.allSettled(asked.map((each) => hashBody(tab, each))), CAP_MS);
}
