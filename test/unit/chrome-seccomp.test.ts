/** deploy/chrome-seccomp.json: the calls that Docker refuses stay refused, but for Chrome's sandbox. */
import { test } from 'tap';
import { read, readCompose } from '../support/deployment.ts';

interface Rule {
  readonly names: readonly string[];
  readonly action: string;
  readonly errnoRet?: number;
  readonly args?: readonly { index: number; value: number; valueTwo: number; op: string }[];
}

interface Profile {
  readonly defaultAction: string;
  readonly architectures: readonly string[];
  readonly syscalls: readonly Rule[];
}

const profile = JSON.parse(read('deploy/chrome-seccomp.json')) as Profile;

/** From linux/sched.h. */
const NEW = {
  TIME: 0x80,
  NS: 0x20000,
  CGROUP: 0x2000000,
  UTS: 0x4000000,
  IPC: 0x8000000,
  USER: 0x10000000,
  PID: 0x20000000,
  NET: 0x40000000,
};

function allows(call: string, flags: number): boolean {
  return profile.syscalls.some(
    ({ names, action, args = [] }) =>
      names.includes(call) &&
      action === 'SCMP_ACT_ALLOW' &&
      args.every(({ op, value, valueTwo }) =>
        op === 'SCMP_CMP_EQ' ? flags === value : (flags & value) === valueTwo,
      ),
  );
}

void test('new namespaces: those of the sandbox and no others', (t) => {
  for (const call of ['clone', 'unshare']) {
    t.ok(allows(call, NEW.USER | NEW.PID | NEW.NET), call);
    for (const name of ['NS', 'CGROUP', 'UTS', 'IPC'] as const) {
      t.notOk(allows(call, NEW.USER | NEW[name]), `${call} ${name}`);
    }
  }
  t.notOk(allows('unshare', NEW.TIME));
  t.ok(allows('clone', 17), 'a new process, whose flags hold SIGCHLD');
  const clone3 = profile.syscalls.filter(({ names }) => names.includes('clone3'));
  t.match(clone3, [{ action: 'SCMP_ACT_ERRNO', errnoRet: 38 }]);
  t.end();
});

void test('what is not needed is refused', (t) => {
  t.equal(profile.defaultAction, 'SCMP_ACT_ERRNO');
  const refused =
    'mount umount2 pivot_root setns open_tree move_mount fsopen fsmount bpf perf_event_open ' +
    'userfaultfd io_uring_setup io_uring_enter keyctl add_key request_key kexec_load init_module ' +
    'finit_module delete_module open_by_handle_at process_vm_writev reboot swapon settimeofday ' +
    'clock_settime quotactl acct iopl ioperm syslog nfsservctl';
  for (const call of refused.split(' ')) t.notOk(allows(call, 0), call);
  for (const family of [1, 2, 10, 16]) t.ok(allows('socket', family));
  // AF_PACKET, AF_ALG, AF_VSOCK.
  for (const family of [17, 38, 40]) t.notOk(allows('socket', family), `socket ${family}`);
  for (const call of ['chroot', 'seccomp', 'execve', 'futex']) t.ok(allows(call, 0), call);
  t.end();
});

void test('it is of the form that both Docker and Kubernetes read, and the renderer has it', (t) => {
  // `archMap` would be Docker's alone.
  t.strictSame(profile.architectures, ['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64']);
  const names = profile.syscalls.flatMap(({ names: each, args }) => (args ? [] : each));
  t.equal(new Set(names).size, names.length, 'no call is named twice');
  const every = {
    MASTER_KEY: 'x',
    NATS_API_PASSWORD: 'x',
    NATS_RENDERER_PASSWORD: 'x',
  };
  const { services } = readCompose(every);
  t.ok(services['renderer']?.security_opt.includes('seccomp=deploy/chrome-seccomp.json'));
  t.end();
});
