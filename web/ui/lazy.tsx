import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../words/index.ts'
import { loadLaterWords } from '../words/translations.ts'
import { Problem } from './banner.tsx'
import { useAnswer } from './behavior/answer.ts'
import { Button } from './button.tsx'

/**
 * A screen whose code is loaded when it is first opened. Blank while loading; if loading fails, it says so and offers to retry. Needs its
 * own `key`: two in the same place would share the loaded code.
 */
export function Lazy<Module>({ load, show }: { load(): Promise<Module>; show(module: Module): ComponentChildren }) {
  const [attempt, setAttempt] = useState(0)
  const { value: module, error } = useAnswer(() => loadLaterWords().then(load), [attempt])
  if (module) return <>{show(module)}</>
  if (error === undefined) return <div class="screen" aria-busy="true" />
  return (
    <div class="screen">
      <div class="col form">
        <h1 class="vh">{words.session.loadFailed}</h1>
        <Problem title={words.session.loadFailed} text={words.session.loadFailedText} />
        <Button look="quiet" onClick={() => setAttempt(attempt + 1)}>
          {words.tryAgain}
        </Button>
      </div>
    </div>
  )
}
