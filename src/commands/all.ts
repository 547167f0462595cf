/** The registry: every command of the command line, in the order in which help lists them. */
import {
  accountCreate,
  accountList,
  accountPassword,
  accountShow,
  accountSignOut,
} from './account.ts';
import type { Command } from './command.ts';
import { completionCommands } from './completion.ts';
import { convert } from './convert.ts';
import { creditsGrant } from './credits.ts';
import { history } from './history.ts';
import { keyCreate, keyList, keyRevoke } from './key.ts';
import { manifest } from './manifest.ts';
import { planSet } from './plan.ts';
import { projectionsRebuild } from './projections.ts';
import { renderer } from './renderer.ts';
import { api, start } from './start.ts';
import { version } from './version.ts';

const commands: readonly Command[] = [
  start,
  api,
  renderer,
  accountCreate,
  accountList,
  accountShow,
  accountPassword,
  accountSignOut,
  creditsGrant,
  planSet,
  keyCreate,
  keyList,
  keyRevoke,
  convert,
  history,
  manifest,
  projectionsRebuild,
  version,
];

export const allCommands: readonly Command[] = [...commands, ...completionCommands(commands)];
