import { useEffect, useRef, useState } from 'preact/hooks'
import { unlock, unlockWithKey } from '../core/lock.ts'
import { useKeyText } from '../keys/own-key.ts'
import { Problem } from '../ui/banner.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Logo } from '../ui/icons/logo.tsx'
import { words } from '../words/index.ts'

/** Replaces the whole app until the owner of the device has been verified. */
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
            {words.locked.title}
          </h1>
          <p class="lead">{words.locked.text}</p>
          {typed !== undefined && (
            <Field
              label={words.locked.key}
              value={typed}
              onInput={setTyped}
              error={problem === 'key' ? words.locked.keyWrong : undefined}
              isCode
              hasFocus
            />
          )}
          {problem === 'lock' && typed === undefined && <Problem title={words.locked.failed} />}
        </div>
      </div>
      <footer class="foot">
        <Button look="primary" type="submit" isLarge isWide busy={isBusy && words.locked.asking}>
          {words.locked.unlock}
        </Button>
        {typed === undefined && (
          <Button look="text" isWide onClick={() => setTyped('')}>
            {words.locked.withKey}
          </Button>
        )}
      </footer>
    </form>
  )
}
