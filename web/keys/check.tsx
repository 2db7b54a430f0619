import { useEffect, useState } from 'preact/hooks'
import { go, route } from '../core/router.ts'
import { pathOf } from '../core/routes.ts'
import { account, noteKeyChecked } from '../model/account/account.ts'
import { isFirstRun } from '../model/account/first-run.ts'
import { Problem } from '../ui/banner.tsx'
import { FlowBar } from '../ui/bar.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { joining } from '../words/joining.ts'
import { KeyFileField, useKeyFile } from './file-field.tsx'
import { useFirstStep } from './first-steps.ts'
import { AfterKey } from './lock-offer.tsx'
import { useKeyText } from './own-key.ts'
import { groupsOf, isSameGroup, pickGroups } from './text.ts'

/** Asks for the key in the way it was kept: someone who saved it as a file has never read its letters. */
export function CheckScreen() {
  const here = account.value
  const [chosen, setWay] = useState<'groups' | 'file'>()
  const way = chosen ?? (here.type === 'here' && here.isKeyInFile ? 'file' : 'groups')
  const [isRight, setRight] = useState(false)
  const pass = async () => {
    await noteKeyChecked()
    setRight(true)
  }
  if (isRight) return <Checked />
  return way === 'file' ? (
    <FileCheck onRight={pass} onOther={() => setWay('groups')} />
  ) : (
    <GroupsCheck onRight={pass} onOther={() => setWay('file')} />
  )
}

interface Check {
  onRight(): Promise<void>
  /** Switches to the other way of checking. */
  onOther(): void
}

/** Three groups, chosen anew each time: anyone who has the key on paper finds them at once. */
function GroupsCheck({ onRight, onOther }: Check) {
  const key = useKeyText()
  const step = useFirstStep(2, isFirstRun())
  const [asked] = useState(() => pickGroups(Math.random))
  const [typed, setTyped] = useState<Record<number, string>>({})
  const [wrong, setWrong] = useState<number>()

  const check = async (event: Event) => {
    event.preventDefault()
    if (key === undefined) return
    const groups = groupsOf(key)
    const firstWrong = asked.find(group => !isSameGroup(typed[group] ?? '', groups[group] ?? ''))
    setWrong(firstWrong)
    if (firstWrong === undefined) await onRight()
  }
  return (
    <form class="screen flow" onSubmit={event => void check(event)}>
      <FlowBar back={pathOf({ name: 'start-key' })} note={step} />
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
        <Others other={joining.check.byFile} onOther={onOther} />
      </footer>
    </form>
  )
}

/** Opens the file as a new device would, and checks whether it contains the key of this account. */
function FileCheck({ onRight, onOther }: Check) {
  const own = useKeyText()
  const step = useFirstStep(2, isFirstRun())
  const [isOther, setOther] = useState(false)
  const { isBusy, run } = useBusy()
  const file = useKeyFile(key => {
    setOther(key !== own)
    if (key === own) void onRight()
  })
  return (
    <form
      class="screen flow"
      onSubmit={event => {
        event.preventDefault()
        if (file.isSealed) void run(file.open)
      }}
    >
      <FlowBar back={pathOf({ name: 'start-key' })} note={step} />
      <div class="scroll">
        <div class="col narrow">
          <h1 tabIndex={-1}>{joining.check.title}</h1>
          <p class="lead">{joining.check.fileLead}</p>
          {own !== undefined && <KeyFileField file={file} isMain={!file.isSealed} />}
          {isOther && !file.isSealed && <Problem title={joining.check.otherKey} text={joining.check.otherKeyText} />}
        </div>
      </div>
      <footer class="foot">
        {file.isSealed && (
          <Button look="primary" type="submit" isLarge isWide isOff={file.passphrase === ''} busy={isBusy && joining.keyFile.opening}>
            {joining.keyFile.open}
          </Button>
        )}
        <Others other={joining.check.byGroups} onOther={onOther} />
      </footer>
    </form>
  )
}

function Others({ other, onOther }: { other: string; onOther(): void }) {
  return (
    <>
      <Button look="text" isWide onClick={onOther}>
        {other}
      </Button>
      <Button look="text" isWide onClick={() => go({ name: 'start-key' }, 'replace')}>
        {joining.check.again}
      </Button>
    </>
  )
}

function Checked() {
  const [isRead, setRead] = useState(false)
  const step = useFirstStep(2, isFirstRun())
  useEffect(() => document.querySelector('h1')?.focus(), [route.value])
  if (isRead) return <AfterKey to={{ name: 'scan' }} />
  return (
    <div class="screen flow">
      <FlowBar back={pathOf({ name: 'home' })} note={step} />
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
