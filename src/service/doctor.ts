/** The doctor: the checks of a start, each in full, and those of the machine around it. Nothing is changed. */
import type { Config, SettingsRead } from '../config/config.ts';
import type { Role } from '../config/settings.ts';
import type { EventMetadata } from '../domain/event-metadata.ts';
import type { EventStore } from '../event-store/port.ts';
import { CALLBACK_PATH } from '../http/resources/provider-sign-in.ts';
import { checkAddress } from '../http/server.ts';
import { LOOPBACK } from '../mail/address.ts';
import { errorLine } from '../errors/error-message.ts';
import type { Logger } from '../observe/log.ts';
import { openIdentityProvider } from '../oidc/provider.ts';
import {
  type Check,
  check,
  checksOfStart,
  type Examined,
  type Finding,
  makeChecks,
  metricsAddress,
  ok,
  warning,
} from './checks.ts';
import { clockSet, diskSpace, fonts, processLimits, workOnPdfs } from './machine-checks.ts';

/** The longest wait for a service that may answer at the address. */
const ANSWER_MS = 3_000;
/** Clocks of nodes differ by less. */
const CLOCK_MS = 60_000;

/** @returns what was found, in the order in which a person should mend it */
export async function examine(
  { values, unusable, problems }: SettingsRead,
  role: Role,
  logger: Logger,
): Promise<readonly Examined[]> {
  // Checks that read a setting which cannot be used are left out.
  const config = values as Config;
  const settings: readonly Examined[] =
    problems.length === 0
      ? [{ name: 'settings', ...ok(`they suffice for 'pressledger ${role}'`) }]
      : problems.map((text) => ({ name: 'settings', verdict: 'wrong', text }));
  const inFull = new Map([
    ['port', () => addressInUse(config)],
    ['metrics port', () => metricsInUse(config)],
    ['Chrome', () => chromeInFull(config)],
  ]);
  const asStart = checksOfStart(config, role, logger, holdClockAgainst).map((each) => ({
    ...each,
    look: inFull.get(each.name) ?? each.look,
  }));
  const looked = await makeChecks([...asStart, ...ofMachine(config, role)], unusable);
  return [...settings, ...looked];
}

function ofMachine(config: Config, role: Role): readonly Check[] {
  const renders: readonly Check[] = [
    check('fonts', [], fonts),
    check('work on PDFs', [], workOnPdfs),
    check('memory', ['renderConcurrency', 'maxPageMemoryBytes'], () => processLimits(config)),
  ];
  return [
    ...(role === 'api' ? [] : renders),
    ...(role === 'renderer' || config.smtpUrl === undefined
      ? []
      : [check('mail', ['smtpUrl', 'mailFrom'], () => mail(config))]),
    check('disk', ['dataDir'], () => diskSpace(config.dataDir)),
    ...(config.oidcIssuer === undefined || role === 'renderer'
      ? []
      : [check('identity provider', ['oidcIssuer', 'publicUrl'], () => identityProvider(config))]),
    check('clock', [], clockSet),
  ];
}

/** Connects and signs in; no mail is sent. A start does without: mails wait while the server is away. */
async function mail(config: Config): Promise<Finding> {
  const { createMailer } = await import('./adapters.ts');
  const { host = '', port, encryption } = config.smtpUrl ?? {};
  const mailer = await createMailer(config);
  try {
    await mailer?.check();
  } catch (error) {
    throw new Error(
      `The mail server ${host}:${port} takes no mail: ${errorLine(error)} Look at SMTP_URL, and at that server.`,
      { cause: error },
    );
  }
  const said = `${host}:${port} takes mail from ${config.mailFrom?.address}`;
  return encryption === 'none' && !LOOPBACK.test(host)
    ? warning(`${said}, without encryption: whoever is on the way reads the links in mails`)
    : ok(said);
}

/** A port that is in use is right where this very service has it. */
async function addressInUse({ host, port }: Config): Promise<Finding> {
  try {
    await checkAddress(host, port);
    return ok(port === 0 ? `any free port of ${host}` : `${host}:${port} is free`);
  } catch (error) {
    const ready = await readinessAt(host, port);
    if (ready === undefined) throw error;
    if (ready === '')
      return ok(`a service of Pressledger answers at ${host}:${port}, and is ready`);
    throw new Error(`The service at ${host}:${port} says: ${ready}`, { cause: error });
  }
}

async function metricsInUse(config: Config): Promise<Finding> {
  try {
    return await metricsAddress(config);
  } catch (error) {
    const { metricsPort, metricsHost, host } = config;
    const url = `${originOf(metricsHost ?? host, metricsPort ?? 0)}/metrics`;
    const signal = AbortSignal.timeout(ANSWER_MS);
    const told = await fetch(url, { signal }).then(
      (answer) => answer.text(),
      () => '',
    );
    if (told.includes('pressledger_build_info')) return ok(`${url} tells metrics of Pressledger`);
    throw error;
  }
}

/** The origin where a program on this machine reaches what listens there. */
function originOf(host: string, port: number): string {
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}`;
}

/** @returns what a service of Pressledger lacks; empty: nothing; undefined: none answers */
export async function readinessAt(host: string, port: number): Promise<string | undefined> {
  try {
    const answer = await fetch(`${originOf(host, port)}/readyz`, {
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const said = (await answer.json()) as { status?: unknown; message?: unknown };
    if (said.status === 'ready') return '';
    return typeof said.message === 'string' ? said.message : undefined;
  } catch {
    return undefined;
  }
}

async function chromeInFull({ chromePath }: Config): Promise<Finding> {
  const [{ findInstalledChrome, FULL_CHROME_COST }, { tryChrome }] = await Promise.all([
    import('../renderer/browser/find.ts'),
    import('../renderer/trial.ts'),
  ]);
  const { path, source } = await findInstalledChrome(chromePath);
  const { product, milliseconds, isShell, sandboxNote } = await tryChrome(path);
  const printed = `${product} at ${path} (${source}) started and printed a page in ${milliseconds} ms`;
  const sandboxed =
    sandboxNote === undefined ? 'in its sandbox' : `without its sandbox: ${sandboxNote}`;
  const text = `${printed}, ${sandboxed}${isShell ? '' : `. ${FULL_CHROME_COST}`}`;
  return isShell && sandboxNote === undefined ? ok(text) : warning(text);
}

/** The service starts without it, too: people sign in with their passwords meanwhile. */
async function identityProvider(config: Config): Promise<Finding> {
  const { oidcIssuer, publicUrl } = config;
  try {
    await openIdentityProvider(config)?.look();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return warning(
      `nobody can sign in with ${oidcIssuer} now: ${why.replace(/\.$/, '')}. Check OIDC_ISSUER, and that this machine reaches it.`,
    );
  }
  const origin = publicUrl ?? 'PUBLIC_URL';
  return ok(
    `${oidcIssuer} answers; the redirect URI to register there is ${origin}${CALLBACK_PATH}`,
  );
}

/** A clock that runs behind the log would write events that lie before older ones. */
async function holdClockAgainst(store: EventStore): Promise<void> {
  const head = await store.head();
  const last = (await store.readAll({ after: head - 1n, limit: 1 })).at(-1);
  const ahead = last === undefined ? 0 : (last.metadata as EventMetadata).time - Date.now();
  if (ahead > CLOCK_MS) {
    throw new Error(
      `The log's last event is ${Math.round(ahead / 1000)} s later than this clock: set the clock of this ` +
        'machine, or of the one that wrote it (timedatectl set-ntp true).',
    );
  }
}
