import { signal } from '@preact/signals'
import { loadLaterWords } from '../../words/translations.ts'

/** Code that comes when it is first needed. */
interface OnUse<Module> {
  /** Undefined until it is here; a component that asks is drawn anew then. */
  get(): Module | undefined
  /** Resolves once it is here. */
  load(): Promise<Module>
}

/** What could not be fetched is asked for again until it can. */
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
