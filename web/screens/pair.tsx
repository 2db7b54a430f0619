import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import { Logo } from '../icons/logo.tsx'
import { Problem } from '../parts/banner.tsx'
import { FlowBar } from '../parts/bar.tsx'
import { useBusy } from '../parts/busy.ts'
import { Button, ButtonLink } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { HoldButton } from '../parts/hold.tsx'
import { WithCommand } from '../parts/with-command.tsx'
import { arrival, forgetArrival, goBack } from '../router.ts'
import { live } from '../state/account.ts'
import { lookAtLink, type PairingView, type ReadyToLink } from '../state/pairing.ts'
import { chooseConfirming, confirming } from '../state/preferences.ts'
import { words } from '../words/index.ts'
import { joining } from '../words/joining.ts'

/** Says in full what linking would mean, and links only for somebody who means it. */
export function PairScreen() {
  const link = live.value
  const [view, setView] = useState<PairingView>({ type: 'checking' })
  const href = useArrivedLink()

  useEffect(() => {
    if (href === undefined) return setView({ type: 'no-link' })
    if (!link) return
    let isGone = false
    const look = async () => {
      const seen = await lookAtLink(link, href)
      if (!isGone) setView(seen)
    }
    void look()
    return () => {
      isGone = true
    }
  }, [href, link])

  switch (view.type) {
    case 'checking':
      return <Told title={joining.pair.from} text={joining.pair.checking} isBusy />
    case 'ready':
      return <Confirm key={href} view={view} onView={setView} />
    case 'linked':
      return <Linked isDevice={view.isDevice} />
    case 'gone':
      return <Gone />
    case 'answered':
      return <Told title={joining.pair.answeredTitle} text={joining.pair.answeredText} />
    case 'refused':
      return <Told title={joining.pair.wrongCodesTitle} text={joining.pair.wrongCodesText} canScan />
    case 'altered':
      return <Told title={joining.pair.alteredTitle} text={joining.pair.alteredText} />
    case 'no-link':
      return <Told title={joining.pair.noLinkTitle} text={joining.pair.noLinkText} canScan />
    case 'bad-link':
      return <Told title={joining.pair.badLinkTitle} text={joining.pair.badLinkText} canScan />
    case 'other-server':
      return <OtherServer view={view} />
    case 'unreachable':
      return <Told title={joining.pair.unreachable} text={joining.pair.unreachableText} />
  }
}

function Confirm({ view, onView }: { view: ReadyToLink; onView(view: PairingView): void }) {
  const { isBusy, run } = useBusy()
  const [refusal, setRefusal] = useState<string>()
  const [checkCode, setCheckCode] = useState('')
  const [codeError, setCodeError] = useState<string>()
  const { asker, getsAll } = view
  const confirm = () =>
    run(async () => {
      setRefusal(undefined)
      // A slip of the finger is none of the three tries.
      if (asker && checkCode.length !== 4) return setCodeError(joining.pair.codeShort)
      const answered = await view.answer(checkCode)
      if (answered.type === 'wrong-code') {
        setCheckCode('')
        return setCodeError(joining.pair.codeWrong)
      }
      if (answered.type === 'not-answered') return setRefusal(answered.message)
      if (answered.type === 'linked') forgetArrival()
      onView(answered)
    })
  return (
    <div class="screen flow">
      <FlowBar back={{ name: 'home' }} icon="x" note={joining.pair.from} />
      <div class="scroll">
        <div class="col narrow">
          <div class="link-art" aria-hidden="true">
            <span>
              <Icon name="smartphone" />
            </span>
            <i />
            <Logo size={44} />
            <i />
            <span>
              <Icon name={view.isDevice ? 'smartphone' : 'laptop'} />
            </span>
          </div>
          <h1 tabIndex={-1}>{view.isDevice ? joining.pair.device : joining.pair.machine}</h1>
          <dl class="facts">
            <Fact name={joining.pair.asks} value={asker?.name ?? (view.isDevice ? joining.pair.asksDevice : joining.pair.asksTerminal)} />
            {asker && <Fact name={joining.pair.network} value={asker.from} />}
            <Fact name={joining.pair.gets} value={getsAll ? joining.pair.getsAll : joining.pair.getsV2} isDanger={getsAll} />
            <Fact name={joining.pair.server} value={location.host} />
            <Fact name={joining.pair.valid} value={joining.pair.validText} />
          </dl>
          {getsAll ? <CanAll /> : <CanAndCannot />}
        </div>
      </div>
      <footer class="decide">
        <p id="pair-risk" class={getsAll ? 'danger-t' : ''}>
          {riskOf(view)}
        </p>
        {asker && (
          <Field
            label={joining.pair.code}
            hint={view.isDevice ? joining.pair.codeHintDevice : joining.pair.codeHint}
            error={codeError}
            value={checkCode}
            onInput={text => {
              setCodeError(undefined)
              setCheckCode(text.replace(/\D/g, '').slice(0, 4))
            }}
            isCode
            isDigits
          />
        )}
        {refusal !== undefined && <Problem title={joining.pair.refusedTitle} text={refusal} />}
        <HoldButton
          label={joining.pair.hold}
          tapLabel={joining.pair.tap}
          confirmLabel={joining.pair.confirm}
          onConfirm={() => void confirm()}
          busy={isBusy && joining.pair.linking}
          isDanger={getsAll}
          describedBy="pair-risk"
        />
        <div class="decide-more">
          <button class="txt danger-t" type="button" onClick={() => refuse(view)}>
            {joining.pair.refuse}
          </button>
          {confirming.value === 'hold' && (
            <button class="txt" type="button" onClick={() => chooseConfirming('taps')}>
              {joining.pair.twoTaps}
            </button>
          )}
        </div>
      </footer>
    </div>
  )
}

