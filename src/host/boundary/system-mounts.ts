import { lstatSync, readlinkSync, statSync } from 'node:fs'

/** The system's programs and libraries. */
const directories = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix/store',
  '/run/current-system',
]

/** Never all of `/etc`: it holds secrets. */
const settings = [
  'alternatives',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'ssl',
  'ca-certificates',
  'pki',
  'nsswitch.conf',
  'hosts',
  'passwd',
  'group',
  'mime.types',
]

/**
 * Backend arguments that show this machine's system directories and a chosen few of its settings, read-only; links
 * among them stay links. With a network, also how names are looked up.
 */
export function systemMounts(offline: boolean): string[] {
  const files = offline ? settings : [...settings, 'resolv.conf']
  return [...directories.flatMap(directoryMount), ...files.flatMap((name) => settingMount(`/etc/${name}`))]
}

function directoryMount(path: string): string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return []
  return stat.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}

function settingMount(path: string): string[] {
  return statSync(path, { throwIfNoEntry: false }) === undefined ? [] : ['--ro-bind', path, path]
}
