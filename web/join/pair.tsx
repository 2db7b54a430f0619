import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { arrival, go, goBack } from '../core/router.ts'
import { pathOf } from '../core/routes.ts'
import { WithCommand } from '../machines/with-command.tsx'
import { live } from '../model/account/account.ts'
import { home } from '../model/home.ts'
import { hasDaemon, nameOfMachine, sessionsOn } from '../model/machines.ts'
import { FlowBar } from '../ui/bar.tsx'
import { useAnswer } from '../ui/behavior/answer.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { toast } from '../ui/toast.ts'
import { words } from '../words/index.ts'
import { joining } from '../words/joining.ts'
import { start } from '../words/start.ts'
import { ConfirmPairing } from './pair-confirm.tsx'
import { lookAtLink, type PairingView } from './pairing.ts'

/** Shows in full what linking would mean, and links only after a confirmation. */
export function PairScreen() {
  const link = live.value
  const [view, setView] = useState<PairingView>({ type: 'checking' })
  const href = useArrivedLink()

  // Not the last one: what was seen of another link must not come back.
  const { value: seen } = useAnswer(href !== undefined && link && (() => lookAtLink(link, href)), [href, link])
  useEffect(() => {
    if (href === undefined) setView({ type: 'no-link' })
    else setView(seen ?? { type: 'checking' })
  }, [href, seen])

  switch (view.type) {
    case 'checking':
      return <Message title={joining.pair.from} text={joining.pair.checking} isBusy />
    case 'ready':
      return <ConfirmPairing key={href} view={view} onView={setView} />
    case 'linked':
      return <Linked isDevice={view.isDevice} name={view.name} />
    case 'gone':
      return <Gone />
    case 'answered':
      return <Answered view={view} />
    case 'refused':
      return <Message title={joining.pair.wrongCodesTitle} text={joining.pair.wrongCodesText} canScan />
    case 'altered':
      return <Message title={joining.pair.alteredTitle} text={joining.pair.alteredText} />
    case 'no-link':
      return <Message title={joining.pair.noLinkTitle} text={joining.pair.noLinkText} canScan />
    case 'bad-link':
      return <Message title={joining.pair.badLinkTitle} text={joining.pair.badLinkText} canScan />
    case 'other-server':
      return <OtherServer view={view} />
    case 'unreachable':
      return <Message title={joining.pair.unreachable} text={joining.pair.unreachableText} />
  }
}

function Answered({ view: { name, isYours } }: { view: Extract<PairingView, { type: 'answered' }> }) {
  if (isYours === false)
    return <Message title={joining.pair.othersTitle} text={<WithCommand sentence={joining.pair.othersText} />} canScan />
  const title = isYours && name ? joining.pair.linkedBefore(name) : joining.pair.answeredTitle
  return <Message title={title} text={joining.pair.answeredText} />
}

function Linked({ isDevice, name }: { isDevice: boolean; name: string | undefined }) {
  // The machine is known once its daemon or an agent runs there.
  const named = isDevice ? [] : [...home.value.machines.values()].filter(each => nameOfMachine(each) === name)
  const machine = named.find(hasDaemon)
  // An agent that was started on an unlinked computer waited for this.
  const running = named.flatMap(each => sessionsOn(each, home.value)).filter(({ isActive }) => isActive)
  // Several are left to Home, where they can be told apart.
  const session = running.length === 1 ? running[0] : undefined
  // Of two computers with one name, either may be the linked one.
  const isSure = named.length === 1
  useOpening(isSure ? session?.id : undefined, name)
  return (
    <div class="screen flow">
      <FlowBar back={pathOf({ name: 'home' })} icon="x" />
      <div class="scroll">
        <div class="col narrow centred">
          <span class="gl gl-done big">
            <Icon name="check" />
          </span>
          <h1 tabIndex={-1} dir="auto">
            {name ? joining.pair.doneNamed(name) : joining.pair.doneTitle}
          </h1>
          <p class="lead" role="status">
            {isDevice ? joining.pair.doneDevice : running.length > 0 ? joining.pair.doneRunning(running.length) : joining.pair.doneText}
          </p>
          {!isDevice && !machine && running.length === 0 && (
            <p class="lead">
              <WithCommand sentence={start.awayText} />
            </p>
          )}
        </div>
      </div>
      <footer class="foot">
        {session ? (
          <ButtonLink look="primary" href={pathOf({ name: 'session', id: session.id, view: [] })} isLarge isWide>
            {joining.pair.openSession}
          </ButtonLink>
        ) : (
          machine &&
          running.length === 0 && (
            <ButtonLink look="primary" href={pathOf({ name: 'new', machine: machine.id })} isLarge isWide>
              {joining.pair.startThere}
            </ButtonLink>
          )
        )}
        <ButtonLink look={session || (machine && running.length === 0) ? 'text' : 'primary'} href="/" isLarge isWide>
          {joining.pair.toHome}
        </ButtonLink>
      </footer>
    </div>
  )
}

/** A session that comes later than this is offered only: the person may be about to press something else. */
const opensWithinMs = 30_000

function useOpening(session: string | undefined, name: string | undefined): void {
  const linkedAt = useRef(performance.now())
  useEffect(() => {
    if (session === undefined || performance.now() - linkedAt.current > opensWithinMs) return
    if (name) toast(joining.pair.doneNamed(name))
    go({ name: 'session', id: session, view: [] }, 'replace')
  }, [session])
}

function Gone() {
  return <Message title={joining.pair.goneTitle} text={<WithCommand sentence={joining.pair.goneText} />} canScan />
}

function OtherServer({ view }: { view: Extract<PairingView, { type: 'other-server' }> }) {
  return (
    <Message title={joining.pair.otherServer(view.host)} text={joining.pair.otherServerText(location.host)}>
      <ButtonLink look="primary" href={view.href} isLarge isWide icon="external-link">
        {joining.pair.openThere}
      </ButtonLink>
    </Message>
  )
}

function Message(props: { title: string; text: ComponentChildren; canScan?: boolean; isBusy?: boolean; children?: ComponentChildren }) {
  return (
    <div class="screen flow">
      <FlowBar back={pathOf({ name: 'home' })} icon="x" />
      <div class="scroll">
        <div class="col narrow" aria-busy={props.isBusy}>
          <h1 tabIndex={-1}>{props.title}</h1>
          <p class="lead">{props.text}</p>
        </div>
      </div>
      {!props.isBusy && (
        <footer class="foot">
          {props.children}
          {props.canScan && (
            <ButtonLink look="primary" href="/scan" isLarge isWide icon="scan-line">
              {joining.pair.scan}
            </ButtonLink>
          )}
          <Button look="text" isWide onClick={() => goBack({ name: 'home' })}>
            {words.close}
          </Button>
        </footer>
      )}
    </div>
  )
}

// A used link stays on this screen until another one arrives.
function useArrivedLink(): string | undefined {
  const kept = useRef<string | undefined>(undefined)
  kept.current = arrival.value?.href ?? kept.current
  return kept.current
}
