import { test } from 'tap';
import {
  accountCreate,
  accountList,
  accountPassword,
  accountShow,
} from '../../src/commands/account.ts';
import { type Command, UsageError } from '../../src/commands/command.ts';
import { convert } from '../../src/commands/convert.ts';
import { conversionOptions } from '../../src/commands/convert-options.ts';
import { creditsGrant } from '../../src/commands/credits.ts';
import { keyCreate, keyList, keyRevoke } from '../../src/commands/key.ts';
import { createOutput } from '../../src/commands/output.ts';
import { commandHelp, overallHelp, parseLine } from '../../src/commands/parse.ts';
import { planSet } from '../../src/commands/plan.ts';

const COMMANDS: readonly Command[] = [
  accountCreate,
  accountList,
  accountShow,
  accountPassword,
  creditsGrant,
  planSet,
  keyCreate,
  keyList,
  keyRevoke,
  convert,
];

function storeNeeded(): never {
  throw new Error('the store would be opened now');
}

/** Runs a line as far as it goes without a store. */
async function run(args: readonly string[]): Promise<void> {
  const { command, invocation } = parseLine(args, COMMANDS);
  await command.run(invocation, {
    output: createOutput(true),
    withCore: storeNeeded,
    startService: storeNeeded,
    startApiNode: storeNeeded,
    startRenderer: storeNeeded,
    startRendering: storeNeeded,
    outputMode: 0o600,
  });
}

void test('wrong usage is told before a store is opened', async (t) => {
  const lines: readonly (readonly [line: string, told: RegExp])[] = [
    ['', /No command given/],
    ['--json', /No command given/],
    ['frobnicate', /no command 'frobnicate'/],
    ['account', /no command 'account'/],
    ['account frob', /no command 'account frob'/],
    ['account create', /--email is needed/],
    ['account create --email', /email/],
    ['account create --email a@b --plan gold', /free, starter, pro/],
    ['account create --email a@b --credits -1', /credits/],
    ['account create --email a@b --credits 1.5', /--credits must be a whole number/],
    ['account create --email a@b --credits 1000000000001', /to 1000000000000/],
    ['account create a@b --email a@b', /Usage: pressledger account create/],
    ['account list --nonsense', /nonsense/],
    ['account list --json=1', /json/],
    ['account show', /Usage: pressledger account show E/],
    ['account show a@b c@d', /Usage/],
    ['account password', /Usage: pressledger account password E/],
    ['credits grant a@b', /Usage/],
    ['credits grant a@b 0', /whole number from 1/],
    ['credits grant a@b 1e3', /whole number from 1/],
    ['credits grant a@b 1000000000001', /to 1000000000000/],
    ['plan set a@b gold', /free, starter, pro/],
    ['key create a@b', /--name is needed/],
    ['key revoke', /Usage/],
    ['convert x.html', /--output is needed/],
    ['convert x.html -o x.pdf --server http://localhost', /--api-key/],
    ['convert x.html -o x.pdf --api-key k', /--server/],
    ['convert http://x -o x.pdf --scale big', /--scale must be a number/],
    ['convert http://x -o x.pdf --scale=', /--scale must be a number/],
    ['convert http://x -o x.pdf --headers {', /--headers must be JSON/],
  ];
  for (const [line, told] of lines) {
    const args = line === '' ? [] : line.split(' ');
    try {
      await run(args);
      t.fail(`'${line}' is taken`);
    } catch (error) {
      t.ok(error instanceof UsageError, `'${line}': ${String(error)}`);
      t.match(String(error), told, `'${line}'`);
    }
  }
});

void test('right usage gets as far as the store', async (t) => {
  for (const line of [
    'account create --email a@b',
    'account create --email a@b --plan pro --credits 0',
    'account list',
    'account password a@b',
    'credits grant a@b 1',
    'plan set a@b starter',
    'key create a@b --name n',
    'convert http://example.com -o x.pdf --account a@b',
  ]) {
    await t.rejects(run(line.split(' ')), /the store would be opened now/, line);
  }
});

void test('the flags of convert are the options of the interface', (t) => {
  const words =
    'convert x.html -o x.pdf --page-size A5 --landscape --margin-top 1in --margin-right 2in ' +
    '--margin-bottom 3in --margin-left 4in --print-background --scale 0.5 --page-ranges 1-2 ' +
    '--header-html <p>h --footer-html <p>f --prefer-css-page-size --media screen --no-tagged ' +
    '--outline --no-javascript --wait-for-selector #x --wait-for-delay-ms 10 ' +
    '--wait-for-network-idle --metadata {"title":"T"} --headers {"A":"b"} ' +
    '--cookies [{"name":"n","value":"v"}]';
  const line = words.split(' ');
  t.strictSame(conversionOptions(parseLine(line, COMMANDS).invocation), {
    page_size: 'A5',
    landscape: true,
    margin_top: '1in',
    margin_right: '2in',
    margin_bottom: '3in',
    margin_left: '4in',
    print_background: true,
    scale: 0.5,
    page_ranges: '1-2',
    header_html: '<p>h',
    footer_html: '<p>f',
    prefer_css_page_size: true,
    media: 'screen',
    tagged: false,
    outline: true,
    javascript: false,
    wait_for: { selector: '#x', delay_ms: 10, network_idle: true },
    metadata: { title: 'T' },
    headers: { A: 'b' },
    cookies: [{ name: 'n', value: 'v' }],
  });
  const plain = parseLine(['convert', 'x.html', '-o', 'x.pdf'], COMMANDS).invocation;
  t.strictSame(conversionOptions(plain), {}, 'what is not said is left to the service');
  t.end();
});

void test('help names every command and every option', (t) => {
  const help = overallHelp(COMMANDS);
  for (const command of COMMANDS) {
    t.match(help, command.name);
    const own = commandHelp(command);
    for (const name of Object.keys(command.options)) t.match(own, `--${name}`, command.name);
    const asked = parseLine([...command.name.split(' '), '--help'], COMMANDS);
    t.ok(asked.wantsHelp && asked.command === command);
  }
  t.end();
});
