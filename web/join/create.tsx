import { useEffect, useRef, useState } from 'preact/hooks'
import { arrival, forgetArrival, go, goOn, isPairingWaiting } from '../core/router.ts'
import { pathOf } from '../core/routes.ts'
import { useFirstStep } from '../keys/first-steps.ts'
import { askServer } from '../model/account/about.ts'
import { account } from '../model/account/account.ts'
import { noteFirstRun } from '../model/account/first-run.ts'
import { createAccount, guessDeviceName } from '../model/account/sign-in.ts'
import type { SignInProblem } from '../model/account/sign-in-problem.ts'
import { Problem } from '../ui/banner.tsx'
import { FlowBar } from '../ui/bar.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { joining } from '../words/joining.ts'
import { DeviceNameField } from './device-name-field.tsx'
import { RestoreServer } from './restore-server.tsx'
import { TooManyTries } from './too-many-tries.tsx'

/**
 * Creates an account: a new key, and a name for this device. If the server ended the sign-in of this device, signs in again with the existing key.
 * A setup code or an invitation comes with the link, or is asked for if the server requires one; if the owner must approve, this waits for it.
 */
export function CreateScreen() {
  const [deviceName, setDeviceName] = useState(guessDeviceName)
  const [setupCode, setSetupCode] = useState(() => arrival.peek()?.fragment.get('setup') ?? '')
  const [invite, setInvite] = useState(() => arrival.peek()?.fragment.get('invite') ?? '')
  const [givenCode] = useState(setupCode)
  const [wasAsked, setAsked] = useState({ setupCode: setupCode !== '', invite: false })
  const [problem, setProblem] = useState<SignInProblem>()
  const [isFirst, setFirst] = useState(false)
  const { isBusy, run } = useBusy()
  useEffect(() => {
    // If the server does require one, it is asked for again with the reason.
    void askServer()
      .then(({ needsSetupCode }) => {
        if (!needsSetupCode) return
        setFirst(true)
        setAsked(asked => ({ ...asked, setupCode: true }))
      })
      .catch(() => {})
  }, [])
  const [isAgain] = useState(() => account.peek().type === 'unlinked')
  const step = useFirstStep(1, !isAgain)
  const says = isAgain ? joining.again : joining.create

  const create = () =>
    run(async () => {
      const refused = await createAccount({
        deviceName: deviceName.trim() || guessDeviceName(),
        setupCode: setupCode.trim() || undefined,
        invite: invite.trim() || undefined
      })
      if (!refused) {
        if (!isPairingWaiting()) forgetArrival()
        if (isKeyChecked()) return goOn()
        noteFirstRun(!isAgain)
        return go({ name: 'start-key' }, 'replace')
      }
      if (refused.type === 'needs-setup-code') setAsked({ ...wasAsked, setupCode: true })
      if (refused.type === 'needs-invite') setAsked({ ...wasAsked, invite: true })
      setProblem(refused)
    })
  const isPending = problem?.type === 'pending'
  useAskingAgain(isPending, create)
  const isWrongCode = problem?.type === 'needs-setup-code' && setupCode.trim() !== ''
  const isFromLink = givenCode !== '' && setupCode === givenCode
  const isWanted = problem?.type === 'needs-setup-code' && !isWrongCode
  const codeHint = isWanted ? joining.create.codeWanted : isFromLink ? joining.create.codeFromLink : joining.create.codeHint
  const isBadInvite = problem?.type === 'needs-invite' && invite.trim() !== ''

  return (
    <form
      class="screen flow"
      onSubmit={event => {
        event.preventDefault()
        setProblem(before => (before?.type === 'pending' ? before : undefined))
        void create()
      }}
    >
      <FlowBar back={pathOf({ name: 'welcome' })} note={step} />
      <div class="scroll">
        <div class="col narrow">
          <h1 tabIndex={-1}>{says.title}</h1>
          <p class="lead">{invite !== '' && !wasAsked.invite ? `${joining.create.invited} ${says.lead}` : says.lead}</p>
          <DeviceNameField value={deviceName} onInput={setDeviceName} />
          {wasAsked.setupCode && (
            <Field
              label={joining.create.code}
              hint={codeHint}
              error={isWrongCode ? joining.create.codeWrong : undefined}
              value={setupCode}
              onInput={setSetupCode}
              isCode
              hasFocus={setupCode === ''}
              maxLength={64}
            />
          )}
          {wasAsked.invite && (
            <Field
              label={joining.create.invite}
              hint={problem?.type === 'needs-invite' && !isBadInvite ? joining.create.inviteWanted : joining.create.inviteHint}
              error={isBadInvite ? joining.create.inviteBad : undefined}
              value={invite}
              onInput={setInvite}
              isCode
              hasFocus={invite === ''}
              maxLength={64}
            />
          )}
          <ProblemOf problem={problem} />
          {isFirst && <RestoreServer />}
        </div>
      </div>
      <footer class="foot">
        <Button look="primary" type="submit" isLarge isWide busy={isBusy && says.busy}>
          {isPending ? joining.create.askAgain : says.submit}
        </Button>
      </footer>
    </form>
  )
}

function isKeyChecked(): boolean {
  const now = account.peek()
  return now.type === 'here' && now.keyCheckedAt !== undefined
}

const askAgainEveryMs = 10_000

function useAskingAgain(isPending: boolean, ask: () => Promise<void>): void {
  const latest = useRef(ask)
  latest.current = ask
  useEffect(() => {
    if (!isPending) return
    const timer = setInterval(() => document.visibilityState === 'visible' && void latest.current(), askAgainEveryMs)
    return () => clearInterval(timer)
  }, [isPending])
}

function Pending({ fingerprint }: { fingerprint: string }) {
  return (
    <section class="card pending" role="status">
      <h2 class="card-h">{joining.create.pending}</h2>
      <p class="lead">{joining.create.pendingText}</p>
      <code class="words-4">{fingerprint.replaceAll('-', ' ')}</code>
      <p class="hint">{joining.create.pendingHint}</p>
    </section>
  )
}

function ProblemOf({ problem }: { problem: SignInProblem | undefined }) {
  switch (problem?.type) {
    case 'pending':
      return <Pending fingerprint={problem.fingerprint} />
    case 'signup-closed':
      return <Problem title={joining.create.closed} text={joining.create.closedText} />
    case 'locked':
      return <TooManyTries nextAt={problem.nextAt} />
    case 'unreachable':
      return <Problem title={joining.create.unreachable} text={joining.create.unreachableText} />
    case 'has-account':
      return <Problem title={joining.create.hasAccount} text={joining.create.hasAccountText} />
    case 'other':
      return <Problem title={joining.create.other} text={problem.message} />
    default:
      return null
  }
}
