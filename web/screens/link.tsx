import { useEffect, useState } from 'preact/hooks'
import { Problem } from '../parts/banner.tsx'
import { FlowBar } from '../parts/bar.tsx'
import { Button } from '../parts/button.tsx'
import { copy } from '../parts/copy.ts'
import type { QrDrawing } from '../parts/qr.ts'
import { go } from '../router.ts'
import { adoptAccount, guessDeviceName } from '../state/account.ts'
import { base64Of } from '../state/base64.ts'
import { words } from '../words/index.ts'

type Waiting = { type: 'waiting'; link: string; qr: QrDrawing } | { type: 'expired' } | { type: 'unreadable' } | { type: 'starting' }

/** A new device shows a code to one that has the account, and waits until that one hands the account over. */
export function LinkScreen() {
  const [attempt, setAttempt] = useState(0)
  const [state, setState] = useState<Waiting>({ type: 'starting' })
  const [hasTrouble, setTrouble] = useState(false)

  useEffect(() => {
    const gone = new AbortController()
    setState({ type: 'starting' })
    waitForAccount({ signal: gone.signal, onState: setState, onTrouble: setTrouble }).catch(() => {
      if (!gone.signal.aborted) setState({ type: 'expired' })
    })
    return () => gone.abort()
  }, [attempt])

  return (
    <div class="screen flow">
      <FlowBar back={{ name: 'welcome' }} />
      <div class="scroll">
        <div class="col narrow">
          <h1 tabIndex={-1}>{words.link.title}</h1>
          <p class="lead">{words.link.lead}</p>
          {state.type === 'waiting' && (
            <svg class="qr" viewBox={state.qr.viewBox} role="img" aria-label={words.link.qr}>
              <path d={state.qr.path} />
            </svg>
          )}
          {state.type === 'waiting' && <p role="status">{hasTrouble ? words.link.trouble : words.link.waits}</p>}
          {state.type === 'waiting' && <p class="hint">{words.link.risk}</p>}
          {state.type === 'expired' && <Problem title={words.link.expired} text={words.link.expiredText} />}
          {state.type === 'unreadable' && <Problem title={words.link.unreadable} />}
        </div>
      </div>
      <footer class="foot">
        {state.type === 'waiting' && (
          <Button look="quiet" isLarge isWide icon="copy" onClick={() => void copy(state.link)}>
            {words.link.copy}
          </Button>
        )}
        {(state.type === 'expired' || state.type === 'unreadable') && (
          <Button look="primary" isLarge isWide onClick={() => setAttempt(attempt + 1)}>
            {words.link.fresh}
          </Button>
        )}
      </footer>
    </div>
  )
}

async function waitForAccount(options: {
  signal: AbortSignal
  onState(state: Waiting): void
  onTrouble(hasTrouble: boolean): void
}): Promise<void> {
  const [{ cryptoReady, startDeviceLinking }, { drawQr }] = await Promise.all([
    import('../../lib/client/index.ts'),
    import('../parts/qr.ts')
  ])
  await cryptoReady()
  const linking = startDeviceLinking({
    server: location.origin,
    deviceName: guessDeviceName(),
    fetch: (url, init) => fetch(url, init),
    onTrouble: trouble => options.onTrouble(trouble !== undefined)
  })
  if (options.signal.aborted) return
  options.onState({ type: 'waiting', link: linking.link, qr: drawQr(linking.link) })
  const end = await linking.wait(options.signal)
  if (end.type !== 'paired') return options.onState(end)
  await adoptAccount({ secret: base64Of(end.keys.secret), token: end.token, deviceName: guessDeviceName() })
  go({ name: 'home' }, 'replace')
}
