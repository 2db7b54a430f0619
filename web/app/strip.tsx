import { useEffect, useState } from 'preact/hooks'
import { checkClock, clockOff } from '../core/clock.ts'
import { type Connection, lastingConnection, lastingProgress, type Progress } from '../core/connection.ts'
import { isFull, isServerFull } from '../core/free-space.ts'
import { route } from '../core/router.ts'
import { isNewerReady, reloadIntoNewer } from '../core/updates.ts'
import { account, live } from '../model/account/account.ts'
import { home } from '../model/home.ts'
import { unsent } from '../model/outbox/unsent.ts'
import { Banner } from '../ui/banner.tsx'
import { words } from '../words/index.ts'
import { clockTime, date, lasting } from '../words/time.ts'

/** The strip above every screen: problems of the connection, once they have lasted a while. */
export function Strip() {
  const here = account.value
  if (here.type === 'unlinked') {
    return (
      <Banner icon="unlink" isAway title={words.connection.unlinked(date(here.at))} text={words.connection.unlinkedText}>
        {route.value.name !== 'start' && (
          <a class="txt" href="/start">
            {words.welcome.signInAgain}
          </a>
        )}
      </Banner>
    )
  }
  if (here.type !== 'here') return isNewerReady.value ? <NewerStrip /> : null
  return <LinkStrip link={lastingConnection.value} />
}

function LinkStrip({ link }: { link: Connection }) {
  switch (link.type) {
    case 'catching-up':
      return <CatchingUp progress={lastingProgress.value} />
    case 'offline':
      return <Banner icon="wifi-off" isAway title={words.connection.offline} text={offlineText()} />
    case 'silent':
      return <SilentStrip nextTryAt={link.nextTryAt} />
    case 'live':
    case 'starting':
      if (lastingProgress.value) return <CatchingUp progress={lastingProgress.value} />
      if (isServerFull.value) return <Banner icon="circle-alert" title={words.full.server} text={words.full.serverText} />
      if (isFull.value) return <FullStrip />
      if (clockOff.value !== 0) return <ClockStrip />
      return isNewerReady.value ? <NewerStrip /> : null
  }
}

function CatchingUp({ progress }: { progress: Progress | undefined }) {
  const text = progress ? words.connection.messagesOf(progress.done, progress.all) : words.connection.catchingUpText
  return <Banner icon="refresh-cw" spins title={words.connection.catchingUp} text={text} />
}

function FullStrip() {
  return (
    <Banner icon="circle-alert" title={words.full.device} text={words.full.deviceText}>
      <a class="txt" href="/settings/storage">
        {words.full.free}
      </a>
    </Banner>
  )
}

function ClockStrip() {
  return (
    <Banner
      icon="clock-3"
      title={words.connection.clockOff(lasting(Math.round(Math.abs(clockOff.value) / 60_000) * 60_000), clockOff.value > 0)}
      text={words.connection.clockOffText}
    >
      <button class="txt" type="button" onClick={() => void checkClock()}>
        {words.tryAgain}
      </button>
    </Banner>
  )
}

function NewerStrip() {
  return (
    <Banner icon="download" title={words.connection.newer} text={words.connection.newerText}>
      <button class="txt" type="button" onClick={reloadIntoNewer}>
        {words.connection.reload}
      </button>
    </Banner>
  )
}

function SilentStrip({ nextTryAt }: { nextTryAt: number | undefined }) {
  const seconds = useSecondsUntil(nextTryAt)
  const isBlocked = useIsBlocked(nextTryAt)
  const retrying = seconds === undefined ? words.connection.silentNow : words.connection.silentNext(seconds)
  return (
    <Banner
      icon="server-off"
      isAway
      title={isBlocked ? words.connection.blocked : words.connection.silent}
      text={isBlocked ? words.connection.blockedText : retrying}
    >
      <button class="txt" type="button" onClick={() => live.value?.socket.reconnectNow()}>
        {words.connection.tryNow}
      </button>
    </Banner>
  )
}

/**
 * Whether the server answers requests although no WebSocket opens. Only after two attempts: between one and the question the server may
 * have come back.
 */
function useIsBlocked(nextTryAt: number | undefined): boolean {
  const [times, setTimes] = useState(0)
  useEffect(() => {
    const state = live.peek()?.socket.state
    if (nextTryAt === undefined || state?.type !== 'down') return
    if (state.reason !== 'websocket error') return setTimes(0)
    let isStale = false
    const note = (answers: boolean) => {
      if (!isStale) setTimes(times => (answers ? times + 1 : 0))
    }
    fetch('/health', { method: 'HEAD' }).then(
      ({ ok }) => note(ok),
      () => note(false)
    )
    return () => {
      isStale = true
    }
  }, [nextTryAt])
  return times > 1
}

function offlineText(): string {
  const { asOf } = home.value
  const stood = asOf === undefined ? words.connection.offlineNothing : words.connection.offlineText(clockTime(asOf, Date.now()))
  const { starts = [], replies = [], messages = [] } = unsent.value ?? {}
  const waiting = messages.reduce((sum, { count }) => sum + count, starts.length + replies.length)
  return waiting === 0 ? stood : `${stood} ${words.connection.leaves(waiting)}`
}

function useSecondsUntil(at: number | undefined): number | undefined {
  const [seconds, setSeconds] = useState<number>()
  useEffect(() => {
    const count = () => {
      const left = at === undefined ? 0 : Math.ceil((at - Date.now()) / 1000)
      setSeconds(left > 0 ? left : undefined)
    }
    count()
    const counting = setInterval(count, 1000)
    return () => clearInterval(counting)
  }, [at])
  return seconds
}
