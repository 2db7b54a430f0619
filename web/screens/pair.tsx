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
      return <Told title={words.pair.from} text={words.pair.checking} isBusy />
    case 'ready':
      return <Confirm key={href} view={view} onView={setView} />
    case 'linked':
      return <Linked isDevice={view.isDevice} />
    case 'gone':
      return <Gone />
    case 'answered':
      return <Told title={words.pair.answeredTitle} text={words.pair.answeredText} />
    case 'refused':
      return <Told title={words.pair.wrongCodesTitle} text={words.pair.wrongCodesText} canScan />
    case 'altered':
      return <Told title={words.pair.alteredTitle} text={words.pair.alteredText} />
    case 'no-link':
      return <Told title={words.pair.noLinkTitle} text={words.pair.noLinkText} canScan />
    case 'bad-link':
      return <Told title={words.pair.badLinkTitle} text={words.pair.badLinkText} canScan />
    case 'other-server':
      return <OtherServer view={view} />
    case 'unreachable':
      return <Told title={words.pair.unreachable} text={words.pair.unreachableText} />
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
      if (asker && checkCode.length !== 4) return setCodeError(words.pair.codeShort)
      const answered = await view.answer(checkCode)
      if (answered.type === 'wrong-code') {
        setCheckCode('')
        return setCodeError(words.pair.codeWrong)
      }
      if (answered.type === 'not-answered') return setRefusal(answered.message)
      if (answered.type === 'linked') forgetArrival()
      onView(answered)
    })
  return (
    <div class="screen flow">
      <FlowBar back={{ name: 'home' }} icon="x" note={words.pair.from} />
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
          <h1 tabIndex={-1}>{view.isDevice ? words.pair.device : words.pair.machine}</h1>
          <dl class="facts">
            <Fact name={words.pair.asks} value={asker?.name ?? (view.isDevice ? words.pair.asksDevice : words.pair.asksTerminal)} />
            {asker && <Fact name={words.pair.network} value={asker.from} />}
            <Fact name={words.pair.gets} value={getsAll ? words.pair.getsAll : words.pair.getsV2} isDanger={getsAll} />
            <Fact name={words.pair.server} value={location.host} />
            <Fact name={words.pair.valid} value={words.pair.validText} />
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
            label={words.pair.code}
            hint={view.isDevice ? words.pair.codeHintDevice : words.pair.codeHint}
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
        {refusal !== undefined && <Problem title={words.pair.refusedTitle} text={refusal} />}
        <HoldButton
          label={words.pair.hold}
          tapLabel={words.pair.tap}
          confirmLabel={words.pair.confirm}
          onConfirm={() => void confirm()}
          busy={isBusy && words.pair.linking}
          isDanger={getsAll}
          describedBy="pair-risk"
        />
        <div class="decide-more">
          <button class="txt danger-t" type="button" onClick={() => refuse(view)}>
            {words.pair.refuse}
          </button>
          {confirming.value === 'hold' && (
            <button class="txt" type="button" onClick={() => chooseConfirming('taps')}>
              {words.pair.twoTaps}
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
      <Line can text={words.pair.canRun} />
      <Line can text={words.pair.canRead} />
      <Line text={words.pair.cannotRead} />
      <Line text={words.pair.cannotLink} />
    </ul>
  )
}

function CanAll() {
  return (
    <ul class="can">
      <Line can text={words.pair.canAll} />
    </ul>
  )
}

function Line({ can = false, text }: { can?: boolean; text: string }) {
  return (
    <li class={can ? 'yes' : 'no'}>
      <Icon name={can ? 'check' : 'x'} />
      <span>
        <b>{can ? words.pair.can : words.pair.cannot}</b>
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
          <h1 tabIndex={-1}>{words.pair.doneTitle}</h1>
          <p class="lead" role="status">
            {isDevice ? words.pair.doneDevice : words.pair.doneText}
          </p>
        </div>
      </div>
      <footer class="foot">
        <ButtonLink look="primary" href="/" isLarge isWide>
          {words.pair.toHome}
        </ButtonLink>
      </footer>
    </div>
  )
}

function Gone() {
  return <Told title={words.pair.goneTitle} text={<WithCommand told={words.pair.goneText} />} canScan />
}

function OtherServer({ view }: { view: Extract<PairingView, { type: 'other-server' }> }) {
  return (
    <Told title={words.pair.otherServer(view.host)} text={words.pair.otherServerText(location.host)}>
      <ButtonLink look="primary" href={view.href} isLarge isWide icon="external-link">
        {words.pair.openThere}
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
              {words.pair.scan}
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
  if (isDevice) return words.pair.wholeKeyDevice
  if (getsAll) return words.pair.wholeKey
  return asker ? words.pair.fullControl : words.pair.noCode
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
