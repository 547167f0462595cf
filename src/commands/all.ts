/** The registry: every command of the command line, in the order in which help lists them. */
import {
  accountCreate,
  accountList,
  accountPassword,
  accountShow,
  accountSignOut,
} from './account.ts';
import { accountExport } from './account-export.ts';
import { backup, backupKeyring, backupVerify } from './backup.ts';
import type { Command, Section } from './command.ts';
import { completionCommands } from './completion.ts';
import {
  conversionsDownload,
  conversionsGet,
  conversionsList,
  conversionsOpen,
} from './conversions.ts';
import { convert } from './convert.ts';
import { creditsGrant } from './credits.ts';
import { doctor } from './doctor.ts';
import { evidence, verifyEvidence } from './evidence.ts';
import { accountErase, accountHold } from './erasure.ts';
import { history } from './history.ts';
import { keyCreate, keyList, keyRevoke } from './key.ts';
import { keysCreate, keysList, keysRevoke } from './keys.ts';
import { keyringRewrap } from './keyring.ts';
import { logExport, logImport } from './log-copies.ts';
import { login, logout } from './login.ts';
import { manifest } from './manifest.ts';
import { move } from './move.ts';
import { accountOperator } from './operator.ts';
import { planSet } from './plan.ts';
import {
  projectionsDiff,
  projectionsList,
  projectionsRebuild,
  projectionsVerify,
} from './projections.ts';
import { renderer } from './renderer.ts';
import { restore } from './restore.ts';
import { state } from './state.ts';
import { api, start } from './start.ts';
import { status } from './status.ts';
import { top } from './top.ts';
import { proof, tlogCheckpoint, tlogKey, tlogRotate } from './tlog.ts';
import { usage } from './usage.ts';
import { verify } from './verify.ts';
import { verifyPdf } from './verify-pdf.ts';
import { version } from './version.ts';

const SERVICE =
  'Service and key come from the options, from PRESSLEDGER_SERVER and PRESSLEDGER_API_KEY, or from ' +
  "'pressledger login', in this order.";
const STORE = "Settings come from the environment; 'pressledger start --help' lists them.";

const SECTIONS: readonly (Section & { readonly commands: readonly Command[] })[] = [
  { heading: 'Run the service', commands: [start, api, renderer] },
  { heading: 'Look at the service on this machine', note: STORE, commands: [doctor, status, top] },
  {
    heading: 'Convert',
    note: `${SERVICE} Without a service, or with --account, this machine converts. ${STORE}`,
    commands: [convert],
  },
  { heading: 'Use a service', commands: [login, logout] },
  {
    heading: 'Use a service',
    note: SERVICE,
    commands: [
      conversionsList,
      conversionsGet,
      conversionsDownload,
      conversionsOpen,
      usage,
      keysList,
      keysCreate,
      keysRevoke,
    ],
  },
  {
    heading: 'Administer the service on this machine',
    note: STORE,
    commands: [
      accountCreate,
      accountList,
      accountShow,
      accountPassword,
      accountSignOut,
      accountOperator,
      accountHold,
      accountExport,
      accountErase,
      creditsGrant,
      planSet,
      keyCreate,
      keyList,
      keyRevoke,
      history,
      state,
      manifest,
      proof,
      tlogKey,
      tlogCheckpoint,
      tlogRotate,
      evidence,
      projectionsList,
      projectionsRebuild,
      projectionsVerify,
      projectionsDiff,
      verify,
      logExport,
      logImport,
      move,
      backup,
      backupKeyring,
      backupVerify,
      restore,
      keyringRewrap,
    ],
  },
  {
    heading: 'Verify',
    note: `verify-evidence asks no service and no store. ${SERVICE} Without a service, or with --account, verify-pdf asks the store on this machine. ${STORE}`,
    commands: [verifyPdf, verifyEvidence],
  },
  { heading: 'Other', commands: [version] },
];

const commands = SECTIONS.flatMap(({ commands: listed, ...section }) =>
  listed.map((command): Command => ({ ...command, section })),
);

export const allCommands: readonly Command[] = [
  ...commands,
  ...completionCommands(commands, { heading: 'Other' }),
];
