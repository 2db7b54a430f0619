import { useEffect, useState } from 'preact/hooks'
import { goOn } from '../core/router.ts'
import { pathOf } from '../core/routes.ts'
import { Problem } from '../ui/banner.tsx'
import { FlowBar } from '../ui/bar.tsx'
import { Button } from '../ui/button.tsx'
import { copy } from '../ui/copy.ts'
import type { QrDrawing } from '../ui/qr.ts'
import { joining } from '../words/joining.ts'

type Waiting =
  | { type: 'waiting'; link: string; checkCode: string | undefined; qr: QrDrawing }
  | { type: 'expired' }
  | { type: 'unreadable' }
  | { type: 'unreachable' }
  | { type: 'has-account' }
  | { type: 'starting' }

/** A new device shows a code to one that has the account, and waits until it hands the account over. */
export function LinkScreen() {
  const [attempt, setAttempt] = useState(0)
  const [forHappy, setForHappy] = useState(false)
  const [state, setState] = useState<Waiting>({ type: 'starting' })
  const [hasTrouble, setTrouble] = useState(false)

  useEffect(() => {
    const gone = new AbortController()
    setState({ type: 'starting' })
    setTrouble(false)
    waitForAccount({ forHappy, signal: gone.signal, onState: setState, onTrouble: setTrouble }).catch(() => {
      if (!gone.signal.aborted) setState({ type: 'unreachable' })
    })
    return () => gone.abort()
  }, [attempt, forHappy])

  return (
    <div class="screen flow">
      <FlowBar back={pathOf({ name: 'welcome' })} />
      <div class="scroll">
        <div class="col narrow">
          <h1 tabIndex={-1}>{joining.link.title}</h1>
          <p class="lead">{forHappy ? joining.link.leadHappy : joining.link.lead}</p>
          {state.type === 'waiting' && <Shown state={state} hasTrouble={hasTrouble} />}
          {state.type === 'expired' && <Problem title={joining.link.expired} text={joining.link.expiredText} />}
          {state.type === 'unreadable' && <Problem title={joining.link.unreadable} />}
          {state.type === 'has-account' && <Problem title={joining.create.hasAccount} text={joining.create.hasAccountText} />}
          {state.type === 'unreachable' && <Problem title={joining.pair.unreachable} text={joining.pair.unreachableText} />}
        </div>
      </div>
      <footer class="foot">
        {state.type === 'waiting' && (
          <Button look="quiet" isLarge isWide icon="copy" onClick={() => void copy(state.link)}>
            {joining.link.copy}
          </Button>
        )}
        {state.type !== 'waiting' && state.type !== 'starting' && (
          <Button look="primary" isLarge isWide onClick={() => setAttempt(attempt + 1)}>
            {joining.link.fresh}
          </Button>
        )}
        <Button look="text" isWide onClick={() => setForHappy(!forHappy)}>
          {forHappy ? joining.link.forAfield : joining.link.forHappy}
        </Button>
      </footer>
    </div>
  )
}

function Shown({ state, hasTrouble }: { state: Extract<Waiting, { type: 'waiting' }>; hasTrouble: boolean }) {
  return (
    <>
      <svg class="qr" viewBox={state.qr.viewBox} role="img" aria-label={joining.link.qr}>
        <path d={state.qr.path} />
      </svg>
      {state.checkCode !== undefined && (
        <p class="check-code">
          <span>{joining.link.code}</span>
          <b>{state.checkCode}</b>
          <small>{joining.link.codeHint}</small>
        </p>
      )}
      <p role="status">{hasTrouble ? joining.link.trouble : joining.link.waits}</p>
      <p class="hint">{joining.link.risk}</p>
    </>
  )
}

async function waitForAccount(options: {
  forHappy: boolean
  signal: AbortSignal
  onState(state: Waiting): void
  onTrouble(hasTrouble: boolean): void
}): Promise<void> {
  const { signal, onState } = options
  const [{ askForAccount }, { drawQr }] = await Promise.all([import('./account-request.ts'), import('../ui/qr.ts')])
  const { link, checkCode, wait } = await askForAccount({
    forHappy: options.forHappy,
    onTrouble: hasTrouble => !signal.aborted && options.onTrouble(hasTrouble)
  })
  if (signal.aborted) return
  onState({ type: 'waiting', link, checkCode, qr: drawQr(link) })
  const end = await wait(signal)
  if (end !== 'linked') return onState({ type: end })
  goOn()
}
