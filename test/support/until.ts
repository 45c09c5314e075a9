/** Resolves once `holds` does, looking every 10 ms; gives up after `waitMs`. */
export async function until(holds: () => boolean | Promise<boolean>, waitMs = 15_000): Promise<void> {
  const end = performance.now() + waitMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('it never came true')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
