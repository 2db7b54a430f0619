import { useEffect, useState } from 'preact/hooks'
import { networkName } from '../core/network-name.ts'
import { chooseConfirming, confirming } from '../core/preferences.ts'
import { forgetArrival, goBack } from '../core/router.ts'
import { pathOf } from '../core/routes.ts'
import { useTicking } from '../core/ticking.ts'
import { AskOwner, useOwner } from '../keys/owner-check.tsx'
import { HoldButton } from '../session/mode/hold.tsx'
import { Problem } from '../ui/banner.tsx'
import { FlowBar } from '../ui/bar.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { Logo } from '../ui/icons/logo.tsx'
import { visible } from '../ui/visible-text.ts'
import { joining } from '../words/joining.ts'
import { duration } from '../words/time.ts'
import type { Asker, PairingView, ReadyToLink } from './pairing.ts'

/** Everything that linking would permit, next to the button for it. Handing over the account key requires the owner of this device. */
export function ConfirmPairing({ view, onView }: { view: ReadyToLink; onView(view: PairingView): void }) {
  const owner = useOwner()
  const { asker, getsAll, endsAt } = view
  const at = useTicking(endsAt !== undefined)
  const isOver = endsAt !== undefined && at >= endsAt
  useEffect(() => {
    if (isOver) onView({ type: 'gone' })
  }, [isOver])
  const mayAnswer = owner.isSure || !getsAll
  // The heading names it then.
  const isNamed = asker !== undefined && !view.isDevice
  return (
    <div class="screen flow">
      <FlowBar
        back={pathOf({ name: 'home' })}
        icon="x"
        note={joining.pair.valid(endsAt === undefined ? joining.pair.validText : duration(Math.max(0, endsAt - at)))}
      />
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
          <h1 tabIndex={-1}>
            {view.isDevice ? joining.pair.device : isNamed ? joining.pair.machineNamed(asker.name) : joining.pair.machine}
          </h1>
          <dl class="facts">
            {!isNamed && (
              <Fact name={joining.pair.asks} value={asker?.name ?? (view.isDevice ? joining.pair.asksDevice : joining.pair.asksTerminal)} />
            )}
            {asker && <AboutAsker asker={asker} />}
            <Fact name={joining.pair.gets} value={getsAll ? joining.pair.getsAll : joining.pair.getsV2} isDanger={getsAll} />
            <Fact name={joining.pair.server} value={location.host} />
          </dl>
          {asker?.about && <p class="hint">{joining.pair.ownWords}</p>}
          {getsAll ? <CanAll /> : <CanAndCannot />}
        </div>
      </div>
      <footer class="decide">
        <p id="pair-risk" class={getsAll ? 'danger-t' : ''}>
          {riskOf(view)}
        </p>
        {mayAnswer ? <Digits view={view} onView={onView} /> : <AskOwner owner={owner} label={joining.pair.owner} isMain />}
        <div class="decide-more">
          <button class="txt danger-t" type="button" onClick={() => refuse(view)}>
            {joining.pair.refuse}
          </button>
          {mayAnswer && confirming.value === 'hold' && (
            <button class="txt" type="button" onClick={() => chooseConfirming('taps')}>
              {joining.pair.twoTaps}
            </button>
          )}
        </div>
      </footer>
    </div>
  )
}

/** Confirms with the check code, and a button that a stray tap cannot press. */
function Digits({ view, onView }: { view: ReadyToLink; onView(view: PairingView): void }) {
  const { isBusy, run } = useBusy()
  const [refusal, setRefusal] = useState<string>()
  const [checkCode, setCheckCode] = useState('')
  const [codeError, setCodeError] = useState<string>()
  const { asker, getsAll } = view
  const confirm = () =>
    run(async () => {
      setRefusal(undefined)
      // An incomplete code does not use up one of the three tries.
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
    <div class="answer">
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
      <HoldButton
        label={joining.pair.hold}
        tapLabel={joining.pair.tap}
        confirmLabel={joining.pair.confirm}
        onConfirm={() => void confirm()}
        busy={isBusy && joining.pair.linking}
        isDanger={getsAll}
        describedBy="pair-risk"
      />
      {refusal !== undefined && <Problem title={joining.pair.refusedTitle} text={refusal} />}
    </div>
  )
}

function AboutAsker({ asker: { from, about } }: { asker: Asker }) {
  return (
    <>
      {about?.os && <Fact name={joining.pair.system} value={visible(about.os)} />}
      {about?.isRoot ? (
        <Fact name={joining.pair.runsAs} value={joining.pair.runsAsRoot(visible(about.user ?? 'root'))} isDanger />
      ) : (
        about?.user && <Fact name={joining.pair.runsAs} value={visible(about.user)} />
      )}
      <Fact name={joining.pair.network} value={networkName(from) ?? joining.pair.sameComputer} />
    </>
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
