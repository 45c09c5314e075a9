import { closeSync, readdirSync, readFileSync } from 'node:fs'

const closeOnExec = 0o2000000

/**
 * Closes every descriptor above 2 that a child would inherit. This process opens its own close-on-exec, so what is
 * left came from its parent, and an inherited directory is a hole in any boundary. Where there is no `/proc` it
 * does nothing.
 * @returns the descriptors that it closed
 * @see spec/execution.md §4, step 15a
 */
export function closeInheritedDescriptors(): number[] {
  return inheritable().filter((descriptor) => {
    try {
      closeSync(descriptor)
      return true
    } catch {
      return false
    }
  })
}

function inheritable(): number[] {
  let names: string[]
  try {
    names = readdirSync('/proc/self/fdinfo')
  } catch {
    return []
  }
  return names.map(Number).filter((descriptor) => descriptor > 2 && !isCloseOnExec(descriptor))
}

/** A descriptor that is gone by now counts as close-on-exec: there is nothing to close. */
function isCloseOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1]
    return flags === undefined || (Number.parseInt(flags, 8) & closeOnExec) !== 0
  } catch {
    return true
  }
}
