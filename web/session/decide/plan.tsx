import { useId, useRef, useState } from 'preact/hooks'
import type { PermissionChoice } from '../../../lib/protocol/sealed/session.ts'
import { type Verdict, verdictsOf } from '../../model/decisions/answers.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { useInert } from '../../ui/behavior/inert.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { decide as words } from '../../words/decide.ts'
import { session } from '../../words/session.ts'
import { modeName } from '../mode/button.tsx'
import { HoldButton } from '../mode/hold.tsx'
import { LockRefused, useStepUp } from '../mode/step-up.tsx'
import { type Answerable, failureWords } from './answer-state.tsx'

/** A plan is approved in a mode, or returned with requested changes. */
export function PlanButtons(props: Answerable) {
  const { request, facts, isCurrent } = props
  const ways = waysOf(request.choices, facts)
  const [chosen, choose] = useState(() => (ways.find(way => way.isAsk) ?? ways.find(way => !way.isAuto))?.key)
  const [isChanging, setChanging] = useState(false)
  const isInert = useInert(`${request.id} ${request.shown ?? ''} ${isChanging}`)
  const name = useId()
  const way = ways.find(each => each.key === chosen)
  const start = () => {
    if (!isInert && isCurrent && way !== undefined) props.onAnswer(way.verdict)
  }
  // Unlocking takes time: the state afterwards counts, and only for the plan that was on screen.
  const latest = useRef({ shown: request.shown, key: way?.key, start })
  latest.current = { shown: request.shown, key: way?.key, start }
  const { isRefused, surely } = useStepUp()
  const startSurely = () =>
    surely(() => {
      const now = latest.current
      if (now.shown === request.shown && now.key === way?.key) now.start()
    })
  if (isChanging) return <ChangeForm {...props} isInert={isInert} onBack={() => setChanging(false)} />
  return (
    <footer class="dock-f">
      <Effect plan={planOf(request.arguments)} />
      {ways.length > 1 && (
        <fieldset class="rule-end">
          <legend>{words.planAfter}</legend>
          <div class="scopes">
            {ways.map(({ key, title }) => (
              <label key={key} class="sc">
                <input type="radio" name={name} checked={chosen === key} onChange={() => choose(key)} />
                <span>{title}</span>
              </label>
            ))}
          </div>
        </fieldset>
      )}
      {way !== undefined && way.about !== '' && <p class="hint">{way.about}</p>}
      {props.mine?.life.type === 'failed' && <p class="problem">{failureWords(props.mine.life, facts)}</p>}
      <div class="acts two">
        <button class="btn quiet lg" type="button" disabled={!isCurrent} onClick={() => !isInert && setChanging(true)}>
          {words.planChange}
        </button>
        {way?.isAuto === true ? (
          <HoldButton
            key={way.key}
            label={words.planHold}
            tapLabel={words.planTap}
            confirmLabel={words.planConfirm}
            busy={isCurrent ? false : session.stillOpen}
            onConfirm={() => void startSurely()}
            isDanger
          />
        ) : (
          <button class="btn primary lg" type="button" disabled={!isCurrent || way === undefined} onClick={start}>
            {words.planStart}
          </button>
        )}
      </div>
      {isRefused && <LockRefused />}
      <p class="dock-s">{isCurrent ? session.nothingRuns : session.stillOpen}</p>
    </footer>
  )
}

function ChangeForm(props: Answerable & { isInert: boolean; onBack(): void }) {
  const { request, facts, isCurrent, isInert } = props
  const [text, setText] = useState('')
  const { deny } = verdictsOf(request, facts.id)
  return (
    <footer class="dock-f deny">
      <textarea
        class="deny-t"
        rows={3}
        dir="auto"
        value={text}
        placeholder={words.planChangeLabel}
        aria-label={words.planChangeLabel}
        onInput={event => setText(event.currentTarget.value)}
      />
      <div class="acts two">
        <Button look="quiet" isLarge onClick={props.onBack}>
          {words.planBack}
        </Button>
        <Button
          look="primary"
          isLarge
          isOff={!isCurrent || text.trim() === ''}
          onClick={() => !isInert && props.onAnswer({ ...deny, reason: text.trim() })}
        >
          {words.planSend}
        </Button>
      </div>
    </footer>
  )
}

/** Only facts that the plan itself shows. */
function Effect({ plan }: { plan: string }) {
  const files = new Set(plan.match(/(?<=[\s`(])[\w./-]*\w\.[a-z]{1,5}(?=[\s`),;:]|\.\s|$)/g) ?? [])
  if (files.size === 0) return null
  const isNetwork = /\bhttps?:|\b(download|fetch|install|deploy|publish|upload|push)/i.test(plan)
  return (
    <p class="scope">
      <Icon name="file-diff" />
      <span>
        {words.planEffect(files.size)} {isNetwork ? words.planNetwork.yes : words.planNetwork.no}
      </span>
    </p>
  )
}

interface Way {
  readonly key: string
  readonly title: string
  readonly about: string
  readonly isAsk: boolean
  readonly isAuto: boolean
  readonly verdict: Verdict
}

/** The agent's own ways to continue if it offers several; otherwise its modes. */
function waysOf(choices: readonly PermissionChoice[] = [], facts: SessionFacts): Way[] {
  const allowing = choices.filter(({ kind }) => kind.startsWith('allow'))
  const [first] = allowing
  if (allowing.length > 1) {
    return allowing.map(choice => wayTo(choice.id, choice.label, { kind: choice.kind === 'allow_once' ? 'once' : 'session', choice }))
  }
  const verdict: Verdict = { kind: first?.kind === 'allow_always' ? 'session' : 'once', ...(first && { choice: first }) }
  const modes = facts.modes.filter(({ code }) => !/^(plan|read-?only)$/i.test(code))
  if (modes.length === 0) return [{ key: '', title: words.planStart, about: '', isAsk: true, isAuto: false, verdict }]
  return modes.map(({ code, value }) => wayTo(code, value, { ...verdict, mode: code }))
}

function wayTo(code: string, value: string, verdict: Verdict): Way {
  const { name, about, isAuto } = modeName({ code: modeIn(code), value })
  // A choice worded only by its agent may be the one that never asks.
  const isBypass = isAuto || /bypass|never ask|without asking|skip permission/i.test(value)
  return { key: code, title: name, about, isAuto: isBypass, isAsk: name === session.modes.ask[0], verdict }
}

/** Claude Code's adapter names its choices after the modes they lead to. */
function modeIn(code: string): string {
  return code.replace(/^exit-plan-/, '')
}

function planOf(args: unknown): string {
  return typeof args === 'object' && args !== null && 'plan' in args && typeof args.plan === 'string' ? args.plan : ''
}
