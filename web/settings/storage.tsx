import { useEffect, useRef, useState } from 'preact/hooks'
import { live } from '../model/account/account.ts'
import { eraseDevice } from '../model/account/sign-in.ts'
import { home } from '../model/home.ts'
import { Problem } from '../ui/banner.tsx'
import { useAnswer } from '../ui/behavior/answer.ts'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { settings } from '../words/settings.ts'
import { bytes } from '../words/size.ts'
import { OwnSwitch } from './pages.tsx'
import { ServerStorageSection } from './server-storage.tsx'

export function StoragePage() {
  const [isErasing, setErasing] = useState(false)
  return (
    <>
      <SizesHere />
      <ServerStorageSection />
      <section class="grp">
        <div class="card tight">
          <OwnSwitch name="lowData" />
        </div>
      </section>
      <Export />
      <div class="card tight">
        <button class="irow dng" type="button" onClick={() => setErasing(true)}>
          <Icon name="trash" />
          <span>
            <b>{settings.erase}</b>
            <small>{settings.eraseHint}</small>
          </span>
        </button>
      </div>
      {isErasing && <EraseSheet onClose={() => setErasing(false)} />}
    </>
  )
}

function SizesHere() {
  const { value: here } = useAnswer(estimate, [])
  return (
    <section class="grp">
      <h2>{settings.here}</h2>
      <dl class="facts">
        <div>
          <dt>{settings.hereSize}</dt>
          <dd>{here?.usage === undefined ? settings.unknownSize : bytes(here.usage)}</dd>
        </div>
        {here?.quota !== undefined && (
          <div>
            <dt>{settings.hereFree}</dt>
            <dd>{bytes(here.quota - (here.usage ?? 0))}</dd>
          </div>
        )}
        <div>
          <dt>{settings.herePersists}</dt>
          <dd>{here?.isPersistent ? settings.persists : settings.mayGo}</dd>
        </div>
      </dl>
    </section>
  )
}

async function estimate() {
  const [{ usage, quota }, isPersistent] = await Promise.all([navigator.storage.estimate(), navigator.storage.persisted()])
  return { usage, quota, isPersistent }
}

type Exporting = { type: 'still' } | { type: 'busy'; done: number; all: number } | { type: 'done'; sealed: number } | { type: 'failed' }

function Export() {
  const [state, setState] = useState<Exporting>({ type: 'still' })
  const stopped = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => stopped.current?.abort(), [])
  const start = async () => {
    const link = live.peek()
    if (!link) return setState({ type: 'failed' })
    stopped.current = new AbortController()
    setState({ type: 'busy', done: 0, all: home.peek().sessions.size })
    try {
      const { exportAll, saveFile } = await import('../model/transcript/export/export.ts')
      const { file, sealed } = await exportAll(link, {
        signal: stopped.current.signal,
        onProgress: (done, all) => setState({ type: 'busy', done, all })
      })
      saveFile(file, settings.exportName(new Date().toISOString().slice(0, 10)))
      setState({ type: 'done', sealed })
    } catch {
      setState(stopped.current.signal.aborted ? { type: 'still' } : { type: 'failed' })
    }
  }
  return (
    <section class="grp">
      <h2>{settings.exportAll}</h2>
      <p class="lead">{settings.exportText}</p>
      {state.type === 'busy' && (
        <p class="lead" role="status">
          {settings.exporting(state.done, state.all)} <progress max={state.all} value={state.done} />
        </p>
      )}
      {state.type === 'done' && (
        <p class="lead" role="status">
          {settings.exportDone} {state.sealed > 0 && settings.exportPartly(state.sealed)}
        </p>
      )}
      {state.type === 'failed' && <Problem title={settings.exportFailed} text={settings.exportFailedText} />}
      <div class="acts">
        {state.type === 'busy' ? (
          <Button look="quiet" icon="x" onClick={() => stopped.current?.abort()}>
            {settings.exportStop}
          </Button>
        ) : (
          <Button look="quiet" icon="download" onClick={() => void start()}>
            {settings.exportAll}
          </Button>
        )}
      </div>
    </section>
  )
}

function EraseSheet({ onClose }: { onClose(): void }) {
  const { isBusy, run } = useBusy()
  return (
    <Sheet title={settings.eraseTitle} onClose={onClose}>
      <p class="lead">{settings.eraseText}</p>
      <p class="lead danger-t">{settings.page.signOutText}</p>
      <Button look="danger" isLarge isWide onClick={() => void run(eraseDevice)} busy={isBusy && settings.erasing}>
        {settings.eraseConfirm}
      </Button>
    </Sheet>
  )
}
