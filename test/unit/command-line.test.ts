import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { allCommands } from '../../src/commands/all.ts';
import { type ParsedArgs, parseLine } from '../../src/commands/cli.ts';
import { type Command, type Invocation, UsageError } from '../../src/commands/command.ts';
import { conversionOptions } from '../../src/commands/convert-options.ts';
import { ConversionRequest } from '../../src/requests/schema.ts';
import { commandContext } from '../support/command-context.ts';

function asked<T extends ParsedArgs['type']>(
  args: readonly string[],
  type: T,
): ParsedArgs & { type: T } {
  const found = parseLine(args, allCommands);
  if (found.type !== type) throw new Error(`'${args.join(' ')}' asks for ${found.type}`);
  return found as ParsedArgs & { type: T };
}

const words = (line: string): readonly string[] => (line === '' ? [] : line.split(' '));
const helpOf = (line: string): string => asked(words(line), 'help').text;
const invocationOf = (args: readonly string[]): Invocation => asked(args, 'run').invocation;

const PACKAGE = join(import.meta.dirname, '../../package.json');

/** Runs a line as far as it goes without a store. */
async function run(args: readonly string[]): Promise<void> {
  const { command, invocation } = asked(args, 'run');
  await command.run(invocation, commandContext());
}

void test('wrong usage is told before a store is opened', async (t) => {
  const lines: readonly (readonly [line: string, told: RegExp])[] = [
    ['', /No command given/],
    ['--json', /No command given/],
    ['frobnicate', /no command 'frobnicate'/],
    [
      'accuont list',
      /no command 'accuont'\. Did you mean 'account list'\? See 'pressledger --help'/,
    ],
    ['proj', /no command 'proj'\. Did you mean 'projections'\?/],
    [
      'account',
      /needs one of create, invite, invitations, uninvite, list, show, password, reset-link, remove-second-factor, prove, activity, sign-out, operator, hold, suspend, resume, retention, public-name, low-credits, mails, export, erase, create-key, keys, revoke-key\. See 'pressledger account --help'/,
    ],
    ['plan', /'plan' needs set\./],
    ['account frob', /no command 'account frob'\. See 'pressledger account --help'/],
    ['account lits --json', /Did you mean 'account list'\?/],
    ['account frob --help', /no command 'account frob'/],
    ['help frobnicate', /no command 'frobnicate'/],
    ['start now', /Too many arguments for 'start'\. .* now\. See 'pressledger start --help'/],
    ['start -v', /no option -v of 'start'/],
    ['--jsn account list', /no option --jsn before a command\. Did you mean --json\?/],
    ['account create', /<email> \(the sign-in address\) is missing/],
    ['account create --email', /--email needs a value\. See 'pressledger account create --help'/],
    ['account create --email --plan pro', /--email needs a value\. See/],
    ['account create --email a@b --plan go/ld', /free, starter, pro/],
    ['account create --email a@b --credits -1', /--credits must be a whole number from 0/],
    ['account create --email a@b --credits 1.5', /--credits must be a whole number/],
    ['account create --email a@b --credits 1000000000001', /to 1000000000000/],
    ['account create a@b --email a@b', /Give the address once/],
    ['account create a@b c@d', /Too many arguments/],
    [
      'account list --nonsense',
      /no option --nonsense of 'account list'\. See 'pressledger account/,
    ],
    ['account list --constructor', /no option --constructor/],
    ['account list -z', /no option -z/],
    ['convert x.html --landsacpe', /Did you mean --landscape\?/],
    ['account list --json=1', /--json takes no value/],
    [
      'account show',
      /<email> \(the account's sign-in address\) is missing\. See 'pressledger account show --help'/,
    ],
    ['account show a@b c@d', /Too many arguments for 'account show'/],
    ['account show a@b --as-of yesterday', /--as-of: Must be an ISO 8601 time with its offset/],
    ['account list --as-of 2999-01-01T00:00:00Z', /--as-of: Lies in the future: give a time up/],
    ['key list a@b --as-of -1', /--as-of: Must be an ISO 8601 time/],
    ['state', /--as-of is needed/],
    ['state --as-of 2026-11-21', /--as-of: Must be an ISO 8601 time/],
    ['state --as-of 1 --output=', /--output needs the name of a file/],
    ['account password', /<email> .* is missing/],
    ['account sign-out', /<email> .* is missing/],
    ['account suspend a@b', /--reason is needed: why the account is suspended\. Its people read/],
    ['account reset-link a@b', /--reason is needed: why somebody is to set the password/],
    ['account operator a@b', /Give --grant or --revoke/],
    ['account operator a@b --grant --revoke', /Give --grant or --revoke/],
    ['account erase', /<email> .* is missing/],
    ['account erase a@b --force', /no option --force/],
    ['account retention a@b', /Give <seconds> or --reset/],
    ['account retention a@b 60 --reset', /Give <seconds> or --reset/],
    ['account retention a@b x', /<seconds>/],
    ['account hold a@b --until', /--until needs a value/],
    ['account hold a@b --until tomorrow', /--until is a time with its offset, such as 2027/],
    ['account hold a@b --until 2027-06-30', /--until is a time with its offset/],
    ['account hold a@b --release --until 2027-06-30T00:00:00Z', /--until or --release, not both/],
    ['account export a@b', /--output is needed/],
    ['credits grant a@b', /<credits> .* is missing/],
    ['credits grant a@b -5', /<credits> must be a whole number/],
    ['credits grant a@b 0', /whole number from 1/],
    ['credits grant a@b 1e3', /whole number from 1/],
    ['credits grant a@b 1000000000001', /to 1000000000000/],
    ['plan set a@b go/ld', /free, starter, pro/],
    ['projections verify --limit 0', /--limit must be a whole number from 1/],
    ['projections diff x', /Too many arguments for 'projections diff'/],
    ['key create a@b', /--name is needed/],
    ['key create a@b --name n --scope all', /--scope must be one of convert, read, .*, not all\.$/],
    ['key create a@b --name n --expires soon', /--expires must be a day in UTC or a time/],
    ['key create a@b --name n --rate-limit many', /--rate-limit must be a number/],
    ['members invite a@b c@d', /--role is needed/],
    ['members invite a@b c@d --role king', /owner, member, auditor/],
    ['members change a@b x', /Give --role, --documents or --no-documents/],
    ['key revoke', /<id> .* is missing/],
    ['verify now', /Too many arguments for 'verify'/],
    ['verify --key nonsense', /--key nonsense is neither a verifier key nor a file of some: A ver/],
    ['verify --key=', /--key needs a verifier key/],
    ['verify --checkpoint no-such-file', /There is no file no-such-file\./],
    ['move', /--to-event-store, --to-blobs or --to-data-dir is needed/],
    ['move --ahead', /--to-event-store, --to-blobs or --to-data-dir is needed/],
    ['move --to-blobs=', /--to-blobs needs a value/],
    ['move --to-blobs files --ahead --cancel', /--ahead or --cancel, not both/],
    ['log', /See 'pressledger log --help'/],
    ['log export', /--output is needed/],
    ['log import', /<file> .* is missing/],
    ['log import no-such-file', /There is no file no-such-file\./],
    ['proof', /<id> .* is missing/],
    ['tlog', /See 'pressledger tlog --help'/],
    ['tlog rotate now', /Too many arguments/],
    ['convert x.html', /--output is needed/],
    ['convert x.html -o x.pdf --server http://localhost', /no key for .* PRESSLEDGER_API_KEY/],
    ['convert x.html -o x.pdf --api-key k', /--server/],
    ['convert x.html -o x.pdf --api-key-stdin', /PRESSLEDGER_SERVER/],
    ['convert - -o x.pdf --server http://localhost --api-key-stdin', /both .* standard input/],
    ['convert x.html -o x.pdf --server http://h --api-key k --api-key-stdin', /choose one/],
    [
      'convert x.html -o x.pdf --server http://h --account a@b',
      /--account is for the store of the settings, not for --server/,
    ],
    ['convert http://x -o x.pdf --scale big', /--scale must be a number/],
    ['convert http://x -o x.pdf --scale=', /--scale must be a number/],
    ['convert http://x -o x.pdf --attach none.csv', /--attach: the file none.csv cannot be read/],
    ['convert http://x -o x.pdf --headers {', /--headers must be JSON/],
    ['convert http://x -o x.pdf --tag month', /--tag must be name:value, .* not month\./],
    ['convert http://x -o x.pdf --tag a: --tag b:c', /--tag must be name:value, .* not a:\./],
    ['convert http://x -o x.pdf --tag a:b --tag a:c', /--tag gives a two values/],
    ['conversions delete', /<id> .* is missing/],
    ['conversions delete conv_1 1', /<id> is that of a conversion/],
    [
      'convert example.com -o x.pdf',
      /no file example\.com\. Did you mean https:\/\/example\.com\?/,
    ],
    ['convert ftp://example.com/a.html -o x.pdf', /neither an HTML file nor an http or https/],
    [`convert ${PACKAGE} -o x.pdf`, /package\.json is JSON, not HTML: put it into a page/],
    ['convert . -o x.pdf', /There is no \.html file in the folder \.\./],
    ['convert a.html b.html -o x.pdf', /There is no file a\.html\./],
    ['convert x.html -o x.pdf --server ftp://h --api-key k', /http or https address/],
    ['convert no-such-file.html -o x.pdf', /There is no file no-such-file\.html\./],
    ['documents a.pdf', /--output is needed/],
    ['documents -o x.pdf', /<source> .* is missing/],
    ['documents no.pdf -o x.pdf', /No service is named/],
    ['documents no.pdf -o x.pdf --server http://h --api-key k', /There is no file no\.pdf\./],
    ['documents - - -o x.pdf --server http://h --api-key k', /Standard input is one PDF/],
    ['documents a.pdf -o x.pdf --rotate-pages 1', /--rotate-pages is for --rotate/],
    [
      'documents a b c -o x.pdf --password 1 --password 2 --server http://h --api-key k',
      /2 passwords for 3 sources: give one for all, or one for each/,
    ],
    [
      `documents conv_${'0'.repeat(26)} -o - --part 1 --server http://h --api-key k`,
      /Several PDFs need a folder/,
    ],
    ['conversions list --status done', /pending, processing, completed, failed/],
    ['conversions list --source pdf', /--source is one of html, url|html, url/],
    ['conversions list --order up', /--order is one of newest, oldest/],
    ['conversions list --limit 0', /--limit must be a whole number/],
    ['conversions list', /No service is named: sign in with 'pressledger login', or set/],
    ['conversions get', /<id> .* is missing/],
    ['conversions delete', /<id> .* is missing/],
    ['conversions picture', /<id> .* is missing/],
    ['conversions thumbnail', /<id> .* is missing/],
    ['conversions share', /<id> .* is missing/],
    ['conversions unshare conv_1', /<link> .* is missing/],
    ['conversions links ../a --server http://h --api-key k', /<id> is that of a conversion/],
    ['conversions share conv_1 --expires-in 0 --server http://h --api-key k', /whole number/],
    ['conversions share conv_1 --expires-in 1d', /--expires-in must be a number/],
    ['conversions picture ../a --server http://h --api-key k', /<id> is that of a conversion/],
    ['conversions retry ../a --server http://h --api-key k', /<id> is that of a conversion/],
    ['conversions open ../a', /<id> is that of a conversion/],
    ['conversions get conv_1 --server http://h', /no key for http:\/\/h/],
    ['keys create --server http://h --api-key k', /--name is needed/],
    ['signature set a.p12', /Give --password-stdin/],
    ['templates save', /<file> .* is missing/],
    ['templates save LICENSE', /--name/],
    ['templates save LICENSE --id tmpl_1 --name x', /choose one/],
    ['templates save nowhere.html --name x', /There is no file nowhere.html/],
    ['templates save LICENSE --name x --schema LICENSE', /The file of --schema is not JSON/],
    ['templates show tmpl_1 --version 0 --server http://h --api-key k', /--version must be/],
    ['convert -o x.pdf', /<file-or-url> is missing/],
    ['convert x.html --template tmpl_1 -o x.pdf', /takes the place/],
    ['convert x.html --data LICENSE -o x.pdf', /--data goes with --template/],
    ['convert --template tmpl_1 --data LICENSE -o x.pdf', /is not JSON/],
    ['webhooks create', /<url> .* is missing/],
    ['webhooks update webhook_1 --server http://h --api-key k', /Say what to change/],
    ['webhooks update webhook_1 --enable --disable', /exclude each other/],
    ['webhooks deliveries --status done', /waiting, delivered, failed/],
    ['webhooks deliveries --limit 0', /--limit must be a whole number/],
    ['webhooks redeliver', /<id> .* is missing/],
    ['usage --api-key k', /give --server too/],
    ['login', /--server is needed where there is no terminal/],
    ['login --server localhost', /no terminal to ask at: give --api-key-stdin, or --email/],
    ['login --server localhost --password-stdin', /--password-stdin needs --email/],
    ['login --server localhost --email a@b --api-key-stdin', /not with both/],
    ['login --server ftp://h --api-key-stdin', /http or https address/],
    ['account list --jso', /Did you mean --json\?/],
    ['evidence conv_1', /--output is needed/],
    ['verify-evidence x.zip', /--key is needed/],
    [
      'verify-evidence x.zip --key k',
      /--key k is neither .*: A verifier key has the form name\+id\+key/,
    ],
    ['verify-pdf no-such-file.pdf', /There is no file no-such-file\.pdf\./],
    ['verify-pdf x.pdf --server http://h --account a@b', /not for --server/],
    ['completion tcsh', /no command 'completion tcsh'/],
  ];
  for (const [line, told] of lines) {
    try {
      await run(words(line));
      t.fail(`'${line}' is taken`);
    } catch (error) {
      t.ok(error instanceof UsageError, `'${line}': ${String(error)}`);
      t.match(String(error), told, `'${line}'`);
      t.notMatch(String(error), '\n', 'one line');
    }
  }
});

void test('right usage gets as far as the store', async (t) => {
  for (const line of [
    'account create --email a@b',
    'account create a@b --plan PRO',
    'account create --email a@b --plan pro --credits 0',
    'account list',
    'account password a@b',
    'account sign-out a@b',
    'account operator a@b --grant',
    'account operator a@b --revoke',
    'account hold a@b',
    'account hold a@b --until 2100-06-30T00:00:00+02:00',
    'account hold a@b --release',
    'account retention a@b 60',
    'account retention a@b --reset',
    'account export a@b -o a.zip',
    'account erase a@b --yes',
    'credits grant a@b 1',
    'plan set a@b starter',
    'key create a@b --name n',
    'members list a@b',
    'members invite a@b c@d --role auditor --documents',
    'members change a@b person_x --no-documents',
    'members remove a@b person_x',
    'members erase a@b --yes',
    'convert http://example.com -o x.pdf --account a@b',
  ]) {
    await t.rejects(run(words(line)), /the store would be opened now/, line);
  }
});

const fileInBase64 = (path: string): string => readFileSync(path, 'base64');

void test('the flags of convert are the options of the interface', (t) => {
  const line =
    'convert x.html -o x.pdf --page-size a5 --landscape --margin-top 1in --margin-right 2in ' +
    '--margin-bottom 3in --margin-left 4in --print-background --scale 0.5 --page-ranges 1-2 ' +
    '--header-html <p>h --footer-html <p>f --prefer-css-page-size --media SCREEN --no-tagged ' +
    '--outline --no-javascript --wait-for-selector #x --wait-for-delay-ms 10 ' +
    '--wait-for-network-idle --metadata {"title":"T"} --headers {"A":"b"} ' +
    '--cookies [{"name":"n","value":"v"}] --filename F --reference R --tag a:b --tag c:d:e ' +
    '--format WebP --single-page --width 80mm --height 200mm --css LICENSE --color-scheme DARK --viewport 1280x720@1.5 ' +
    '--timezone Europe/Zurich --locale de-CH ' +
    '--webhook-url https://example.com/ --fail-on timeout,http_status --priority low ' +
    '--deterministic --deterministic-time 2026-11-26T12:00:00Z ' +
    '--retention-seconds 60 --conformance pdfa-3u,pdfua-1 --no-conformance-required ' +
    '--attach LICENSE --attach package.json --invoice LICENSE --invoice-profile minimum ' +
    '--keep-pages 2,1 --rotate 90 --user-password u --owner-password o --deny print,copy --optimize ' +
    '--stamp-html LICENSE --stamp-image LICENSE --stamp-opacity 0.5 --stamp-pages 1 --stamp-fit none --verify-link ' +
    '--sign --sign-reason R --sign-location L --sign-field 12mm,1in,7cm,90px --sign-page 2';
  const options = conversionOptions(invocationOf(words(line)));
  const fields = Object.keys(ConversionRequest.properties);
  const content = ['html', 'url', 'files', 'template', 'data'];
  t.strictSame(
    Object.keys(options).toSorted(),
    fields.filter((name) => !content.includes(name)).toSorted(),
    'each has one',
  );
  t.strictSame(options, {
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
    format: 'webp',
    single_page: true,
    width: '80mm',
    height: '200mm',
    css: readFileSync('LICENSE', 'utf8'),
    color_scheme: 'dark',
    viewport: { width: 1280, height: 720, device_scale_factor: 1.5 },
    timezone: 'Europe/Zurich',
    locale: 'de-CH',
    tagged: false,
    outline: true,
    javascript: false,
    wait_for: { selector: '#x', delay_ms: 10, network_idle: true },
    metadata: { title: 'T' },
    headers: { A: 'b' },
    cookies: [{ name: 'n', value: 'v' }],
    filename: 'F',
    reference: 'R',
    tags: { a: 'b', c: 'd:e' },
    webhook_url: 'https://example.com/',
    fail_on: ['timeout', 'http_status'],
    priority: 'low',
    retention_seconds: 60,
    deterministic: true,
    deterministic_time: '2026-11-26T12:00:00Z',
    pdf: {
      conformance: ['pdfa-3u', 'pdfua-1'],
      conformance_required: false,
      attachments: [
        { filename: 'LICENSE', content: fileInBase64('LICENSE'), type: 'application/octet-stream' },
        {
          filename: 'package.json',
          content: fileInBase64('package.json'),
          type: 'application/json',
        },
      ],
      invoice: { xml: fileInBase64('LICENSE'), profile: 'MINIMUM' },
      pages: '2,1',
      rotate: 90,
      encrypt: {
        user_password: 'u',
        owner_password: 'o',
        permissions: { print: false, copy: false },
      },
      optimize: true,
      verify_link: true,
      stamp: {
        html: readFileSync('LICENSE', 'utf8'),
        image: fileInBase64('LICENSE'),
        opacity: 0.5,
        pages: '1',
        fit: 'none',
      },
      sign: {
        reason: 'R',
        location: 'L',
        field: { x: '12mm', y: '1in', width: '7cm', height: '90px', page: 2 },
      },
    },
  });
  for (const place of ['12mm', '1mm,2mm,3mm', '1mm,2mm,3mm,4mm,5mm']) {
    const wrong = invocationOf(['convert', 'x.html', '-o', 'x.pdf', '--sign-field', place]);
    t.throws(() => conversionOptions(wrong), { message: /^--sign-field must be x,y,width,height/ });
  }
  const plain = invocationOf(['convert', 'x.html', '-o', 'x.pdf']);
  t.strictSame(conversionOptions(plain), {}, 'what is not said is left to the service');
  t.end();
});

/** One line of help begins with the name, and goes on to say something. */
const lineAbout = (name: string): RegExp => new RegExp(`^  ${name}  +\\S.*$`, 'm');

void test('help names every command, argument and option, with a line each', (t) => {
  for (const line of ['--help', '-h', 'help', '--json --help']) {
    for (const { name } of allCommands) t.match(helpOf(line), lineAbout(name), line);
  }
  for (const { name, positionals = {}, options = {} } of allCommands) {
    const help = helpOf(`${name} --help`);
    for (const argument of Object.keys(positionals)) {
      t.match(help, lineAbout(`<${argument}>`), name);
    }
    t.match(help, /^Examples:\n {2}pressledger /m, name);
    for (const [option, { value, short }] of Object.entries(options)) {
      const written = `${short ? `-${short}, ` : ''}--${option}${value ? ` <${value}>` : ''}`;
      t.match(help, lineAbout(written), name);
    }
    for (const line of [`${name} -h`, `help ${name}`, `-h ${name}`, `${name} x y --nose -h`]) {
      t.equal(helpOf(line), help, line);
    }
  }
  t.end();
});

void test('the list of commands cuts no summary at a comma, and says whose keys are meant', (t) => {
  const [list] = [helpOf('--help')].map((help) => help.replaceAll(/\n {10,}/g, ' '));
  const listed = (name: string): string | undefined =>
    new RegExp(`^  ${name}  +(.*)$`, 'm').exec(list ?? '')?.[1];
  for (const { name, summary } of allCommands) {
    const text = listed(name) ?? '';
    t.ok(summary.startsWith(text), name);
    t.match(summary.slice(text.length), /^[.:;]/, `${name}: ${text}`);
  }
  t.equal(listed('move'), 'Move the log, its documents and keys to other places');
  t.match(listed('history'), /oldest first$/);
  for (const name of ['create-key', 'keys', 'revoke-key']) {
    t.match(listed(`account ${name}`), / any account on this machine/);
  }
  for (const verb of ['create', 'list', 'revoke']) {
    t.match(listed(`keys ${verb}`), / your own account at a service/);
  }
  t.end();
});

void test('a command that has another name now still goes by the former one', (t) => {
  const former = { 'key list a@b': 'account keys', 'key revoke key_1': 'account revoke-key' };
  for (const [line, name] of Object.entries(former)) {
    t.match(parseLine(line.split(' '), allCommands), { command: { name } });
    t.notOk(allCommands.some((each) => line.startsWith(`${each.name} `)));
  }
  t.match(parseLine(['key', 'list', 'a@b'], allCommands), { invocation: { positionals: ['a@b'] } });
  t.end();
});

void test('help of a group names its commands and no other', (t) => {
  const groups = Map.groupBy(
    allCommands.filter(({ name }) => name.includes(' ')),
    ({ name }) => name.split(' ')[0] ?? name,
  );
  t.strictSame(
    [...groups.keys()],
    [
      'conversions',
      'usage',
      'keys',
      'signature',
      'batches',
      'templates',
      'webhooks',
      'account',
      'credits',
      'plan',
      'members',
      'tlog',
      'projections',
      'log',
      'backup',
      'keyring',
      'completion',
    ],
  );
  for (const [group, own] of groups) {
    const help = helpOf(`${group} --help`);
    t.equal(helpOf(`help ${group}`), help);
    // `backup`, `credits` and `usage` are commands, and groups of others.
    const usage = { backup: '<place>', credits: '<email>', usage: '[options]' }[group];
    const argument = usage ?? '<command>';
    t.match(help, `Usage: pressledger ${group} ${argument}`);
    const named = allCommands.filter(({ name }: Command) => lineAbout(name).test(help));
    t.strictSame(
      named.filter(({ name }) => name !== group),
      own,
      group,
    );
  }
  t.end();
});

void test('docs/command-line.md lists every command', (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/command-line.md'), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  for (const { name } of allCommands) {
    const listed = rows.some((row) => row.includes(`\`${name}\``) || row.includes(`\`${name} `));
    t.ok(listed, name);
  }
  t.end();
});

void test('help is for a terminal of a hundred columns', (t) => {
  const helps = ['help', ...allCommands.map(({ name }) => `help ${name}`)].map(helpOf);
  const long = helps.flatMap((help) => help.split('\n')).filter((line) => line.length > 100);
  t.strictSame(long, []);
  t.end();
});

void test('the version is asked for before any command, --json before or after one', (t) => {
  for (const line of ['--version', '-v', '-V', 'version']) {
    t.match(asked([line], 'run'), { command: { name: 'version' }, wantsJson: false });
  }
  t.match(asked(['--version', '--json'], 'run'), { command: { name: 'version' }, wantsJson: true });
  t.match(asked(['--json', '-v'], 'run'), { command: { name: 'version' }, wantsJson: true });
  t.notOk(asked(['account', 'list'], 'run').wantsJson);
  t.ok(asked(['account', 'list', '--json'], 'run').wantsJson);
  t.ok(asked(['--json', 'account', 'list'], 'run').wantsJson);
  t.ok(asked(['account', '--json', 'list'], 'run').wantsJson);
  t.end();
});
