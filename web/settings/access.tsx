import { useState } from 'preact/hooks'
import { now, trueNow } from '../core/clock.ts'
import { networkName } from '../core/network-name.ts'
import { live } from '../model/account/account.ts'
import { Problem } from '../ui/banner.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { closeLayer } from '../ui/behavior/layers.ts'
import { Button } from '../ui/button.tsx'
import { copySecret } from '../ui/copy.ts'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { lists } from '../words/lists.ts'
import { people as words } from '../words/people.ts'
import { agoInWords, date, fullTime } from '../words/time.ts'
import { type AccessKey, createAccessKey, listAccessKeys, revokeAccessKey, type Scope, scopes } from './access.ts'
import { Loaded } from './loaded.tsx'

type Ending = keyof typeof words.endings
const dayMs = 24 * 3600_000
const lastsMs: Record<Ending, number | undefined> = { month: 30 * dayMs, year: 365 * dayMs, never: undefined }
const endings = Object.keys(lastsMs) as Ending[]

/** Access keys of programs that act for the account. */
export function AccessPage() {
  return (
    <>
      <p class="lead">{words.accessLead}</p>
      <Loaded read={listAccessKeys} show={(keys, again) => <Keys keys={keys} again={again} />} />
    </>
  )
}

function Keys({ keys, again }: { keys: readonly AccessKey[]; again(): void }) {
  const [sheet, setSheet] = useState<'new' | AccessKey>()
  const close = () => setSheet(undefined)
  return (
    <>
      {keys.length === 0 ? (
        <p class="lead">{words.noKeys}</p>
      ) : (
        <ul class="card tight">
          {keys.map(key => (
            <li key={key.id} class="irow">
              <Icon name="key-round" />
              <span>
                <b dir="auto">{key.name}</b>
                <small>{key.scopes.map(scope => words.scopes[scope][0]).join(lists.comma)}</small>
                <small title={fullTime(key.lastUsedAt)}>{usedWords(key)}</small>
              </span>
              <button class="txt danger-t" type="button" aria-label={`${words.revoke} ${key.name}`} onClick={() => setSheet(key)}>
                {words.revoke}
              </button>
            </li>
          ))}
        </ul>
      )}
      <Button look="primary" icon="plus" isWide onClick={() => setSheet('new')}>
        {words.newKey}
      </Button>
      {sheet === 'new' && <NewKeySheet onMade={again} onClose={close} />}
      {typeof sheet === 'object' && <RevokeSheet accessKey={sheet} onDone={again} onClose={close} />}
    </>
  )
}

function usedWords({ createdAt, lastUsedAt, lastUsedFrom, expiresAt }: AccessKey): string {
  const used = lastUsedAt <= createdAt ? words.neverUsed : words.used(agoInWords(lastUsedAt, now.value), networkName(lastUsedFrom) ?? '')
  return expiresAt === null ? used : used + lists.comma + words.endsOn(date(expiresAt))
}

function NewKeySheet({ onMade, onClose }: { onMade(): void; onClose(): void }) {
  const [name, setName] = useState('')
  const [chosen, choose] = useState<readonly Scope[]>(['read'])
  const [ending, setEnding] = useState<Ending>('year')
  const [made, setMade] = useState<string>()
  const [hasFailed, setFailed] = useState(false)
  const { isBusy, run } = useBusy()
  const make = (event: Event) => {
    event.preventDefault()
    void run(async () => {
      setFailed(false)
      const lasts = lastsMs[ending]
      const draft = { name: name.trim(), scopes: chosen, expiresAt: lasts === undefined ? undefined : trueNow() + lasts }
      try {
        const link = live.peek()
        if (!link) return setFailed(true)
        setMade(await createAccessKey(link, draft))
        onMade()
      } catch {
        setFailed(true)
      }
    })
  }
  if (made !== undefined) {
    return (
      <Sheet title={words.keyReady} onClose={onClose}>
        <p class="lead">{words.keyOnce}</p>
        <code class="path-t token">{made}</code>
        <Button look="primary" isLarge isWide icon="copy" onClick={() => void copySecret(made)}>
          {words.copyKey}
        </Button>
      </Sheet>
    )
  }
  return (
    <Sheet title={words.newKey} onClose={onClose}>
      <form class="form" onSubmit={make}>
        <Field label={words.keyName} hint={words.keyNameHint} value={name} onInput={setName} maxLength={100} />
        <fieldset class="opts">
          <legend>{words.may}</legend>
          {scopes.map(scope => (
            <label key={scope} class={`opt ${scope === 'manage' ? 'warn' : ''}`}>
              <input
                type="checkbox"
                checked={chosen.includes(scope)}
                onChange={({ currentTarget }) =>
                  choose(scopes.filter(each => (each === scope ? currentTarget.checked : chosen.includes(each))))
                }
              />
              <span>
                <b>{words.scopes[scope][0]}</b>
                <small>{words.scopes[scope][1]}</small>
              </span>
              {scope === 'manage' && <Icon name="triangle-alert" />}
            </label>
          ))}
        </fieldset>
        <fieldset class="picks">
          <legend>{words.ends}</legend>
          {endings.map(each => (
            <label key={each} class="pick">
              <input type="radio" name="ending" checked={each === ending} onChange={() => setEnding(each)} />
              <span>{words.endings[each]}</span>
            </label>
          ))}
        </fieldset>
        {hasFailed && <Problem title={words.notDone} text={words.failedText} />}
        <Button
          look="primary"
          type="submit"
          isLarge
          isWide
          isOff={name.trim() === '' || chosen.length === 0}
          busy={isBusy && words.makingKey}
        >
          {words.newKey}
        </Button>
      </form>
    </Sheet>
  )
}

function RevokeSheet({ accessKey, onDone, onClose }: { accessKey: AccessKey; onDone(): void; onClose(): void }) {
  const [hasFailed, setFailed] = useState(false)
  const { isBusy, run } = useBusy()
  const revoke = () =>
    run(async () => {
      try {
        const link = live.peek()
        if (!link) return setFailed(true)
        await revokeAccessKey(link, accessKey)
        onDone()
        closeLayer()
      } catch {
        setFailed(true)
      }
    })
  return (
    <Sheet title={words.revokeTitle(accessKey.name)} onClose={onClose}>
      <p class="lead">{words.revokeText}</p>
      {hasFailed && <Problem title={words.notDone} text={words.failedText} />}
      <Button look="danger" isLarge isWide onClick={() => void revoke()} busy={isBusy && words.revoking}>
        {words.revoke}
      </Button>
    </Sheet>
  )
}
