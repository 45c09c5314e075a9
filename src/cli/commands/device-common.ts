import type { Command, OptionValues } from '@commander-js/extra-typings'
import { many, word } from '../options.ts'

/** The options that every device command takes. */
export const state = ['--state <dir>', "the device's own directory (default HOME/device)"] as const
export const loopback = ['--loopback-test', 'also allows relays at ws:// loopback addresses'] as const

/** Adds the options of a command that a device gives, or the owner of a host in its place. */
export function byDeviceOrOwner<A extends unknown[], O extends OptionValues>(command: Command<A, O>) {
  return byApprover(command)
    .option('--host <key>', 'with an owner: which host (default that of --state)', word)
    .option('--relay <url>', 'with an owner: over which relay (default that of --state)', word)
}

/** The same where the host is named in any case. */
export function byApprover<A extends unknown[], O extends OptionValues>(command: Command<A, O>) {
  // Any words are taken, any number of times: what commander says of wrong ones would show a secret.
  return command
    .option(...state, word)
    .option(...loopback)
    .option(
      '--owner-signer <signer>',
      "asks as the host's owner, whose key is in a remote signer (NIP-46): a file with its bunker:// address, or -",
      many,
    )
    .option('--owner-key-file <file>', "asks as the host's owner, whose key is in this private file", word)
}

/** The actions of the device, loaded when one is needed. */
export function deviceActions(): Promise<typeof import('../device/actions.ts')> {
  return import('../device/actions.ts')
}

/** What a device sends, loaded when it is needed. */
export function deviceSends(): Promise<typeof import('../device/sends.ts')> {
  return import('../device/sends.ts')
}
