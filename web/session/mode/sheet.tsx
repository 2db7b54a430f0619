import { useId, useState } from 'preact/hooks'
import type { AgentSetting, Choice, UsageWindow } from '../../../lib/protocol/sealed/session.ts'
import { now } from '../../core/clock.ts'
import { type AskedChoice, type AskedChoices, type ChoiceName, settingName } from '../../model/session/choices.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { openWindows } from '../../model/session/free-agents.ts'
import { closeLayer } from '../../ui/behavior/layers.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { visible } from '../../ui/visible-text.ts'
import { compose } from '../../words/compose.ts'
import { decide } from '../../words/decide.ts'
import { locale } from '../../words/language.ts'
import { session as words } from '../../words/session.ts'
import { clockTime } from '../../words/time.ts'
import { modeName, standing } from './button.tsx'
import { LockRefused, useStepUp } from './step-up.tsx'

/** The agent's modes with their meanings, and its model and effort. The mode that never asks is confirmed again. */
export function ModeSheet(props: {
  facts: SessionFacts
  asked: AskedChoices
  onChoose(name: ChoiceName, code: string): void
  onClose(): void
}) {
  const { facts, asked, onChoose } = props
  return (
    <Sheet title={words.modeTitle(facts.agentShort)} onClose={props.onClose}>
      {facts.modes.length > 1 && <Modes facts={facts} asked={asked.mode} onChoose={code => onChoose('mode', code)} />}
      <Segments
        name={compose.model}
        choices={facts.models}
        chosen={standing(asked.model, facts.model)}
        asked={asked.model}
        facts={facts}
        onChoose={code => onChoose('model', code)}
      />
      <Segments
        name={compose.effort}
        choices={facts.efforts}
        chosen={standing(asked.effort, facts.effort)}
        asked={asked.effort}
        facts={facts}
        onChoose={code => onChoose('effort', code)}
      />
      {facts.settings.map(setting => (
        <Segments
          key={setting.id}
          name={visible(setting.name)}
          about={setting.description ?? undefined}
          choices={choicesOf(setting)}
          chosen={standing(asked[settingName(setting.id)], setting.current)}
          asked={asked[settingName(setting.id)]}
          facts={facts}
          onChoose={code => onChoose(settingName(setting.id), code)}
        />
      ))}
      {facts.methods?.includes('setUnanswered') && (
        <Segments
          name={decide.unanswered.name}
          about={decide.unanswered.about}
          choices={[
            { code: 'null', value: decide.unanswered.wait },
            ...[2, 5, 15].map(minutes => ({ code: `${minutes}`, value: decide.unanswered.after(minutes) }))
          ]}
          chosen={standing(asked.unanswered, facts.unanswered)}
          asked={asked.unanswered}
          facts={facts}
          isAtOnce
          onChoose={code => onChoose('unanswered', code)}
        />
      )}
      <Usage windows={openWindows(facts.windows, now.value)} />
    </Sheet>
  )
}

/** Switches are labelled in our words. */
function choicesOf({ isSwitch, choices }: AgentSetting): readonly Choice[] {
  if (!isSwitch) return choices
  return choices.map(choice => ({ ...choice, value: choice.code === 'true' ? compose.on : compose.off }))
}

/** As last reported by the agent; if it reports nothing, nothing is shown. */
function Usage({ windows }: { windows: readonly UsageWindow[] }) {
  if (windows.length === 0) return null
  const share = new Intl.NumberFormat(locale(), { style: 'percent' })
  return (
    <fieldset class="segs">
      <legend>{compose.usage}</legend>
      <dl class="facts">
        {windows.map(({ minutes, of, usedPercent, resetsAt }) => (
          <div key={`${minutes} ${of}`}>
            <dt>{compose.window(lengthOf(minutes), of)}</dt>
            <dd>
              {compose.used(
                usedPercent === undefined ? undefined : share.format(usedPercent / 100),
                resetsAt === undefined ? undefined : clockTime(resetsAt, now.value)
              )}
            </dd>
          </div>
        ))}
      </dl>
    </fieldset>
  )
}

function lengthOf(minutes: number): string {
  return minutes >= 24 * 60 ? compose.days(Math.round(minutes / 1440)) : compose.hours(Math.round(minutes / 60))
}

function Modes({ facts, asked, onChoose }: { facts: SessionFacts; asked: AskedChoice | undefined; onChoose(code: string): void }) {
  const [isSure, setSure] = useState<string>()
  const { isRefused, surely } = useStepUp()
  const name = useId()
  const now = standing(asked, facts.mode)
  const choose = (mode: Choice) => {
    if (mode.code === now) return
    if (modeName(mode).isAuto) setSure(mode.code)
    else {
      onChoose(mode.code)
      closeLayer()
    }
  }
  return (
    <>
      <fieldset class="opts">
        <legend>{words.modeLegend}</legend>
        {facts.modes.map(mode => {
          const wording = modeName(mode)
          return (
            <label key={mode.code} class={`opt ${wording.isAuto ? 'warn' : ''}`}>
              <input type="radio" name={name} checked={(isSure ?? now) === mode.code} onChange={() => choose(mode)} />
              <span dir="auto">
                <b>{wording.name}</b>
                {wording.about !== '' && <small>{wording.about}</small>}
              </span>
              {wording.isAuto && <Icon name="triangle-alert" />}
            </label>
          )
        })}
      </fieldset>
      {isSure !== undefined && (
        <div class="sure" role="alert">
          <p>
            <b>{words.fullAutoTitle}</b> {words.fullAutoHint}
          </p>
          <div class="acts two">
            <button class="btn quiet" type="button" onClick={() => setSure(undefined)}>
              {words.cancel}
            </button>
            <button
              class="btn danger"
              type="button"
              onClick={() =>
                void surely(() => {
                  onChoose(isSure)
                  closeLayer()
                })
              }
            >
              {words.fullAutoYes}
            </button>
          </div>
          {isRefused && <LockRefused />}
        </div>
      )}
    </>
  )
}

/** A few options side by side, many in a list; descriptions are shown below. */
function Segments(props: {
  name: string
  about?: string | undefined
  choices: readonly Choice[]
  chosen: string | undefined
  asked: AskedChoice | undefined
  facts: SessionFacts
  /** It applies to the running turn as well. */
  isAtOnce?: boolean
  onChoose(code: string): void
}) {
  const { choices, chosen, asked } = props
  const name = useId()
  if (choices.length < 2) return null
  const about = choices.find(({ code }) => code === chosen)?.description ?? props.about ?? ''
  const isLong = choices.length > 4 || choices.some(({ value }) => value.length > longestSegment)
  return (
    <fieldset class="segs">
      <legend>{props.name}</legend>
      <div class={`scopes ${isLong ? 'many' : ''}`}>
        {choices.map(({ code, value }) => (
          <label key={code} class="sc">
            <input type="radio" name={name} checked={code === chosen} onChange={() => props.onChoose(code)} />
            <span dir="auto">{visible(value)}</span>
          </label>
        ))}
      </div>
      <p class={`hint ${asked?.state === 'failed' ? 'bad' : ''}`} role="status" dir="auto">
        {whenItHolds(asked, props)} {about !== '' && visible(about)}
      </p>
    </fieldset>
  )
}

function whenItHolds(asked: AskedChoice | undefined, { facts, isAtOnce }: { facts: SessionFacts; isAtOnce?: boolean }): string {
  if (asked?.state === 'failed') return compose.notChanged(facts.host)
  if (asked?.state === 'asking') return compose.applying
  if (asked?.state === 'rides') return compose.rides
  return isAtOnce ? '' : compose.fromNext
}

const longestSegment = 14