function Fact({ name, value, isDanger }: { name: string; value: string; isDanger?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isDanger ? 'danger-t' : ''}>{value}</dd>
    </div>
  )
}

function CanAndCannot() {
  return (
    <ul class="can">
      <Line can text={joining.pair.canRun} />
      <Line can text={joining.pair.canRead} />
      <Line text={joining.pair.cannotRead} />
      <Line text={joining.pair.cannotLink} />
    </ul>
  )
}

function CanAll() {
  return (
    <ul class="can">
      <Line can text={joining.pair.canAll} />
    </ul>
  )
}

function Line({ can = false, text }: { can?: boolean; text: string }) {
  return (
    <li class={can ? 'yes' : 'no'}>
      <Icon name={can ? 'check' : 'x'} />
      <span>
        <b>{can ? joining.pair.can : joining.pair.cannot}</b>
        {text}
      </span>
    </li>
  )
}

function Linked({ isDevice }: { isDevice: boolean }) {
  return (
    <div class="screen flow">
      <FlowBar back={{ name: 'home' }} icon="x" />
      <div class="scroll">
        <div class="col narrow centred">
          <span class="gl gl-done big">
            <Icon name="check" />
          </span>
          <h1 tabIndex={-1}>{joining.pair.doneTitle}</h1>
          <p class="lead" role="status">
            {isDevice ? joining.pair.doneDevice : joining.pair.doneText}
          </p>
        </div>
      </div>
      <footer class="foot">
        <ButtonLink look="primary" href="/" isLarge isWide>
          {joining.pair.toHome}
        </ButtonLink>
      </footer>
    </div>
  )
}

function Gone() {
  return <Told title={joining.pair.goneTitle} text={<WithCommand told={joining.pair.goneText} />} canScan />
}

function OtherServer({ view }: { view: Extract<PairingView, { type: 'other-server' }> }) {
  return (
    <Told title={joining.pair.otherServer(view.host)} text={joining.pair.otherServerText(location.host)}>
      <ButtonLink look="primary" href={view.href} isLarge isWide icon="external-link">
        {joining.pair.openThere}
      </ButtonLink>
    </Told>
  )
}

function Told(props: { title: string; text: ComponentChildren; canScan?: boolean; isBusy?: boolean; children?: ComponentChildren }) {
  return (
    <div class="screen flow">
      <FlowBar back={{ name: 'home' }} icon="x" />
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

function riskOf({ isDevice, getsAll, asker }: ReadyToLink): string {
  if (isDevice) return joining.pair.wholeKeyDevice
  if (getsAll) return joining.pair.wholeKey
  return asker ? joining.pair.fullControl : joining.pair.noCode
}

function refuse(view: ReadyToLink): void {
  void view.refuse()
  forgetArrival()
  goBack({ name: 'home' })
}

// The link stays on this screen after it was used up, until another one arrives.
function useArrivedLink(): string | undefined {
  const kept = useRef<string | undefined>(undefined)
  kept.current = arrival.value?.href ?? kept.current
  return kept.current
}
