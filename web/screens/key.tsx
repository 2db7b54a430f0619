import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import { FlowBar } from '../parts/bar.tsx'
import { Button } from '../parts/button.tsx'
import { copySecret } from '../parts/copy.ts'
import { Field } from '../parts/field.tsx'
import { KeyFileSheet } from '../parts/key-file-sheet.tsx'
import { KeyGroups } from '../parts/key-groups.tsx'
import { useIsShown, useKeyText } from '../parts/own-key.ts'
import { AskOwner, useOwner } from '../parts/owner-first.tsx'
import { go, route } from '../router.ts'
import { noteKeyChecked, remindOfKeyTomorrow } from '../state/account.ts'
import { groupsOf, isSameGroup, pickGroups } from '../state/key-text.ts'
import { words } from '../words/index.ts'
import { joining } from '../words/joining.ts'
import { AfterKey } from './after-key.tsx'

/** The one time the key is put before everything else: write it down, or say that you will. */
export function KeyScreen() {
  const owner = useOwner()
  const [isPutOff, setPutOff] = useState(false)
  const later = async () => {
    await remindOfKeyTomorrow()
    setPutOff(true)
  }
  if (isPutOff) return <AfterKey to={{ name: 'home' }} />
  return (
    <div class="screen flow">
      <FlowBar back={{ name: 'home' }} note={joining.create.step(2, 3)} />
      <div class="scroll">
        <div class="col narrow">
          <h1 tabIndex={-1}>{joining.key.title}</h1>
          <p class="lead">{joining.key.lead}</p>
          {owner.isSure ? <ShownKey /> : <AskOwner owner={owner} label={words.keySettings.show} />}
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

/** Three groups, picked anew each time: whoever has the key on paper has them at once. */
export function CheckScreen() {
  const key = useKeyText()
  const [asked] = useState(() => pickGroups(Math.random))
  const [typed, setTyped] = useState<Record<number, string>>({})
  const [wrong, setWrong] = useState<number>()
  const [isRight, setRight] = useState(false)

  const check = async (event: Event) => {
    event.preventDefault()
    if (key === undefined) return
    const groups = groupsOf(key)
    const firstWrong = asked.find(group => !isSameGroup(typed[group] ?? '', groups[group] ?? ''))
    setWrong(firstWrong)
    if (firstWrong !== undefined) return
    await noteKeyChecked()
    setRight(true)
  }
  if (isRight) return <Checked />
  return (
    <form class="screen flow" onSubmit={event => void check(event)}>
      <FlowBar back={{ name: 'start-key' }} note={joining.create.step(3, 3)} />
      <div class="scroll">
        <div class="col narrow">
          <h1 tabIndex={-1}>{joining.check.title}</h1>
          <p class="lead">{joining.check.lead}</p>
          {asked.map((group, index) => (
            <Field
              key={group}
              label={joining.check.group(group + 1)}
              value={typed[group] ?? ''}
              onInput={value => setTyped({ ...typed, [group]: value.toUpperCase() })}
              error={wrong === group ? joining.check.wrong(group + 1) : undefined}
              isCode
              hasFocus={index === 0}
              maxLength={12}
            />
          ))}
        </div>
      </div>
      <footer class="foot">
        <Button look="primary" type="submit" isLarge isWide>
          {joining.check.submit}
        </Button>
        <Button look="text" isWide onClick={() => go({ name: 'start-key' }, 'replace')}>
          {joining.check.again}
        </Button>
      </footer>
    </form>
  )
}

function Checked() {
  const [isRead, setRead] = useState(false)
  useEffect(() => document.querySelector('h1')?.focus(), [route.value])
  if (isRead) return <AfterKey to={{ name: 'scan' }} />
  return (
    <div class="screen flow">
      <FlowBar back={{ name: 'home' }} />
      <div class="scroll">
        <div class="col narrow centred">
          <span class="gl gl-done big">
            <Icon name="check" />
          </span>
          <h1 tabIndex={-1}>{joining.check.done}</h1>
          <p class="lead">{joining.check.doneText}</p>
        </div>
      </div>
      <footer class="foot">
        <Button look="primary" isLarge isWide onClick={() => setRead(true)}>
          {joining.check.goOn}
        </Button>
      </footer>
    </div>
  )
}
