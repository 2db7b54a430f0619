import { useEffect, useMemo } from 'preact/hooks'
import type { Live } from '../model/account/live.ts'
import type { Channel } from '../model/notifications/notifications.ts'
import { testTappedAt } from '../model/notifications/test-tapped.ts'
import { Problem } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'
import { Ring } from '../ui/icons/glyph.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { delayInWords, notifications as words } from '../words/notifications.ts'
import { type TestRun, testOf } from './notification-test.ts'

/** Sends a test to a channel and shows its progress. */
export function TestButton({ link, channel }: { link: Live; channel: Channel }) {
  const test = useMemo(() => testOf(link, channel), [link, channel.id])
  useEffect(() => () => test.stop(), [test])
  const run = test.run.value
  return (
    <>
      <Button look="quiet" icon="bell-ring" isWide onClick={() => void test.send()} busy={run?.type === 'sending' && words.testing}>
        {words.test}
      </Button>
      {run && <Course run={run} />}
    </>
  )
}

function Course({ run }: { run: TestRun }) {
  switch (run.type) {
    case 'sending':
      return null
    case 'handed-over':
      return <Stages all={[words.tested.handedOver]} reached={1} />
    case 'sent':
      return (
        <>
          <Stages all={[words.tested.sent(delayInWords(run.afterMs)), words.tested.waiting]} reached={1} />
          {run.isLate && <Problem title={words.tested.late} text={words.tested.lateText} />}
        </>
      )
    case 'shown': {
      const { beganAt, sentMs, shownMs } = run
      const tappedAt = testTappedAt.value
      const tapped = tappedAt === undefined || tappedAt < beganAt ? [] : [words.tested.tapped(delayInWords(tappedAt - beganAt))]
      const all = [words.tested.sent(delayInWords(sentMs)), words.tested.shown(delayInWords(shownMs)), ...tapped]
      return <Stages all={all} reached={all.length} />
    }
    case 'failed':
      return run.why === 'unreached' ? (
        <Problem title={words.tested.failed} text={words.tested.failedText} />
      ) : (
        <Problem title={words.tested.failed} text={words.causes[run.why]} />
      )
  }
}

function Stages({ all, reached }: { all: readonly string[]; reached: number }) {
  return (
    <ol class="life" aria-live="polite">
      {all.map((stage, index) => (
        <li key={stage} class={index < reached ? 'd' : 'c'}>
          {index < reached ? (
            <Icon name="check" />
          ) : (
            <span class="s-ring">
              <Ring />
            </span>
          )}
          {stage}
        </li>
      ))}
    </ol>
  )
}
