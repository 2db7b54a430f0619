import { Icon } from '../icons/icon.tsx'
import { Button } from '../parts/button.tsx'
import { live } from '../state/account.ts'
import { now } from '../state/clock.ts'
import { limitEnd } from '../state/going-on.ts'
import type { Transcript } from '../state/transcript.ts'
import { session as words } from '../words/session.ts'
import { clockTime } from '../words/time.ts'

/** The agent may do nothing for a while: until when, and that it shall go on by itself then. */
export function LimitCard({ id, transcript }: { id: string; transcript: Transcript }) {
  const link = live.value
  const endsAt = limitEnd(transcript, now.value)
  if (endsAt === undefined) return null
  const asked = link?.goingsOn.all.value.find(({ key }) => key === id)
  const time = clockTime(endsAt, now.value)
  return (
    <div class="terminal-note">
      <Icon name="clock-3" />
      <span role="status">
        <b>{words.limitUntil(time)}</b> {asked ? words.goesOn(time) : words.limitWaits}
      </span>
      {link && (
        <Button look="quiet" onClick={() => void (asked ? link.goingsOn.withdraw(id) : link.goingsOn.ask(id, endsAt, words.goOnText))}>
          {asked ? words.goOnNot : words.goOnThen}
        </Button>
      )}
    </div>
  )
}
