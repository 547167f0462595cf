/** The registry: every projection that a read model holds. */
import type { Projection } from '../src/read-model/projection.ts';
import { accounts } from './accounts.ts';
import { apiKeys } from './api-keys.ts';
import { batches } from './batches.ts';
import { checkpoints } from './checkpoints.ts';
import { conversions } from './conversions.ts';
import { erasures } from './erasures.ts';
import { failures } from './failures.ts';
import { history } from './history.ts';
import { ledger } from './ledger.ts';
import { logTree } from './log-tree.ts';
import { mails } from './mails.ts';
import { people } from './people.ts';
import { refundsDue } from './refunds-due.ts';
import { sessions } from './sessions.ts';
import { shareLinks } from './share-links.ts';
import { storedBlobs } from './stored-blobs.ts';
import { templates } from './templates.ts';
import { unfinishedConversions } from './unfinished-conversions.ts';
import { usage } from './usage.ts';
import { webhooks } from './webhooks.ts';

export const allProjections: readonly Projection[] = [
  accounts,
  apiKeys,
  batches,
  checkpoints,
  conversions,
  erasures,
  failures,
  history,
  ledger,
  logTree,
  mails,
  people,
  refundsDue,
  sessions,
  shareLinks,
  storedBlobs,
  templates,
  unfinishedConversions,
  usage,
  webhooks,
];
