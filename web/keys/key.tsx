import { useState } from 'preact/hooks'
import { go } from '../core/router.ts'
import { pathOf } from '../core/routes.ts'
import { remindOfKeyTomorrow } from '../model/account/account.ts'
import { isFirstRun } from '../model/account/first-run.ts'
import { FlowBar } from '../ui/bar.tsx'
import { Button } from '../ui/button.tsx'
import { copySecret } from '../ui/copy.ts'
import { Icon } from '../ui/icons/icon.tsx'
import { joining } from '../words/joining.ts'
import { settings } from '../words/settings.ts'
import { KeyFileSheet } from './file-sheet.tsx'
import { useFirstStep } from './first-steps.ts'
import { KeyGroups } from './groups.tsx'
import { AfterKey } from './lock-offer.tsx'
import { useIsShown, useKeyText } from './own-key.ts'
import { AskOwner, useOwner } from './owner-check.tsx'

/** The one time that the key comes before everything else: write it down, or be reminded later. */
export function KeyScreen() {
  const owner = useOwner()
  const step = useFirstStep(2, isFirstRun())
  const [isPutOff, setPutOff] = useState(false)
  const later = async () => {
    await remindOfKeyTomorrow()
    setPutOff(true)
  }
  if (isPutOff) return <AfterKey to={{ name: 'home' }} />
  return (
    <div class="screen flow">
      <FlowBar back={pathOf({ name: 'home' })} note={step} />
      <div class="scroll">
        <div class="col narrow">
          <h1 tabIndex={-1}>{joining.key.title}</h1>
          <p class="lead">{joining.key.lead}</p>
          {owner.isSure ? <ShownKey /> : <AskOwner owner={owner} label={settings.keySettings.show} />}
        </div>
      </div>
      <footer class="foot">
        <Button look="primary" isLarge isWide onClick={() => go({ name: 'start-check' })}>
          {joining.key.check}
        </Button>
        <Button look="text" isWide onClick={() => void later()}>
          {joining.key.later}
        </Button>
      </footer>
    </div>
  )
}

function ShownKey() {
  const key = useKeyText()
  const isShown = useIsShown()
  const [isSaving, setSaving] = useState(false)
  return (
    <>
      <KeyGroups value={key} isShown={isShown} />
      <div class="acts three">
        <Button look="quiet" icon="download" onClick={() => setSaving(true)}>
          {joining.key.save}
        </Button>
        <Button look="quiet" icon="printer" onClick={() => print()}>
          {joining.key.print}
        </Button>
        <Button look="quiet" icon="copy" onClick={() => key && void copySecret(key)}>
          {joining.key.copy}
        </Button>
      </div>
      <p class="note">
        <Icon name="eye-off" />
        {joining.key.hidden}
      </p>
      {isSaving && key && <KeyFileSheet value={key} onClose={() => setSaving(false)} />}
    </>
  )
}
