import { useEffect, useState } from 'preact/hooks'
import { canLock, chooseLock, type LockChoice, type LockProblem, lockChoice } from '../core/lock.ts'
import { Problem } from '../ui/banner.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Choice, ChoiceGroup } from '../ui/choice.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { settings } from '../words/settings.ts'

export function LockPage() {
  const [problem, setProblem] = useState<LockProblem>()
  const { isBusy, run } = useBusy()
  useEffect(() => {
    void canLock().then(can => !can && lockChoice.peek() === 'off' && setProblem('unavailable'))
  }, [])
  const choose = (choice: LockChoice) => run(async () => setProblem(await chooseLock(choice)))
  return (
    <>
      <p class="lead">{settings.lockLead}</p>
      <ChoiceGroup id="lock-h" title={settings.lockWhen}>
        {(['off', 'open', 'after5', 'risky'] as const satisfies LockChoice[]).map(each => (
          // A radio button stays selected even if the lock was not confirmed; a new key renders the actual choice again.
          <Choice
            key={`${each} ${lockChoice.value} ${isBusy}`}
            name="lock"
            title={settings.lockChoices[each][0]}
            text={settings.lockChoices[each][1]}
            isChosen={lockChoice.value === each}
            onChoose={() => void choose(each)}
          />
        ))}
      </ChoiceGroup>
      {problem === 'unavailable' && <Problem title={settings.lockNone} text={settings.lockNoneText} />}
      {problem === 'refused' && <Problem title={settings.lockRefused} text={settings.lockRefusedText} />}
      <p class="note">
        <Icon name="lock-keyhole" />
        {settings.lockHonest}
      </p>
    </>
  )
}
