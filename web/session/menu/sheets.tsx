import { useState } from 'preact/hooks'
import { trueNow } from '../../core/clock.ts'
import { go } from '../../core/router.ts'
import { live } from '../../model/account/account.ts'
import { notConnected, type Trouble } from '../../model/account/machine-call.ts'
import { forkSession } from '../../model/histories.ts'
import { home } from '../../model/home.ts'
import { hasDaemon } from '../../model/machines.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { changeMetadata } from '../../model/session/metadata.ts'
import type { SessionModel } from '../../model/session/session.ts'
import { sendFirstMessage } from '../../model/start-and-stop.ts'
import type { Said } from '../../model/transcript/fork-point.ts'
import { SessionNotifications } from '../../notifications/session-notifications.tsx'
import { Problem } from '../../ui/banner.tsx'
import { useBusy } from '../../ui/behavior/busy.ts'
import { closeLayer } from '../../ui/behavior/layers.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { words } from '../../words/index.ts'
import { lists } from '../../words/lists.ts'
import { session } from '../../words/session.ts'
import { TroubleCard } from '../machine/trouble.tsx'
import { InfoSheet } from './info.tsx'

interface About {
  facts: SessionFacts
  onClose(): void
}

export function RenameSheet({ facts, onClose }: About) {
  const [title, setTitle] = useState(facts.title ?? '')
  const [hasFailed, setFailed] = useState(false)
  const { isBusy, run } = useBusy()
  const link = live.value
  const text = title.trim()
  const save = () =>
    run(async () => {
      if (text === '') return
      if (!link) return setFailed(true)
      setFailed(false)
      const summary = { text, updatedAt: trueNow() }
      const isDone = await changeMetadata(link, facts.id, metadata => ({ ...metadata, name: text, summary })).then(
        () => true,
        () => false
      )
      if (isDone) closeLayer()
      else setFailed(true)
    })
  return (
    <Sheet title={lists.rename} onClose={onClose}>
      <form
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        <Field label={lists.renameLabel} value={title} onInput={setTitle} />
        {hasFailed && <Problem title={lists.notDone} />}
        <div class="acts">
          <Button look="primary" type="submit" isLarge isWide isOff={text === ''} busy={isBusy && lists.saving}>
            {lists.renameSave}
          </Button>
        </div>
      </form>
    </Sheet>
  )
}

/** A fork of the whole conversation, or up to the turn of one message. */
export function ForkSheet({ facts, after, onClose }: About & { after?: Said }) {
  const [trouble, setTrouble] = useState<Trouble>()
  const { isBusy, run } = useBusy()
  const link = live.value
  const machine = home.value.machines.get(home.value.sessions.get(facts.id)?.metadata?.machineId ?? '')
  const canFork = machine !== undefined && hasDaemon(machine)
  const fork = () =>
    run(async () => {
      if (!machine) return
      if (!link) return setTrouble(notConnected)
      setTrouble(undefined)
      const outcome = await forkSession(link, machine.id, facts.id, after)
      if (outcome === 'not-there') return setTrouble({ type: 'failed', why: 'failed', says: lists.forkNotThere(facts.agentShort) })
      if (typeof outcome !== 'string') return setTrouble(outcome)
      await sendFirstMessage(link, outcome, '')
      go({ name: 'session', id: outcome, view: [] }, 'replace')
    })
  return (
    <Sheet title={lists.forkTitle} onClose={onClose}>
      <p class="lead">{!canFork ? lists.noDaemon(facts.host) : after ? lists.forkTextAt(facts.host) : lists.forkText(facts.host)}</p>
      {after && (
        <blockquote class="quoted" dir="auto">
          {after.text}
        </blockquote>
      )}
      {trouble && <TroubleCard title={lists.forkFailed} trouble={trouble} host={facts.host} />}
      <div class="acts two">
        <Button look="quiet" isLarge onClick={closeLayer}>
          {words.cancel}
        </Button>
        <Button look="primary" isLarge isOff={!canFork} onClick={() => void fork()} busy={isBusy && lists.forking}>
          {lists.fork}
        </Button>
      </div>
    </Sheet>
  )
}

export function ExportSheet({ facts, onClose }: About) {
  const [hasFailed, setFailed] = useState(false)
  const { isBusy, run } = useBusy()
  const link = live.value
  const save = (form: 'md' | 'json') => () =>
    void run(async () => {
      const session = home.peek().sessions.get(facts.id)
      if (!link || !session) return setFailed(true)
      setFailed(false)
      const { exportSession, saveFile } = await import('../../model/transcript/export/export.ts')
      await exportSession(link, session, form).then(
        ({ file, name }) => saveFile(file, name),
        () => setFailed(true)
      )
    })
  return (
    <Sheet title={lists.export} onClose={onClose}>
      <p class="lead">{lists.exportText}</p>
      {hasFailed && <Problem title={lists.notDone} />}
      <div class="acts">
        <Button look="primary" isLarge isWide icon="file-text" onClick={save('md')} busy={isBusy && lists.exporting}>
          {lists.exportMarkdown}
        </Button>
        <Button look="quiet" isLarge isWide icon="download" onClick={save('json')} isOff={isBusy}>
          {lists.exportJson}
        </Button>
      </div>
    </Sheet>
  )
}

/** Asks before ending the agent. */
export function EndSheet({ model, facts, onClose }: { model: SessionModel; facts: SessionFacts; onClose(): void }) {
  const [state, setState] = useState<'asked' | 'failed'>()
  const end = async () => {
    setState('asked')
    const isDone = await model.end()
    if (isDone) closeLayer()
    else setState('failed')
  }
  return (
    <Sheet title={session.stopAgentTitle(facts.agentShort)} onClose={onClose}>
      <p class="lead">{session.stopAgentHint}</p>
      {state === 'failed' && (
        <p class="problem" role="alert">
          <Icon name="circle-alert" />
          <span>{session.stopAgentFailed(facts.host)}</span>
        </p>
      )}
      <div class="acts two">
        <button class="btn quiet lg" type="button" onClick={closeLayer}>
          {session.cancel}
        </button>
        <button
          class={`btn danger lg ${state === 'asked' ? 'busy' : ''}`}
          type="button"
          aria-disabled={state === 'asked' ? true : undefined}
          onClick={() => state !== 'asked' && void end()}
        >
          {state === 'asked' ? session.stopping : session.stopAgent}
        </button>
      </div>
    </Sheet>
  )
}

/** The sheets of the session menu. */
export const inMenu = {
  rename: RenameSheet,
  fork: ForkSheet,
  notifications: SessionNotifications,
  export: ExportSheet,
  info: InfoSheet,
  end: EndSheet
}
