/** The commands that administrate accounts and their keys. */
import { OPTIONAL_MAILS, PLANS } from '../../domain/choices.ts';
import type { Command } from '../command.ts';
import { ACCOUNT, AS_OF, KEY_BOUNDS, KEY_NAME, REASON, STORE_AS_OF, HEADER } from '../options.ts';

const TERMS = {
  plan: {
    value: 'plan',
    help: `${PLANS.join(', ')}, or one of PLANS (default free)`,
    choices: PLANS,
  },
  credits: { value: 'credits', help: 'credits to begin with (default FREE_CREDITS)' },
} as const;

export const ACCOUNTS: readonly Command[] = [
  {
    name: 'account create',
    summary: 'Open an account; without --password-stdin, a password is generated and shown.',
    positionals: { email: 'the sign-in address' },
    optionalPositionals: 1,
    examples: [
      'account create ann@example.com --plan pro --credits 500',
      'account create ann@example.com --password-stdin < password.txt',
    ],
    options: {
      email: { value: 'email', help: 'the sign-in address, instead of the argument' },
      ...TERMS,
      'password-stdin': { help: 'read the password from standard input' },
    },
    run: async (...given) => (await import('../account.ts')).accountCreate(...given),
  },
  {
    name: 'account invite',
    summary: 'Make a link that opens an account once, with a password that its holder chooses.',
    positionals: { email: 'the sign-in address' },
    examples: ['account invite ann@example.com --plan pro'],
    options: TERMS,
    run: async (...given) => (await import('../account-links.ts')).accountInvite(...given),
  },
  {
    name: 'account invitations',
    summary: 'List the links that open accounts and that nobody has used.',
    examples: ['account invitations'],
    options: { header: HEADER },
    run: async (...given) => (await import('../account-links.ts')).accountInvitations(...given),
  },
  {
    name: 'account uninvite',
    summary: 'Revoke a link that opens an account.',
    positionals: { id: "the id of the link, as 'account invitations' shows it" },
    examples: ['account uninvite acct_01jd3v3p8z6s2q4w9x7y5t1r0k'],
    run: async (...given) => (await import('../account-links.ts')).accountUninvite(...given),
  },
  {
    name: 'account list',
    summary: 'List all accounts, oldest first.',
    examples: ['account list', 'account list --as-of 2026-11-21T08:15:30Z'],
    options: { header: HEADER, 'as-of': STORE_AS_OF },
    run: async (...given) => (await import('../account.ts')).accountList(...given),
  },
  {
    name: 'account show',
    summary: 'Show one account by its sign-in address.',
    examples: [
      'account show ann@example.com',
      'account show ann@example.com --as-of 2026-11-21T08:15:30Z',
    ],
    positionals: { email: ACCOUNT },
    options: { 'as-of': STORE_AS_OF },
    run: async (...given) => (await import('../account.ts')).accountShow(...given),
  },
  {
    name: 'account password',
    summary:
      'Change the password of a person and end their sessions; without --password-stdin, one is generated.',
    positionals: { email: 'the sign-in address of the person' },
    examples: ['account password ann@example.com'],
    options: {
      'password-stdin': { help: 'read the password from standard input' },
      reason: REASON,
    },
    run: async (...given) => (await import('../account.ts')).accountPassword(...given),
  },
  {
    name: 'account reset-link',
    summary: 'Make a link that sets a password once, for somebody who has forgotten it.',
    positionals: { email: 'the sign-in address of the person' },
    examples: ["account reset-link ann@example.com --reason 'Ann asked for it by telephone.'"],
    options: { reason: { ...REASON, needed: true } },
    run: async (...given) => (await import('../account-links.ts')).accountResetLink(...given),
  },
  {
    name: 'account remove-second-factor',
    summary: 'Remove the authenticator, recovery codes and passkeys of somebody who has lost them.',
    positionals: { email: 'the address that the person signs in with' },
    examples: ["account remove-second-factor ann@example.com --reason 'Her telephone broke.'"],
    options: { reason: { ...REASON, needed: true } },
    run: async (...given) =>
      (await import('../account-keeping.ts')).accountRemoveSecondFactor(...given),
  },
  {
    name: 'account prove',
    summary:
      'Vouch for the address of a person, or for another one that they sign in with from now on.',
    positionals: { email: 'the address that the person signs in with' },
    examples: [
      "account prove ann@example.com --reason 'She called from the office.'",
      "account prove ann@example.com --new ann@new.example.com --reason 'She married.'",
    ],
    options: {
      new: { value: 'address', help: 'the address to sign in with from now on' },
      reason: { ...REASON, needed: true },
    },
    run: async (...given) => (await import('../account-keeping.ts')).accountProve(...given),
  },
  {
    name: 'account activity',
    summary: 'Show the keys, the use and the failures of an account; the look is recorded.',
    positionals: { email: ACCOUNT },
    examples: ["account activity ann@example.com --reason 'She says that nothing works.'"],
    options: { header: HEADER, reason: REASON },
    run: async (...given) => (await import('../account.ts')).accountActivity(...given),
  },
  {
    name: 'account sign-out',
    summary: 'End all sessions of an account; their tokens are refused from then on.',
    examples: ['account sign-out ann@example.com'],
    positionals: { email: ACCOUNT },
    options: { reason: REASON },
    run: async (...given) => (await import('../account.ts')).accountSignOut(...given),
  },
  {
    name: 'account operator',
    summary: 'Let an account act for the service in the dashboard, or end that.',
    positionals: { email: ACCOUNT },
    examples: [
      'account operator ann@example.com --grant',
      'account operator ann@example.com --revoke',
    ],
    options: {
      grant: { help: 'make the account an operator: it sees and changes all accounts' },
      revoke: { help: 'end that; the next request of the account as an operator is refused' },
      reason: REASON,
    },
    run: async (...given) => (await import('../account.ts')).accountOperator(...given),
  },
  {
    name: 'account hold',
    summary: 'Keep an account and its documents from being deleted, by retention or by erasing.',
    positionals: { email: ACCOUNT },
    examples: [
      'account hold ann@example.com',
      'account hold ann@example.com --until 2027-06-30T00:00:00Z',
      'account hold ann@example.com --release',
    ],
    options: {
      until: {
        value: 'time',
        help: 'the end of the hold, in ISO 8601 (default: until its release); takes the place of a hold in force',
      },
      release: { help: 'end the hold that is in force' },
      reason: REASON,
    },
    run: async (...given) => (await import('../account-keeping.ts')).accountHold(...given),
  },
  {
    name: 'account suspend',
    summary: 'Accept nothing new of an account until it is resumed; what was accepted is finished.',
    positionals: { email: ACCOUNT },
    examples: ["account suspend ann@example.com --reason 'The invoice of October is not paid.'"],
    options: {
      reason: {
        value: 'text',
        help: 'why, at most 500 characters; the people of the account are told',
        needed: true,
      },
    },
    run: async (...given) => (await import('../account-keeping.ts')).accountSuspend(...given),
  },
  {
    name: 'account resume',
    summary: 'End the suspension of an account: its API keys and sessions work again.',
    positionals: { email: ACCOUNT },
    examples: ["account resume ann@example.com --reason 'The invoice was paid.'"],
    options: { reason: REASON },
    run: async (...given) => (await import('../account-keeping.ts')).accountResume(...given),
  },
  {
    name: 'account retention',
    summary: 'Keep the documents of an account shorter than those of others.',
    positionals: { email: ACCOUNT, seconds: 'how long; 0: until the first download' },
    optionalPositionals: 1,
    examples: [
      'account retention ann@example.com 3600',
      'account retention ann@example.com --reset',
    ],
    options: {
      reset: { help: 'keep them as long as RETENTION_SECONDS says' },
      reason: REASON,
    },
    run: async (...given) => (await import('../account-keeping.ts')).accountRetention(...given),
  },
  {
    name: 'account public-name',
    summary: 'Show, set or remove the public name, which people see when they check a PDF.',
    positionals: { email: ACCOUNT, name: 'the name; without it, the present one is shown' },
    optionalPositionals: 1,
    examples: [
      'account public-name ann@example.com "Ann\'s Bakery"',
      'account public-name ann@example.com --remove',
    ],
    options: { remove: { help: 'tell no name from now on' } },
    run: async (...given) => (await import('../account-keeping.ts')).accountPublicName(...given),
  },
  {
    name: 'account low-credits',
    summary: 'Show, set or reset below how many credits the owners of an account get a mail.',
    positionals: { email: ACCOUNT, credits: 'the limit, 0: never (default: show the limit)' },
    optionalPositionals: 1,
    examples: [
      'account low-credits ann@example.com 50',
      'account low-credits ann@example.com --reset',
    ],
    options: { reset: { help: 'back to a tenth of what was granted last' } },
    run: async (...given) => (await import('../account-keeping.ts')).accountLowCredits(...given),
  },
  {
    name: 'account mails',
    summary: 'Show or change which mails the founder of an account gets.',
    positionals: { email: ACCOUNT },
    examples: [
      'account mails ann@example.com',
      'account mails ann@example.com --off credits_low,key_expiring --on webhook_disabled',
    ],
    options: {
      on: { value: 'kinds', help: `those that they get: ${OPTIONAL_MAILS.join(', ')}` },
      off: { value: 'kinds', help: 'those that they do not get, separated by commas' },
    },
    run: async (...given) => (await import('../account-keeping.ts')).accountMails(...given),
  },
  {
    name: 'account export',
    summary: 'Write everything that is kept about an account to a ZIP archive.',
    positionals: { email: ACCOUNT },
    examples: ['account export ann@example.com -o ann.zip'],
    options: {
      output: {
        short: 'o',
        value: 'file',
        help: 'the archive; further ones get -2, -3 and so on',
        needed: true,
      },
    },
    opensStore: true,
    run: async (...given) => (await import('../account-export.ts')).accountExport(...given),
  },
  {
    name: 'account erase',
    summary: 'Erase an account for good; asks for the address again, unless --yes is given.',
    positionals: { email: `${ACCOUNT}, or its id` },
    examples: ['account erase ann@example.com', 'account erase ann@example.com --yes --json'],
    options: { yes: { help: 'do not ask' } },
    run: async (...given) => (await import('../account-keeping.ts')).accountErase(...given),
  },
  {
    name: 'credits',
    summary: 'Show the credits of an account.',
    examples: ['credits ann@example.com'],
    positionals: { email: ACCOUNT },
    run: async (...given) => (await import('../account.ts')).creditsShow(...given),
  },
  {
    name: 'credits grant',
    summary: 'Give an account more credits.',
    examples: ['credits grant ann@example.com 500'],
    positionals: { email: ACCOUNT, credits: 'how many more' },
    options: { reason: REASON },
    run: async (...given) => (await import('../account.ts')).creditsGrant(...given),
  },
  {
    name: 'plan set',
    summary: 'Change the plan of an account.',
    examples: ['plan set ann@example.com pro'],
    positionals: { email: ACCOUNT, plan: PLANS.join(', ') },
    argumentChoices: PLANS,
    options: { reason: REASON },
    run: async (...given) => (await import('../account.ts')).planSet(...given),
  },
  {
    name: 'account create-key',
    formerly: 'key create',
    summary: 'Create an API key for any account on this machine; the full key is shown only now.',
    examples: ["account create-key ann@example.com --name 'build server'"],
    positionals: { email: ACCOUNT },
    options: { name: KEY_NAME, ...KEY_BOUNDS },
    run: async (...given) => (await import('../keys.ts')).keyCreate(...given),
  },
  {
    name: 'account keys',
    formerly: 'key list',
    summary: 'List the valid API keys of any account on this machine, newest first.',
    examples: [
      'account keys ann@example.com',
      'account keys ann@example.com --as-of 2026-11-21T08:15:30Z',
    ],
    positionals: { email: ACCOUNT },
    options: { header: HEADER, 'as-of': AS_OF },
    run: async (...given) => (await import('../keys.ts')).keyList(...given),
  },
  {
    name: 'account revoke-key',
    formerly: 'key revoke',
    summary: 'Revoke an API key of any account on this machine. This cannot be undone.',
    examples: [
      'account revoke-key key_01jd3v3p8z6s2q4w9x7y5t1r0k',
      "account revoke-key key_01jd3v3p8z6s2q4w9x7y5t1r0k --reason 'It was published.'",
    ],
    positionals: { id: "the key's id, as 'account keys' shows it" },
    options: { reason: REASON },
    run: async (...given) => (await import('../keys.ts')).keyRevoke(...given),
  },
];
