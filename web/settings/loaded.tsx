import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { live } from '../model/account/account.ts'
import type { Live } from '../model/account/live.ts'
import { Problem } from '../ui/banner.tsx'
import { useAnswer } from '../ui/behavior/answer.ts'
import { Button } from '../ui/button.tsx'
import { words } from '../words/index.ts'
import { settings } from '../words/settings.ts'

/** Data from the server, read when the screen opens and whenever `again` is called; the old data stays on screen meanwhile. */
export function Loaded<Value extends NonNullable<unknown>>(props: {
  read(link: Live): Promise<Value>
  /** Also reads at this interval while the page is visible. */
  everyMs?: number
  show(value: Value, again: () => void): ComponentChildren
}) {
  const link = live.value
  const [attempt, setAttempt] = useState(0)
  const { last: value, error, again } = useAnswer(link && (() => props.read(link)), [link, attempt])
  useEffect(() => {
    if (props.everyMs === undefined) return
    const timer = setInterval(() => document.visibilityState === 'visible' && again(), props.everyMs)
    return () => clearInterval(timer)
  }, [props.everyMs])

  if (value !== undefined) return <>{props.show(value, again)}</>
  if (error === undefined) {
    return (
      <p class="lead" role="status">
        {settings.devices.loading}
      </p>
    )
  }
  return (
    <>
      <Problem title={settings.devices.failed} text={settings.devices.failedText} />
      <Button look="quiet" onClick={() => setAttempt(attempt + 1)}>
        {words.tryAgain}
      </Button>
    </>
  )
}
