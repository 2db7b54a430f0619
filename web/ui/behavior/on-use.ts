import { signal } from '@preact/signals'
import { loadLaterWords } from '../../words/translations.ts'

/** Code that is loaded on first use. */
interface OnUse<Module> {
  /** Undefined until it is loaded; then a component that called this is rendered again. */
  get(): Module | undefined
  /** Resolves once it is loaded. */
  load(): Promise<Module>
}

/** Retries until the code can be loaded. */
export function onUse<Module>(fetch: () => Promise<Module>): OnUse<Module> {
  const here = signal<Module | undefined>(undefined)
  let loading: Promise<Module> | undefined
  const load = async (): Promise<Module> => {
    try {
      await loadLaterWords()
      here.value = await fetch()
      return here.value
    } catch {
      await new Promise(resolve => setTimeout(resolve, againMs))
      return load()
    }
  }
  const start = () => {
    loading ??= load()
    return loading
  }
  return {
    get() {
      if (here.value === undefined) void start()
      return here.value
    },
    load: start
  }
}

const againMs = 3_000
