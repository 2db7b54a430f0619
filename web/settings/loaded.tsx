import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { live } from '../model/account/account.ts'
import type { Live } from '../model/account/live.ts'
import { Problem } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'
import { words } from '../words/index.ts'
import { settings } from '../words/settings.ts'

type Reading<Value> = { type: 'loading' } | { type: 'failed' } | { type: 'here'; value: Value }

/** Data from the server, read when the screen opens and whenever `again` is called; the old data stays on screen meanwhile. */
export function Loaded<Value>(props: {
  read(link: Live): Promise<Value>
  /** Also reads at this interval while the page is visible. */
  everyMs?: number
  show(value: Value, again: () => void): ComponentChildren
}) {
  const link = live.value
  const [reading, setReading] = useState<Reading<Value>>({ type: 'loading' })
  const [attempt, setAttempt] = useState(0)
  const again = () => setAttempt(count => count + 1)
  useEffect(() => {
    if (!link) return
    let isGone = false
    props
      .read(link)
      .then(value => !isGone && setReading({ type: 'here', value }))
      .catch(() => !isGone && setReading(before => (before.type === 'here' ? before : { type: 'failed' })))
    return () => {
      isGone = true
    }
  }, [link, attempt])
  useEffect(() => {
    if (props.everyMs === undefined) return
    const timer = setInterval(() => document.visibilityState === 'visible' && again(), props.everyMs)
    return () => clearInterval(timer)
  }, [props.everyMs])

  switch (reading.type) {
    case 'loading':
      return (
        <p class="lead" role="status">
          {settings.devices.loading}
        </p>
      )
    case 'failed':
      return (
        <>
          <Problem title={settings.devices.failed} text={settings.devices.failedText} />
          <Button
            look="quiet"
            onClick={() => {
              setReading({ type: 'loading' })
              again()
            }}
          >
            {words.tryAgain}
          </Button>
        </>
      )
    case 'here':
      return <>{props.show(reading.value, again)}</>
  }
}
