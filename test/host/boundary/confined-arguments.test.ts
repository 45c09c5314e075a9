import { describe, expect, it } from 'vitest'
import { confinedArguments } from '../../../src/host/boundary/confined-arguments.ts'
import type { Boundary } from '../../../src/host/boundary/prepare.ts'
import { systemMounts } from '../../../src/host/boundary/system-mounts.ts'

const boundary: Boundary = {
  program: '/usr/bin/bwrap',
  prlimit: '/usr/bin/prlimit',
  system: ['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin'],
  policy: {
    checkout: '/w',
    writable: ['/scratch'],
    readable: ['/w', '/opt/tool'],
    hidden: [
      { path: '/home/me', directory: true },
      { path: '/w/secret', directory: true },
      { path: '/usr/key', directory: false },
    ],
    git: ['/w/.git', '/w/sub/.git'],
    held: ['/w/sub'],
    offline: true,
  },
}

const command = {
  program: '/opt/tool',
  arguments: ['-c', 'x y'],
  workspace: '/w',
  turnFolder: '/store/turn/t.1',
  memoryBytes: 268_435_456,
  env: { PATH: '/usr/bin' },
}

const user = `--uid ${process.getuid?.()} --gid ${process.getgid?.()}`

describe('the confined argument list', () => {
  it('is in its fixed order', () => {
    expect(confinedArguments(boundary, command).join(' ')).toBe(
      [
        `--die-with-parent --new-session --unshare-user ${user} --cap-drop ALL --disable-userns`,
        '--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --dev /dev --proc /proc',
        '--size 33554432 --tmpfs /tmp --size 33554432 --tmpfs /dev/shm',
        '--ro-bind /usr /usr --symlink usr/bin /bin',
        '--ro-bind /w /w --ro-bind /opt/tool /opt/tool --bind /w /w --bind /scratch /scratch --bind /w/sub /w/sub',
        '--ro-bind /store/turn/t.1 /run/drawbridge/turn',
        '--size 4096 --tmpfs /w/secret --remount-ro /w/secret --ro-bind /dev/null /usr/key',
        '--ro-bind /w/.git /w/.git --ro-bind /w/sub/.git /w/sub/.git',
        '--remount-ro /proc --remount-ro /dev --remount-ro / --unshare-net',
        '--json-status-fd 3 --clearenv --setenv PATH /usr/bin --chdir /w --',
        '/bin/sh -c read -r go <&4 && exec "$0" "$@" 4<&- /usr/bin/env -i PATH=/usr/bin',
        '/usr/bin/prlimit --nproc=512:512 --data=268435456 --fsize=8589934592 -- /opt/tool -c x y',
      ].join(' '),
    )
  })

  it('leaves the network only to a policy that is not offline', () => {
    const online = { ...boundary, policy: { ...boundary.policy, offline: false } }
    expect(confinedArguments(online, command)).not.toContain('--unshare-net')
    expect(systemMounts(true)).not.toContain('/etc/resolv.conf')
  })

  it('gives temporary files at most 512 MiB each', () => {
    const large = confinedArguments(boundary, { ...command, memoryBytes: 8_589_934_592 })
    expect(large[large.indexOf('--size') + 1]).toBe('536870912')
  })

  it('refuses a program that is not absolute', () => {
    expect(() => confinedArguments(boundary, { ...command, program: 'tool' })).toThrow(/absolute/)
  })
})

describe('the system that a command sees', () => {
  it('is never all of /etc, and nothing that is absent', () => {
    const mounts = systemMounts(false)
    expect(mounts).not.toContain('/etc')
    expect(mounts).not.toContain('/etc/shadow')
    expect(mounts).toContain('/usr')
    expect(mounts).not.toContain('/libx33')
  })
})
