import { useId, useState } from 'preact/hooks'
import type { Choice } from '../../lib/protocol/sealed/session.ts'
import { Icon } from '../icons/icon.tsx'
import type { SessionFacts } from '../state/session-facts.ts'
import { session as words } from '../words/session.ts'
import { Sheet } from './sheet.tsx'
import { visible } from './visible.ts'

interface Asking {
  readonly code: string
  readonly state: 'asking' | 'failed'
}

/** The mode the agent is in, as a way to the others. Not there when the agent tells no modes. */
export function ModeButton({ facts, asking, onOpen }: { facts: SessionFacts; asking: Asking | undefined; onOpen(): void }) {
  if (!hasModes(facts)) return null
  const current = facts.modes.find(mode => mode.code === (asking?.state === 'asking' ? asking.code : facts.mode))
  return (
    <>
      <button class={`pill ${asking?.state === 'asking' ? 'busy' : ''}`} type="button" aria-haspopup="dialog" onClick={onOpen}>
        <Icon name="shield-check" />
        {current === undefined ? words.mode : nameOf(current).name}
        <Icon name="chevron-down" class="chev" />
      </button>
      {asking?.state === 'failed' && (
        <span class="pill bad" role="alert">
          {words.modeFailed(facts.host)}
        </span>
      )}
    </>
  )
}

export function hasModes(facts: SessionFacts): boolean {
  return facts.modes.length > 1 && facts.presence === 'here'
}

/** The agent's modes with what each means. The one that never asks is confirmed once more. */
export function ModeSheet({ facts, onChoose, onClose }: { facts: SessionFacts; onChoose(code: string): void; onClose(): void }) {
  const [isSure, setSure] = useState<string>()
  const name = useId()
  const choose = (mode: Choice) => {
    if (mode.code === facts.mode) return
    if (nameOf(mode).isAuto) setSure(mode.code)
    else {
      onChoose(mode.code)
      history.back()
    }
  }
  return (
    <Sheet title={words.modeTitle(facts.agentShort)} onClose={onClose}>
      <fieldset class="opts">
        <legend>{words.modeLegend}</legend>
        {facts.modes.map(mode => {
          const told = nameOf(mode)
          return (
            <label key={mode.code} class={`opt ${told.isAuto ? 'warn' : ''}`}>
              <input type="radio" name={name} checked={(isSure ?? facts.mode) === mode.code} onChange={() => choose(mode)} />
              <span dir="auto">
                <b>{told.name}</b>
                {told.about !== '' && <small>{told.about}</small>}
              </span>
              {told.isAuto && <Icon name="triangle-alert" />}
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
              onClick={() => {
                onChoose(isSure)
                history.back()
              }}
            >
              {words.fullAutoYes}
            </button>
          </div>
        </div>
      )}
    </Sheet>
  )
}

/** Afield's word for a mode of an agent where there is one, else the agent's own. */
function nameOf(mode: Choice): { name: string; about: string; isAuto: boolean } {
  const known = knownModes[mode.code.toLowerCase().replaceAll(/[-_]/g, '')]
  const isAuto = known === 'auto'
  if (known === undefined) return { name: visible(mode.value), about: visible(mode.description ?? ''), isAuto }
  const [name, about] = words.modes[known]
  return { name, about, isAuto }
}

const knownModes: Readonly<Record<string, keyof typeof words.modes>> = {
  default: 'ask',
  ask: 'ask',
  manual: 'ask',
  normal: 'ask',
  acceptedits: 'edit',
  autoedit: 'edit',
  plan: 'plan',
  readonly: 'plan',
  bypasspermissions: 'auto',
  yolo: 'auto',
  fullaccess: 'auto',
  dangerfullaccess: 'auto',
  agentfullaccess: 'auto'
}
