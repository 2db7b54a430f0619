import { registerHooks } from 'node:module'

/** Loads a file of the sources changed. A change that changes nothing ends the process: a control must not pass unnoticed. */
export function changeSource(file, change) {
  const url = new URL(`../../${file}`, import.meta.url).href
  registerHooks({
    load(asked, context, next) {
      const loaded = next(asked, context)
      if (asked !== url) return loaded
      const source = change(String(loaded.source))
      if (source === String(loaded.source)) throw new Error(`${file} has changed, and this control with it.`)
      return { ...loaded, source }
    }
  })
}
