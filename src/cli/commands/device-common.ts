/** The options that every device command takes. */
export const state = ['--state <dir>', "the device's own directory (default HOME/device)"] as const
export const loopback = ['--loopback-test', 'also allows relays at ws:// loopback addresses'] as const

/** The actions of the device, loaded when one is needed. */
export function deviceActions(): Promise<typeof import('../device/actions.ts')> {
  return import('../device/actions.ts')
}

/** What a device sends, loaded when it is needed. */
export function deviceSends(): Promise<typeof import('../device/sends.ts')> {
  return import('../device/sends.ts')
}
