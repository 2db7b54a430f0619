import { useState } from 'preact/hooks'
import { Problem } from '../parts/banner.tsx'
import { FlowBar } from '../parts/bar.tsx'
import { useBusy } from '../parts/busy.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { arrival, forgetArrival, go } from '../router.ts'
import { createAccount, guessDeviceName, type SignInProblem } from '../state/account.ts'
import { words } from '../words/index.ts'

/** A new account: a key made here, and a name for this device. The setup code is asked for when the server wants one. */
export function CreateScreen() {
  const [deviceName, setDeviceName] = useState(guessDeviceName)
  const [setupCode, setSetupCode] = useState(() => arrival.peek()?.fragment.get('setup') ?? '')
  const [wasAsked, setAsked] = useState(setupCode !== '')
  const [problem, setProblem] = useState<SignInProblem>()
  const { isBusy, run } = useBusy()

  const submit = (event: Event) => {
    event.preventDefault()
    void run(async () => {
      setProblem(undefined)
      const code = setupCode.trim()
      const refused = await createAccount({ deviceName: deviceName.trim() || guessDeviceName(), setupCode: code === '' ? undefined : code })
      if (!refused) {
        forgetArrival()
        return go({ name: 'start-key' }, 'replace')
      }
      if (refused.type === 'needs-setup-code') setAsked(true)
      setProblem(refused)
    })
  }
  const isWrongCode = problem?.type === 'needs-setup-code' && setupCode.trim() !== ''

  return (
    <form class="screen flow" onSubmit={submit}>
      <FlowBar back={{ name: 'welcome' }} note={words.create.step(1, 3)} />
      <div class="scroll">
        <div class="col narrow">
          <h1 tabIndex={-1}>{words.create.title}</h1>
          <p class="lead">{words.create.lead}</p>
          <Field label={words.create.device} hint={words.create.deviceHint} value={deviceName} onInput={setDeviceName} maxLength={100} />
          {wasAsked && (
            <Field
              label={words.create.code}
              hint={problem?.type === 'needs-setup-code' && !isWrongCode ? words.create.codeWanted : words.create.codeHint}
              error={isWrongCode ? words.create.codeWrong : undefined}
              value={setupCode}
              onInput={setSetupCode}
              isCode
              hasFocus={setupCode === ''}
              maxLength={64}
            />
          )}
          <ProblemOf problem={problem} />
        </div>
      </div>
      <footer class="foot">
        <Button look="primary" type="submit" isLarge isWide busy={isBusy && words.create.busy}>
          {words.create.submit}
        </Button>
      </footer>
    </form>
  )
}

function ProblemOf({ problem }: { problem: SignInProblem | undefined }) {
  switch (problem?.type) {
    case 'signup-closed':
      return <Problem title={words.create.closed} text={words.create.closedText} />
    case 'locked':
      return <Problem title={words.create.locked} text={words.create.lockedText} />
    case 'unreachable':
      return <Problem title={words.create.unreachable} text={words.create.unreachableText} />
    case 'other':
      return <Problem title={words.create.other} text={problem.message} />
    default:
      return null
  }
}
