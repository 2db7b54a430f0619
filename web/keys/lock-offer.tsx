import { useEffect, useState } from 'preact/hooks'
import { chooseLock, type LockChoice, type LockProblem } from '../core/lock.ts'
import { goOn } from '../core/router.ts'
import { pathOf, type Route } from '../core/routes.ts'
import { isFirstRun, noteFirstRun } from '../model/account/first-run.ts'
import { Problem } from '../ui/banner.tsx'
import { FlowBar } from '../ui/bar.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button } from '../ui/button.tsx'
import { Choice, ChoiceGroup } from '../ui/choice.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { joining } from '../words/joining.ts'
import { settings } from '../words/settings.ts'
import { useFirstStep, willOfferLock } from './first-steps.ts'

/** The step after the key: offers a new account the screen lock, if the device has one, and then leads to `to`. */
export function AfterKey({ to }: { to: Route }) {
  const [isOffered, setOffered] = useState(false)
  const leave = () => {
    const isFirst = isFirstRun()
    noteFirstRun(false)
    goOn(isFirst ? to : { name: 'home' })
  }
  useEffect(() => {
    void shouldOffer().then(should => (should ? setOffered(true) : leave()))
  }, [])
  return isOffered ? <LockOffer onDone={leave} /> : <div class="screen" aria-busy="true" />
}

async function shouldOffer(): Promise<boolean> {
  return isFirstRun() && (await willOfferLock())
}

const choices = ['risky', 'after5', 'open'] as const satisfies LockChoice[]

function LockOffer({ onDone }: { onDone(): void }) {
  const [chosen, choose] = useState<(typeof choices)[number]>('risky')
  const [problem, setProblem] = useState<LockProblem>()
  const { isBusy, run } = useBusy()
  const step = useFirstStep(3, true)
  useEffect(() => document.querySelector('h1')?.focus(), [])
  const turnOn = () =>
    run(async () => {
      const refused = await chooseLock(chosen)
      setProblem(refused)
      if (!refused) onDone()
    })
  return (
    <div class="screen flow">
      <FlowBar back={pathOf({ name: 'home' })} icon="x" note={step} />
      <div class="scroll">
        <div class="col narrow">
          <h1 tabIndex={-1}>{joining.lock.title}</h1>
          <p class="lead">{settings.lockLead}</p>
          <ChoiceGroup id="lock-h" title={settings.lockWhen}>
            {choices.map(each => (
              <Choice
                key={each}
                name="lock"
                title={settings.lockChoices[each][0]}
                text={settings.lockChoices[each][1]}
                isChosen={chosen === each}
                onChoose={() => choose(each)}
              />
            ))}
          </ChoiceGroup>
          {problem && <Problem title={settings.lockRefused} text={settings.lockRefusedText} />}
          <p class="note">
            <Icon name="lock-keyhole" />
            {settings.lockHonest}
          </p>
        </div>
      </div>
      <footer class="foot">
        <Button look="primary" isLarge isWide onClick={() => void turnOn()} busy={isBusy && settings.lockAsking}>
          {joining.lock.turnOn}
        </Button>
        <Button look="text" isWide onClick={onDone}>
          {joining.lock.notNow}
        </Button>
      </footer>
    </div>
  )
}
