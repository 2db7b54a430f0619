import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Sheet } from '../parts/sheet.tsx'
import type { SessionModel } from '../state/session.ts'
import type { SessionFacts } from '../state/session-facts.ts'
import { session as words } from '../words/session.ts'

/** What can be done with a session besides talking in it. */
export function SessionMenu({ model, facts }: { model: SessionModel; facts: SessionFacts }) {
  const [open, setOpen] = useState<'menu' | 'info' | 'end'>()
  const menu = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (open !== 'menu') return
    const leave = (event: Event) => {
      const isInside = event.target instanceof Node && menu.current?.contains(event.target) === true
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !isInside) setOpen(undefined)
    }
    addEventListener('pointerdown', leave)
    addEventListener('keydown', leave)
    menu.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus()
    return () => {
      removeEventListener('pointerdown', leave)
      removeEventListener('keydown', leave)
    }
  }, [open])
  return (
    <div class="menu-w" ref={menu}>
      <button
        class="ib"
        type="button"
        aria-label={words.menu}
        aria-haspopup="menu"
        aria-expanded={open === 'menu'}
        onClick={() => setOpen(open === undefined ? 'menu' : undefined)}
      >
        <Icon name="ellipsis-vertical" />
      </button>
      {open === 'menu' && (
        <div class="menu" role="menu">
          <button type="button" role="menuitem" onClick={() => setOpen('info')}>
            <Icon name="info" />
            {words.info}
          </button>
          {facts.presence === 'here' && (
            <button type="button" role="menuitem" class="danger" onClick={() => setOpen('end')}>
              <Icon name="log-out" />
              {words.stopAgent}
            </button>
          )}
        </div>
      )}
      {open === 'info' && <InfoSheet facts={facts} onClose={() => setOpen(undefined)} />}
      {open === 'end' && <EndSheet model={model} facts={facts} onClose={() => setOpen(undefined)} />}
    </div>
  )
}

function InfoSheet({ facts, onClose }: { facts: SessionFacts; onClose(): void }) {
  const rows: [string, string | undefined][] = [
    [words.facts.folder, facts.path],
    [words.facts.branch, facts.branch],
    [words.facts.machine, facts.host],
    [words.facts.agent, facts.agent],
    [words.facts.version, facts.version],
    [words.facts.process, facts.process?.toString()],
    [words.facts.id, facts.id]
  ]
  return (
    <Sheet title={words.info} onClose={onClose}>
      <dl class="facts">
        {rows.map(
          ([name, value]) =>
            value !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <bdi>{value}</bdi> {name === words.facts.id && <CopyButton text={value} what={name} />}
                </dd>
              </div>
            )
        )}
      </dl>
    </Sheet>
  )
}

function EndSheet({ model, facts, onClose }: { model: SessionModel; facts: SessionFacts; onClose(): void }) {
  const [state, setState] = useState<'asked' | 'failed'>()
  const end = async () => {
    setState('asked')
    const isDone = await model.end()
    if (isDone) history.back()
    else setState('failed')
  }
  return (
    <Sheet title={words.stopAgentTitle(facts.agentShort)} onClose={onClose}>
      <p class="lead">{words.stopAgentHint}</p>
      {state === 'failed' && (
        <p class="problem" role="alert">
          <Icon name="circle-alert" />
          <span>{words.stopAgentFailed(facts.host)}</span>
        </p>
      )}
      <div class="acts two">
        <button class="btn quiet lg" type="button" onClick={() => history.back()}>
          {words.cancel}
        </button>
        <button
          class={`btn danger lg ${state === 'asked' ? 'busy' : ''}`}
          type="button"
          aria-disabled={state === 'asked' ? true : undefined}
          onClick={() => state !== 'asked' && void end()}
        >
          {state === 'asked' ? words.stopping : words.stopAgent}
        </button>
      </div>
    </Sheet>
  )
}
