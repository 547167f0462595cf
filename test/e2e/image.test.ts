/**
 * The image `all` as far as it can be tested without a container engine: the files that its build copies, the
 * packages that it installs, its environment, a user other than root and a read-only file system.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'tap';
import { findChrome } from '../../src/renderer/browser/find.ts';
import { ROOT, read, readDockerfile } from '../support/deployment.ts';
import { noOwnMounts } from '../support/own-mounts.ts';
import { openPdf } from '../support/pdf.ts';
import { createPlace } from '../support/place.ts';
import { Service } from '../support/service.ts';

/** Makes the root of the image from this machine's own system, and runs "$@" in it as user 1000. */
const IN_IMAGE = `set -e
mount -t tmpfs -o mode=755 image "$IMAGE"
cd "$IMAGE"
show() { mkdir -p ".$2"; mount --bind -o ro "$1" ".$2"; }
for dir in /usr /bin /sbin /lib /lib32 /lib64 /etc /opt; do
  if [ -L "$dir" ]; then cp -P "$dir" .; elif [ -d "$dir" ]; then all="$all $dir"; fi
done
for dir in $all /dev /proc; do mkdir ".$dir"; mount --rbind "$dir" ".$dir"; done
for path in $COPIED; do mkdir -p "app/$(dirname "$path")"; cp -R "$REPOSITORY/$path" "app/$path"; done
for path in $PACKAGES; do show "$REPOSITORY/$path" "/app/$path"; done
show "$NODE" /node
show "$CHROME" "$CHROME"
mkdir data tmp old
mount --bind "$VOLUME" data
mount -t tmpfs -o mode=1777 tmp tmp
pivot_root . old
cd /app
umount -l /old
mount -o remount,ro /
if touch /app/here 2> /tmp/why; then echo 'the root can be written' >&2; exit 1; fi
unset IMAGE COPIED PACKAGES REPOSITORY NODE CHROME VOLUME
exec unshare --user --map-user=1000 --map-group=1000 "$@"`;

const stages = readDockerfile();
const all = stages.get('all')?.lines ?? [];

/** A value in brackets of an instruction, in this stage or the one that it starts from. */
function words(instruction: string): readonly string[] {
  const lines = [...(stages.get('renderer')?.lines ?? []), ...all];
  const line = lines.findLast((each) => each.startsWith(`${instruction} [`)) ?? '';
  return JSON.parse(line.slice(instruction.length + 1)) as string[];
}

/** What `npm ci --omit=dev` installs at the top; the rest lies within. */
function installed(): readonly string[] {
  const { packages } = JSON.parse(read('node_modules/.package-lock.json')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  return Object.keys(packages).filter(
    (path) => !packages[path]?.dev && path.lastIndexOf('node_modules/') === 0,
  );
}

const chrome = await findChrome({
  chromePath: process.env['CHROME_PATH'],
  searchPath: process.env['PATH'],
}).catch(() => undefined);
const skip = noOwnMounts || (!chrome && 'no Chrome is installed on this machine');

void test('the whole service runs in one image, on a volume', { skip }, async (t) => {
  const place = createPlace(t);
  const image = join(dirname(place.dataDir), 'image');
  for (const folder of [place.dataDir, image]) mkdirSync(folder, { mode: 0o700 });
  const base = stages.get('base')?.lines.find((line) => line.startsWith('ENV ')) ?? '';
  const env = Object.fromEntries(
    [...base.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  );
  t.match(env, { DATA_DIR: '/data', PORT: '8080' });
  const copied = read('.dockerignore')
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
    // Its packages, which lie in it here, are left out of the image.
    .map((path) => (path === 'dashboard' ? 'dashboard/src' : path));
  const [command = '', ...args] = words('ENTRYPOINT').slice(-1);
  t.equal(command, '/app/bin/pressledger');

  const service = new Service(
    {
      ...place,
      env: {
        ...env,
        PORT: '0',
        HOST: '127.0.0.1',
        PATH: '/node:/usr/sbin:/usr/bin:/sbin:/bin',
        IMAGE: image,
        VOLUME: place.dataDir,
        REPOSITORY: ROOT,
        COPIED: copied.join(' '),
        PACKAGES: installed().join(' '),
        NODE: dirname(process.execPath),
        CHROME: dirname(chrome?.path ?? ''),
      },
    },
    [
      'unshare',
      '--map-root-user',
      '--mount',
      'sh',
      '-c',
      IN_IMAGE,
      'sh',
      command,
      ...args,
      ...words('CMD'),
    ],
  );
  t.teardown(() => service.kill());
  await service.start();
  const client = service.client();
  const record = await client.wait((await client.create({ html: '<h1>In one image</h1>' })).id);
  t.equal(record.status, 'completed', record.error_message ?? '');
  t.match((await openPdf(await buffer(await client.download(record)))).text, 'In one image');

  const health = all.find((line) => line.startsWith('HEALTHCHECK'))?.split('CMD ')[1] ?? '[]';
  const [, script = '', path = ''] = JSON.parse(health) as string[];
  const asked = spawnSync(process.execPath, [script.replace('/app', ROOT), path], {
    env: { PORT: new URL(service.url).port },
  });
  t.equal(asked.status, 0);
  t.match(await service.stop(), { code: 0, signal: null });
  t.ok(existsSync(join(place.dataDir, 'pressledger.db')), 'the volume stays');
});
