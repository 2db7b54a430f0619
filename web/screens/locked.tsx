import { useEffect, useRef, useState } from 'preact/hooks'
import { Logo } from '../icons/logo.tsx'
import { Problem } from '../parts/banner.tsx'
import { useBusy } from '../parts/busy.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { useKeyText } from '../parts/own-key.ts'
import { unlock, unlockWithKey } from '../state/lock.ts'
import { words } from '../words/index.ts'
import { settings } from '../words/settings.ts'

/** In place of everything, until the owner of the device has shown to be there. */
export function LockedScreen() {
  const [typed, setTyped] = useState<string>()
  const [problem, setProblem] = useState<'lock' | 'key'>()
  const { isBusy, run } = useBusy()
  const key = useKeyText()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const before = document.title
    document.title = words.app
    heading.current?.focus()
    return () => {
      document.title = before
    }
  }, [])
  const open = (event: Event) => {
    event.preventDefault()
    if (typed === undefined) void run(async () => setProblem((await unlock()) ? undefined : 'lock'))
    else setProblem(key !== undefined && unlockWithKey(typed, key) ? undefined : 'key')
  }
  return (
    <form class="screen flow" onSubmit={open}>
      <div class="scroll">
        <div class="col narrow centred">
          <Logo size={72} />
          <h1 ref={heading} tabIndex={-1}>
            {settings.locked}
          </h1>
          <p class="lead">{settings.lockedText}</p>
          {typed !== undefined && (
            <Field
              label={words.settings.key}
              value={typed}
              onInput={setTyped}
              error={problem === 'key' ? settings.unlockKeyWrong : undefined}
              isCode
              hasFocus
            />
          )}
          {problem === 'lock' && typed === undefined && <Problem title={settings.unlockFailed} />}
        </div>
      </div>
      <footer class="foot">
        <Button look="primary" type="submit" isLarge isWide busy={isBusy && settings.lockAsking}>
          {settings.unlock}
        </Button>
        {typed === undefined && (
          <Button look="text" isWide onClick={() => setTyped('')}>
            {settings.unlockKey}
          </Button>
        )}
      </footer>
    </form>
  )
}
